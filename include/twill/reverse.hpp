#pragma once

#include <cstdint>
#include <type_traits>

#include <twill/export.hpp>
#include <twill/extent.hpp>
#include <twill/stream.hpp>

namespace twill {

/// `reverse` and `reverse_in_place` for elements known by their size alone: any number of bytes from 1 to 64.
/// Memory: pointers need no alignment beyond 1 byte; the better aligned they are, the wider the accesses.
TWILL_API void reverse_bytes(stream_ref stream, const void* in, void* out, extent element_bytes, extent count);
TWILL_API void reverse_in_place_bytes(stream_ref stream, void* data, extent element_bytes, extent count);

/// out[i] = in[count - 1 - i], out of place.
///
/// Shape: [1, 2, 3] becomes [3, 2, 1]. `count` may be 0.
/// Units: 2 * count * sizeof(T) bytes are moved.
/// Memory: device memory of the stream's device (host memory on "cpu" and "simt"), aligned to T; `in` and `out` must
///   not overlap: `reverse_in_place` is for one array.
/// Order: asynchronous in `stream`; no synchronisation, no allocation. May be called from several threads, on different
///   streams, and captured in a graph.
/// Throws: invalid_argument, before anything is launched; launch_failed.
template <class T>
void reverse(stream_ref stream, const T* in, T* out, extent count) {
  static_assert(std::is_trivially_copyable<T>::value && sizeof(T) <= 64, "elements of up to 64 bytes, moved as bytes");
  detail::require_aligned("reverse", in, alignof(T), "in");
  detail::require_aligned("reverse", out, alignof(T), "out");
  reverse_bytes(stream, in, out, sizeof(T), count);
}

/// data[i] and data[count - 1 - i] change places.
///
/// Shape, Units, Order, Throws: as for `reverse`. Memory: one array, without scratch.
template <class T>
void reverse_in_place(stream_ref stream, T* data, extent count) {
  static_assert(std::is_trivially_copyable<T>::value && sizeof(T) <= 64, "elements of up to 64 bytes, moved as bytes");
  detail::require_aligned("reverse_in_place", data, alignof(T), "data");
  reverse_in_place_bytes(stream, data, sizeof(T), count);
}

}  // namespace twill
