#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <twill/export.hpp>
#include <twill/extent.hpp>
#include <twill/stream.hpp>

namespace twill {

/// Rows of a strided array, in elements. `{rows, cols}` alone is packed.
struct copy_shape {
  extent rows = 0;
  extent cols = 0;
  extent in_ld = 0;   ///< leading dimension: elements from one input row to the next; 0 is `cols`
  extent out_ld = 0;  ///< the same for the output

  constexpr copy_shape with_in_ld(extent ld) const { return {rows, cols, ld, out_ld}; }
  constexpr copy_shape with_out_ld(extent ld) const { return {rows, cols, in_ld, ld}; }
};

/// `copy`, `upload` and `download` for elements known by their size alone, 1 or more bytes, aligned to 1 byte.
TWILL_API void copy_bytes(stream_ref stream, const void* in, void* out, extent element_bytes, const copy_shape& shape);
TWILL_API void upload_bytes(stream_ref stream, const void* in, void* out, extent element_bytes,
                            const copy_shape& shape);
TWILL_API void download_bytes(stream_ref stream, const void* in, void* out, extent element_bytes,
                              const copy_shape& shape);

/// The same for `bytes` bytes in a row.
TWILL_API void copy_bytes(stream_ref stream, const void* in, void* out, std::size_t bytes);
TWILL_API void upload_bytes(stream_ref stream, const void* in, void* out, std::size_t bytes);
TWILL_API void download_bytes(stream_ref stream, const void* in, void* out, std::size_t bytes);

/// Copies rows within the memory of one device.
///
/// Shape: `{2, 3, 4, 3}` makes [1,2,3,-, 4,5,6,-] into [1,2,3, 4,5,6]. Extents may be 0; gaps between the rows of the
///   output stay untouched.
/// Units: 2 * rows * cols * sizeof(T) bytes are moved.
/// Memory: device memory of the stream's device (host memory on "cpu" and "simt"), aligned to T. No row of `in` may
///   overlap one of `out`; rows side by side in one array of equal leading dimensions are fine. Bytes of `in` between
///   its rows may be read.
/// Order: asynchronous in `stream`; no synchronisation, no allocation. May be called from several threads, on different
///   streams, and captured in a graph.
/// Throws: invalid_argument, before anything is launched; launch_failed.
template <class T>
void copy(stream_ref stream, const T* in, T* out, const copy_shape& shape) {
  static_assert(std::is_trivially_copyable<T>::value, "elements are moved as bytes");
  detail::require_aligned("copy", in, alignof(T), "in");
  detail::require_aligned("copy", out, alignof(T), "out");
  copy_bytes(stream, in, out, sizeof(T), shape);
}
/// The same for `count` elements in a row: `copy(stream, in, out, 1000)`.
template <class T>
void copy(stream_ref stream, const T* in, T* out, extent count) {
  copy(stream, in, out, copy_shape{1, count});
}

/// Copies rows from host to device memory.
///
/// Shape, Units: as for `copy`.
/// Memory: `in` is host memory, `out` device memory (host memory on "cpu" and "simt"), aligned to T.
/// Order: in `stream`. From pinned host memory the call returns at once, `in` must not change until the copy is done,
///   and the call may be captured in a graph; from pageable memory the driver may stage the data first, for which the
///   call waits. May be called from several threads, on different streams.
/// Throws: invalid_argument, before anything is launched; device_fault.
template <class T>
void upload(stream_ref stream, const T* in, T* out, const copy_shape& shape) {
  static_assert(std::is_trivially_copyable<T>::value, "elements are moved as bytes");
  detail::require_aligned("upload", in, alignof(T), "in");
  detail::require_aligned("upload", out, alignof(T), "out");
  upload_bytes(stream, in, out, sizeof(T), shape);
}
template <class T>
void upload(stream_ref stream, const T* in, T* out, extent count) {
  upload(stream, in, out, copy_shape{1, count});
}

/// Copies rows from device to host memory.
///
/// Shape, Units: as for `copy`.
/// Memory: `in` is device memory (host memory on "cpu" and "simt"), `out` host memory, aligned to T.
/// Order: in `stream`; `out` holds the data after `stream.wait()`. To pinned memory the call returns at once and may be
///   captured in a graph; to pageable memory it returns when the copy is done. May be called from several threads, on
///   different streams.
/// Throws: invalid_argument, before anything is launched; device_fault.
template <class T>
void download(stream_ref stream, const T* in, T* out, const copy_shape& shape) {
  static_assert(std::is_trivially_copyable<T>::value, "elements are moved as bytes");
  detail::require_aligned("download", in, alignof(T), "in");
  detail::require_aligned("download", out, alignof(T), "out");
  download_bytes(stream, in, out, sizeof(T), shape);
}
template <class T>
void download(stream_ref stream, const T* in, T* out, extent count) {
  download(stream, in, out, copy_shape{1, count});
}

}  // namespace twill
