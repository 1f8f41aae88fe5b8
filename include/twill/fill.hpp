#pragma once

#include <cstddef>
#include <type_traits>

#include <twill/export.hpp>
#include <twill/extent.hpp>
#include <twill/stream.hpp>

namespace twill {

/// Sets `bytes` bytes of device memory to `value`: the device's own memset.
///
/// Shape: 3 bytes of 7 are [7, 7, 7]. `bytes` may be 0.
/// Units: `bytes` bytes are written.
/// Memory: device memory of the stream's device (host memory on "cpu" and "simt"), of any alignment.
/// Order: asynchronous in `stream`; no synchronisation, no allocation. May be called from several threads, on different
///   streams, and captured in a graph.
/// Throws: invalid_argument.
TWILL_API void fill_bytes(stream_ref stream, void* out, unsigned char value, std::size_t bytes);

/// `fill` for elements known by their size alone: any number of bytes from 1 to 64, read at `value` in host memory.
/// Memory: `out` needs no alignment beyond 1 byte.
TWILL_API void fill_bytes(stream_ref stream, void* out, const void* value, extent element_bytes, extent count);

/// out[i] = value.
///
/// Shape: 3 elements of 1.5 are [1.5, 1.5, 1.5]. `count` may be 0.
/// Units: count * sizeof(T) bytes are written.
/// Memory: device memory of the stream's device (host memory on "cpu" and "simt"), aligned to T. `value` is read before
///   the call returns.
/// Order: asynchronous in `stream`; no synchronisation, no allocation; one launch, or the device's memset where all
///   bytes of the value are equal. May be called from several threads, on different streams, and captured in a graph,
///   which keeps the value.
/// Throws: invalid_argument, before anything is launched; launch_failed.
template <class T>
void fill(stream_ref stream, T* out, const std::common_type_t<T>& value, extent count) {
  static_assert(std::is_trivially_copyable<T>::value && sizeof(T) <= 64, "elements of up to 64 bytes, moved as bytes");
  detail::require_aligned("fill", out, alignof(T), "out");
  fill_bytes(stream, out, static_cast<const void*>(&value), sizeof(T), count);
}

}  // namespace twill
