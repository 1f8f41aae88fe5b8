#include <twill/event.hpp>

#include <utility>

#include "backends/backend.hpp"
#include "backends/error.hpp"

namespace twill {

event::event(const device& on) : device_(on), native_(on.impl()->create_event()) {}

event::~event() {
  reset();
}

event::event(event&& other) noexcept
    : device_(other.device_), native_(std::exchange(other.native_, nullptr)), recorded_(other.recorded_) {}

event& event::operator=(event&& other) noexcept {
  if (this != &other) {
    reset();
    device_ = other.device_;
    native_ = std::exchange(other.native_, nullptr);
    recorded_ = other.recorded_;
  }
  return *this;
}

void event::reset() noexcept {
  if (native_ != nullptr) device_.impl()->destroy_event(std::exchange(native_, nullptr));
}

// A device may be open several times: borrowed streams open theirs anew.
void event::record(stream_ref stream) {
  detail::require(stream.on().properties().name == device_.properties().name,
                  "event recorded in a stream of another device",
                  stream.on().properties().name + ", made for " + device_.properties().name,
                  "make the event on the stream's device");
  device_.impl()->record_event(native_, stream.native());
  recorded_ = true;
}

void event::hold(stream_ref stream) const {
  detail::require(stream.on().properties().backend == device_.properties().backend,
                  "event held by a stream of another backend",
                  stream.on().properties().name + ", made for " + device_.properties().name,
                  "wait for the event on the host instead");
  device_.impl()->hold_stream(stream.native(), native_);
}

void event::wait() const {
  device_.impl()->wait_event(native_);
}

std::chrono::duration<double> event::since(const event& start) const {
  detail::require(recorded_ && start.recorded_, "no time between events", "one was never recorded",
                  "record both in a stream first");
  detail::require(start.device_.properties().name == device_.properties().name, "no time between events",
                  "made for " + start.device_.properties().name + " and " + device_.properties().name,
                  "make both on one device");
  wait();
  return std::chrono::duration<double>(device_.impl()->seconds_between(start.native_, native_));
}

}  // namespace twill
