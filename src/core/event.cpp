#include <twill/event.hpp>

#include <string>
#include <utility>

#include "backends/error.hpp"
#include "core/call.hpp"

namespace twill {
namespace {

void require_one_device(const device& event, const device& other, const char* whose) {
  if (event == other) return;
  detail::fail(errc::invalid_argument, std::string(whose) + " belongs to another device",
               other.properties().name + ", the event to " + event.properties().name, "use those of one device");
}

}  // namespace

event::event(const device& on)
    : device_(on), native_(detail::in_call("event", [&] { return on.impl()->create_event(); })) {}

event::~event() {
  reset();
}

event::event(event&& other) noexcept
    : device_(std::exchange(other.device_, device())),
      native_(std::exchange(other.native_, nullptr)),
      recorded_(std::exchange(other.recorded_, false)) {}

event& event::operator=(event&& other) noexcept {
  if (this != &other) {
    reset();
    device_ = std::exchange(other.device_, device());
    native_ = std::exchange(other.native_, nullptr);
    recorded_ = std::exchange(other.recorded_, false);
  }
  return *this;
}

void event::reset() noexcept {
  if (native_ != nullptr) device_.impl()->destroy_event(std::exchange(native_, nullptr));
}

void event::record(stream_ref stream) {
  detail::in_call("event::record", [&] {
    if (native_ == nullptr) detail::fail_empty("the event");
    auto& device = detail::device_of(stream);
    require_one_device(device_, stream.on(), "the stream");
    device.record_event(native_, stream.native());
    recorded_ = true;
  });
}

void event::wait() const {
  detail::in_call("event::wait", [&] {
    if (native_ == nullptr) detail::fail_empty("the event");
    device_.impl()->wait_event(native_);
  });
}

std::chrono::duration<double> event::elapsed(const event& start) const {
  return detail::in_call("event::elapsed", [&] {
    if (native_ == nullptr) detail::fail_empty("the event");
    if (start.native_ == nullptr) detail::fail_empty("the start event");
    detail::require(recorded_ && start.recorded_, "no time between the events", "one was never recorded",
                    "record both in a stream first");
    require_one_device(device_, start.device_, "the start event");
    device_.impl()->wait_event(native_);
    return std::chrono::duration<double>(device_.impl()->seconds_between(start.native_, native_));
  });
}

}  // namespace twill
