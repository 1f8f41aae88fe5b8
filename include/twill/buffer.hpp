#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <twill/copy.hpp>
#include <twill/export.hpp>
#include <twill/fill.hpp>
#include <twill/scratch.hpp>
#include <twill/stream.hpp>

namespace twill {

/// Untyped device memory, at least 256-byte aligned. It is freed with the object, for which a GPU's driver may wait
/// until the device is idle. What `buffer<T>` is made of, and the owner of scratch memory.
/// An object without memory (default-constructed or moved from) has size 0, null data and an empty device.
class TWILL_API raw_buffer {
 public:
  raw_buffer() noexcept = default;
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
  operator scratch_ref() const noexcept { return {data_, bytes_}; }

 private:
  void reset() noexcept;
  device device_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

namespace detail {
/// count * bytes_each, or a throw: out_of_memory when it does not fit 64 bits.
TWILL_API std::size_t array_bytes(std::size_t count, std::size_t bytes_each);
/// Throws invalid_argument when a host array of `host` elements meets a buffer of `device` elements.
TWILL_API void require_same_count(const char* operation, std::size_t host, std::size_t device);
/// Throws invalid_argument when `count` elements from `offset` on leave a buffer of `size`.
TWILL_API void require_part(const char* operation, std::size_t count, std::size_t offset, std::size_t size);
/// Throws invalid_argument when the memory of `owner` cannot be reached in `stream`, or `owner` is empty.
TWILL_API void require_same_device(const char* operation, const device& owner, stream_ref stream);
}  // namespace detail

/// An array of `T` in device memory, uninitialised, at least 256-byte aligned.
/// An object without memory (default-constructed or moved from) has size 0 and null data; its transfers throw
/// invalid_argument.
template <class T>
class buffer {
  static_assert(std::is_trivially_copyable<T>::value, "device memory holds trivially copyable types");

 public:
  buffer() noexcept = default;
  /// Throws: out_of_memory.
  buffer(const device& on, std::size_t count) : raw_(on, detail::array_bytes(count, sizeof(T))) {}

  T* data() noexcept { return static_cast<T*>(raw_.data()); }
  const T* data() const noexcept { return static_cast<const T*>(raw_.data()); }
  std::size_t size() const noexcept { return raw_.size_bytes() / sizeof(T); }
  std::size_t size_bytes() const noexcept { return raw_.size_bytes(); }
  const device& on() const noexcept { return raw_.on(); }
  operator scratch_ref() const noexcept { return raw_; }

  /// Copies `count` elements at `host`, which must stay valid until `stream.wait()`, to the elements from `offset` on.
  /// Throws: invalid_argument when the part is not one of the buffer or `stream` belongs to another device.
  void upload(const T* host, std::size_t count, std::size_t offset, stream_ref stream) {
    detail::require_same_device("upload", on(), stream);
    detail::require_part("upload", count, offset, size());
    upload_bytes(stream, host, data() + offset, count * sizeof(T));
  }
  /// Fills the buffer from `size()` elements at `host`.
  void upload(const T* host, stream_ref stream) { upload(host, size(), 0, stream); }
  /// Throws: invalid_argument when the sizes differ.
  void upload(const std::vector<T>& host, stream_ref stream) {
    detail::require_same_count("upload", host.size(), size());
    upload(host.data(), stream);
  }

  /// Copies `count` elements from `offset` on to `host`; they are there after `stream.wait()`.
  /// Throws: invalid_argument when the part is not one of the buffer or `stream` belongs to another device.
  void download(T* host, std::size_t count, std::size_t offset, stream_ref stream) const {
    detail::require_same_device("download", on(), stream);
    detail::require_part("download", count, offset, size());
    download_bytes(stream, data() + offset, host, count * sizeof(T));
  }
  /// Copies the buffer to `size()` elements at `host`.
  void download(T* host, stream_ref stream) const { download(host, size(), 0, stream); }
  /// Throws: invalid_argument when the sizes differ.
  void download(std::vector<T>& host, stream_ref stream) const {
    detail::require_same_count("download", host.size(), size());
    download(host.data(), stream);
  }

 private:
  raw_buffer raw_;
};

}  // namespace twill
