#include <twill/stream.hpp>

#include <utility>

#include "backends/backend.hpp"

namespace twill {

void stream_ref::wait() const {
  device_.impl()->wait_stream(native_);
}

stream::stream(const device& on) : ref_(on, on.impl()->create_stream()) {}

stream::~stream() {
  reset();
}

stream::stream(stream&& other) noexcept : ref_(other.ref_), owned_(std::exchange(other.owned_, false)) {}

stream& stream::operator=(stream&& other) noexcept {
  if (this != &other) {
    reset();
    ref_ = other.ref_;
    owned_ = std::exchange(other.owned_, false);
  }
  return *this;
}

void stream::reset() noexcept {
  if (std::exchange(owned_, false)) ref_.on().impl()->destroy_stream(ref_.native());
}

}  // namespace twill
