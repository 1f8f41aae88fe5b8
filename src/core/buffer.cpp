#include <twill/buffer.hpp>

#include <limits>
#include <string>

#include "backends/error.hpp"
#include "core/call.hpp"

namespace twill {

raw_buffer::raw_buffer(const device& on, std::size_t bytes)
    : device_(on),
      data_(detail::in_call("buffer", [&] { return bytes == 0 ? (on.impl(), nullptr) : on.impl()->allocate(bytes); })),
      bytes_(bytes) {}

raw_buffer::~raw_buffer() {
  reset();
}

raw_buffer::raw_buffer(raw_buffer&& other) noexcept
    : device_(std::exchange(other.device_, device())),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

raw_buffer& raw_buffer::operator=(raw_buffer&& other) noexcept {
  if (this != &other) {
    reset();
    device_ = std::exchange(other.device_, device());
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

void raw_buffer::reset() noexcept {
  if (data_ != nullptr) device_.impl()->release(std::exchange(data_, nullptr));
}

namespace detail {

std::size_t array_bytes(std::size_t count, std::size_t bytes_each) {
  if (bytes_each != 0 && count > std::numeric_limits<std::size_t>::max() / bytes_each) {
    fail(errc::out_of_memory, "buffer: " + std::to_string(count) + " elements are too many",
         std::to_string(bytes_each) + " bytes each overflow the address space", "ask for less");
  }
  return count * bytes_each;
}

void require_same_count(const char* operation, std::size_t host, std::size_t device) {
  if (host == device) return;
  fail(errc::invalid_argument, std::string(operation) + ": host array and buffer differ in size",
       std::to_string(host) + " and " + std::to_string(device) + " elements", "make them equal");
}

void require_part(const char* operation, std::size_t count, std::size_t offset, std::size_t size) {
  if (offset <= size && count <= size - offset) return;
  fail(errc::invalid_argument, std::string(operation) + ": the part leaves the buffer",
       std::to_string(count) + " elements from " + std::to_string(offset) + " on, of " + std::to_string(size),
       "ask for less");
}

void require_same_device(const char* operation, const device& owner, stream_ref stream) {
  in_call(operation, [&] {
    if (!owner.is_open()) fail_empty("the buffer");
    device_of(stream);
    if (owner == stream.on()) return;
    fail(errc::invalid_argument, "buffer and stream belong to different devices",
         owner.properties().name + " and " + stream.on().properties().name, "use a stream of the buffer's device");
  });
}

}  // namespace detail
}  // namespace twill
