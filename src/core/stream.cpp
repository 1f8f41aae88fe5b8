#include <twill/event.hpp>
#include <twill/stream.hpp>

#include <string>
#include <utility>

#include "backends/error.hpp"
#include "core/call.hpp"

namespace twill {

void stream_ref::wait() const {
  detail::in_call("stream::wait", [&] { detail::device_of(*this).wait_stream(native_); });
}

void stream_ref::wait(const event& until) const {
  detail::in_call("stream::wait", [&] {
    auto& device = detail::device_of(*this);
    if (until.native_ == nullptr) detail::fail_empty("the event");
    const auto &here = device.properties(), &there = until.device_.properties();
    if (here.backend != there.backend) {
      detail::fail(errc::invalid_argument, "the event belongs to another backend",
                   here.name + ", the event to " + there.name, "wait for the event on the host instead");
    }
    device.hold_stream(native_, until.native_);
  });
}

stream::stream(const device& on)
    : ref_(detail::in_call("stream", [&] { return stream_ref(on, on.impl()->create_stream()); })) {}

stream::~stream() {
  reset();
}

stream::stream(stream&& other) noexcept : ref_(std::exchange(other.ref_, stream_ref())) {}

stream& stream::operator=(stream&& other) noexcept {
  if (this != &other) {
    reset();
    ref_ = std::exchange(other.ref_, stream_ref());
  }
  return *this;
}

void stream::reset() noexcept {
  const stream_ref mine = std::exchange(ref_, stream_ref());
  if (mine.on().is_open()) mine.on().impl()->destroy_stream(mine.native());
}

}  // namespace twill
