#pragma once

#include <cstdint>
#include <type_traits>

#include <twill/export.hpp>
#include <twill/stream.hpp>
#include <twill/transpose.hpp>

namespace twill {

/// Rows of a pitched array, in elements. `{rows, cols}` alone is packed; {1, n} is n elements in a row.
struct pitched_shape {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t in_pitch = 0;   ///< elements from one input row to the next; 0 is `cols`
  std::int64_t out_pitch = 0;  ///< the same for the output
};

/// `copy`, `upload` and `download` for elements known by their size alone, 1 or more bytes, aligned to 1 byte.
TWILL_API void copy_pitched_bytes(stream_ref stream, const void* in, void* out, std::int64_t element_bytes,
                                  const pitched_shape& shape);
TWILL_API void upload_pitched_bytes(stream_ref stream, const void* in, void* out, std::int64_t element_bytes,
                                    const pitched_shape& shape);
TWILL_API void download_pitched_bytes(stream_ref stream, const void* in, void* out, std::int64_t element_bytes,
                                      const pitched_shape& shape);

/// Copies rows within the memory of one device.
///
/// Shape: `{2, 3, 4, 3}` makes [1,2,3,-, 4,5,6,-] into [1,2,3, 4,5,6]. Extents may be 0; gaps between the rows of the
///   output stay untouched.
/// Units: 2 * rows * cols * sizeof(T) bytes are moved.
/// Memory: device memory of the stream's device (host memory on "cpu" and "simt"), aligned to T. No row of `in` may
///   overlap one of `out`; rows side by side in one array of equal pitch are fine. Bytes of `in` between its rows may
///   be read.
/// Order: asynchronous in `stream`; no synchronisation, no allocation.
/// Throws: invalid_argument, before anything is launched; launch_failed.
template <class T>
void copy(stream_ref stream, const T* in, T* out, const pitched_shape& shape) {
  static_assert(std::is_trivially_copyable<T>::value, "elements are moved as bytes");
  detail::require_aligned(in, alignof(T), "in");
  detail::require_aligned(out, alignof(T), "out");
  copy_pitched_bytes(stream, in, out, static_cast<std::int64_t>(sizeof(T)), shape);
}
/// The same for `count` elements in a row: `copy(stream, in, out, 1000)`.
template <class T>
void copy(stream_ref stream, const T* in, T* out, std::int64_t count) {
  copy(stream, in, out, pitched_shape{1, count});
}

/// Copies rows from host to device memory.
///
/// Shape, Units: as for `copy`.
/// Memory: `in` is host memory, `out` device memory (host memory on "cpu" and "simt"), aligned to T.
/// Order: in `stream`. From pinned host memory the call returns at once and `in` must stay as it is until the copy is
///   done; from pageable memory the driver first takes the data, for which the call may wait.
/// Throws: invalid_argument, before anything is launched; device_fault.
template <class T>
void upload(stream_ref stream, const T* in, T* out, const pitched_shape& shape) {
  static_assert(std::is_trivially_copyable<T>::value, "elements are moved as bytes");
  detail::require_aligned(in, alignof(T), "in");
  detail::require_aligned(out, alignof(T), "out");
  upload_pitched_bytes(stream, in, out, static_cast<std::int64_t>(sizeof(T)), shape);
}
template <class T>
void upload(stream_ref stream, const T* in, T* out, std::int64_t count) {
  upload(stream, in, out, pitched_shape{1, count});
}

/// Copies rows from device to host memory.
///
/// Shape, Units: as for `copy`.
/// Memory: `in` is device memory (host memory on "cpu" and "simt"), `out` host memory, aligned to T.
/// Order: in `stream`; `out` holds the data after `stream.wait()`. To pinned memory the call returns at once; to
///   pageable memory it returns when the data is there.
/// Throws: invalid_argument, before anything is launched; device_fault.
template <class T>
void download(stream_ref stream, const T* in, T* out, const pitched_shape& shape) {
  static_assert(std::is_trivially_copyable<T>::value, "elements are moved as bytes");
  detail::require_aligned(in, alignof(T), "in");
  detail::require_aligned(out, alignof(T), "out");
  download_pitched_bytes(stream, in, out, static_cast<std::int64_t>(sizeof(T)), shape);
}
template <class T>
void download(stream_ref stream, const T* in, T* out, std::int64_t count) {
  download(stream, in, out, pitched_shape{1, count});
}

}  // namespace twill
