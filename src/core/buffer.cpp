#include <twill/buffer.hpp>

#include <limits>
#include <string>

#include "backends/backend.hpp"
#include "backends/error.hpp"
#include "core/arguments.hpp"

namespace twill {

raw_buffer::raw_buffer(const device& on, std::size_t bytes)
    : device_(on), data_(bytes == 0 ? nullptr : on.impl()->allocate(bytes)), bytes_(bytes) {}

raw_buffer::~raw_buffer() {
  reset();
}

raw_buffer::raw_buffer(raw_buffer&& other) noexcept
    : device_(other.device_), data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

raw_buffer& raw_buffer::operator=(raw_buffer&& other) noexcept {
  if (this != &other) {
    reset();
    device_ = other.device_;
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

void raw_buffer::reset() noexcept {
  if (data_ != nullptr) device_.impl()->release(std::exchange(data_, nullptr));
}

namespace {

void copy(stream_ref stream, void* to, const void* from, std::size_t bytes, detail::copy_direction direction) {
  if (bytes == 0) return;
  detail::require_pointer(to, "the destination");
  detail::require_pointer(from, "the source");
  stream.on().impl()->copy(stream.native(), to, from, bytes, direction);
}

}  // namespace

void upload_bytes(stream_ref stream, void* to, const void* from, std::size_t bytes) {
  copy(stream, to, from, bytes, detail::copy_direction::host_to_device);
}

void download_bytes(stream_ref stream, void* to, const void* from, std::size_t bytes) {
  copy(stream, to, from, bytes, detail::copy_direction::device_to_host);
}

void copy_bytes(stream_ref stream, void* to, const void* from, std::size_t bytes) {
  const auto signed_bytes = static_cast<std::int64_t>(bytes);
  if (bytes == 0) return;
  detail::require_pointer(from, "the source");
  detail::require_pointer(to, "the destination");
  detail::require_disjoint(from, signed_bytes, to, signed_bytes);
  copy(stream, to, from, bytes, detail::copy_direction::device_to_device);
}

void fill_bytes(stream_ref stream, void* to, unsigned char value, std::size_t bytes) {
  if (bytes == 0) return;
  detail::require_pointer(to, "the destination");
  stream.on().impl()->fill(stream.native(), to, value, bytes);
}

namespace detail {

std::size_t array_bytes(std::size_t count, std::size_t bytes_each) {
  if (bytes_each != 0 && count > std::numeric_limits<std::size_t>::max() / bytes_each) {
    fail(errc::out_of_memory, "a buffer of " + std::to_string(count) + " elements",
         std::to_string(bytes_each) + " bytes each overflow the address space", "ask for less");
  }
  return count * bytes_each;
}

void require_same_count(std::size_t host, std::size_t device) {
  if (host == device) return;
  fail(errc::invalid_argument, "host array and buffer differ in size",
       std::to_string(host) + " and " + std::to_string(device) + " elements", "make them equal");
}

void require_same_device(const device& owner, stream_ref stream) {
  const auto &here = owner.properties().name, &there = stream.on().properties().name;
  if (here == there) return;
  fail(errc::invalid_argument, "buffer and stream belong to different devices", here + " and " + there,
       "use a stream of the buffer's device");
}

}  // namespace detail
}  // namespace twill
