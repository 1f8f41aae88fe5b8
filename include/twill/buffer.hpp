#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <twill/export.hpp>
#include <twill/stream.hpp>

namespace twill {

/// Untyped device memory, at least 256-byte aligned. It is freed with the object, for which a GPU's driver may wait
/// until the device is idle. What `buffer<T>` is made of.
class TWILL_API raw_buffer {
 public:
  /// Memory: uninitialised. A size of 0 holds no memory. Throws: out_of_memory.
  raw_buffer(const device& on, std::size_t bytes);
  ~raw_buffer();
  raw_buffer(raw_buffer&& other) noexcept;
  raw_buffer& operator=(raw_buffer&& other) noexcept;
  raw_buffer(const raw_buffer&) = delete;
  raw_buffer& operator=(const raw_buffer&) = delete;

  void* data() const noexcept { return data_; }
  std::size_t size_bytes() const noexcept { return bytes_; }
  const device& on() const noexcept { return device_; }

 private:
  void reset() noexcept;
  device device_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Copies `bytes` from host to device memory. Order: in `stream`; `from` must stay valid until `stream.wait()`.
/// Throws: invalid_argument (null pointer, negative size never reached: sizes are unsigned), device_fault.
TWILL_API void upload_bytes(stream_ref stream, void* to, const void* from, std::size_t bytes);
/// Copies `bytes` from device to host memory. Order: in `stream`; `to` holds the data after `stream.wait()`.
TWILL_API void download_bytes(stream_ref stream, void* to, const void* from, std::size_t bytes);
/// Copies `bytes` within the memory of the stream's device: the device's own memcpy. Ranges must not overlap.
TWILL_API void copy_bytes(stream_ref stream, void* to, const void* from, std::size_t bytes);
/// Sets `bytes` bytes of device memory to `value`. Order: in `stream`.
TWILL_API void fill_bytes(stream_ref stream, void* to, unsigned char value, std::size_t bytes);

namespace detail {
/// count * bytes_each, or a throw: out_of_memory when it does not fit 64 bits.
TWILL_API std::size_t array_bytes(std::size_t count, std::size_t bytes_each);
/// Throws invalid_argument when a host array of `host` elements meets a buffer of `device` elements.
TWILL_API void require_same_count(std::size_t host, std::size_t device);
/// Throws invalid_argument when the memory of `owner` cannot be reached in `stream`.
TWILL_API void require_same_device(const device& owner, stream_ref stream);
}  // namespace detail

/// An array of `T` in device memory, uninitialised, at least 256-byte aligned.
template <class T>
class buffer {
  static_assert(std::is_trivially_copyable<T>::value, "device memory holds trivially copyable types");

 public:
  /// Throws: out_of_memory.
  buffer(const device& on, std::size_t count) : raw_(on, detail::array_bytes(count, sizeof(T))), count_(count) {}

  T* data() noexcept { return static_cast<T*>(raw_.data()); }
  const T* data() const noexcept { return static_cast<const T*>(raw_.data()); }
  std::size_t size() const noexcept { return count_; }
  std::size_t size_bytes() const noexcept { return raw_.size_bytes(); }
  const device& on() const noexcept { return raw_.on(); }

  /// Fills the buffer from `size()` elements at `host`, which must stay valid until `stream.wait()`.
  /// Throws: invalid_argument when `stream` belongs to another device.
  void upload(const T* host, stream_ref stream) {
    detail::require_same_device(on(), stream);
    upload_bytes(stream, raw_.data(), host, raw_.size_bytes());
  }
  /// Throws: invalid_argument when the sizes differ.
  void upload(const std::vector<T>& host, stream_ref stream) {
    detail::require_same_count(host.size(), count_);
    upload(host.data(), stream);
  }
  /// Copies the buffer to `size()` elements at `host`; they are there after `stream.wait()`.
  /// Throws: invalid_argument when `stream` belongs to another device.
  void download(T* host, stream_ref stream) const {
    detail::require_same_device(on(), stream);
    download_bytes(stream, host, raw_.data(), raw_.size_bytes());
  }
  /// Throws: invalid_argument when the sizes differ.
  void download(std::vector<T>& host, stream_ref stream) const {
    detail::require_same_count(host.size(), count_);
    download(host.data(), stream);
  }

 private:
  raw_buffer raw_;
  std::size_t count_;
};

}  // namespace twill
