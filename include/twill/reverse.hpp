#pragma once

#include <cstdint>
#include <type_traits>

#include <twill/export.hpp>
#include <twill/stream.hpp>
#include <twill/transpose.hpp>

namespace twill {

/// `reverse` and `reverse_in_place` for elements known by their size alone: any number of bytes from 1 to 64.
/// Memory: pointers need no alignment beyond 1 byte; the better aligned they are, the wider the accesses.
TWILL_API void reverse_bytes(stream_ref stream, const void* in, void* out, std::int64_t count,
                             std::int64_t element_bytes);
TWILL_API void reverse_in_place_bytes(stream_ref stream, void* data, std::int64_t count, std::int64_t element_bytes);

/// out[i] = in[count - 1 - i], out of place.
///
/// Shape: [1, 2, 3] becomes [3, 2, 1]. `count` may be 0.
/// Units: 2 * count * sizeof(T) bytes are moved.
/// Memory: device memory of the stream's device (host memory on "cpu" and "simt"), aligned to T; `in` and `out` must
///   not overlap: `reverse_in_place` is for one array.
/// Order: asynchronous in `stream`; no synchronisation, no allocation.
/// Throws: invalid_argument, before anything is launched; launch_failed.
template <class T>
void reverse(stream_ref stream, const T* in, T* out, std::int64_t count) {
  static_assert(std::is_trivially_copyable<T>::value, "elements are moved as bytes");
  detail::require_aligned(in, alignof(T), "in");
  detail::require_aligned(out, alignof(T), "out");
  reverse_bytes(stream, in, out, count, static_cast<std::int64_t>(sizeof(T)));
}

/// data[i] and data[count - 1 - i] change places.
///
/// Shape, Units, Order, Throws: as for `reverse`. Memory: one array, without scratch.
template <class T>
void reverse_in_place(stream_ref stream, T* data, std::int64_t count) {
  static_assert(std::is_trivially_copyable<T>::value, "elements are moved as bytes");
  detail::require_aligned(data, alignof(T), "data");
  reverse_in_place_bytes(stream, data, count, static_cast<std::int64_t>(sizeof(T)));
}

}  // namespace twill
