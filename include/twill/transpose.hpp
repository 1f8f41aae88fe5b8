#pragma once

#include <cstdint>
#include <type_traits>

#include <twill/export.hpp>
#include <twill/stream.hpp>

namespace twill {

/// A batch of row-major matrices, in elements. `{rows, cols}` alone is one packed matrix.
struct transpose_shape {
  std::int64_t rows = 0;        ///< rows of the input, columns of the output
  std::int64_t cols = 0;        ///< columns of the input, rows of the output
  std::int64_t batch = 1;       ///< matrices
  std::int64_t in_ld = 0;       ///< leading dimension: elements from one input row to the next; 0 is `cols`
  std::int64_t out_ld = 0;      ///< leading dimension of the output; 0 is `rows`
  std::int64_t in_stride = 0;   ///< elements from one input matrix to the next; 0 is `rows * in_ld`
  std::int64_t out_stride = 0;  ///< elements from one output matrix to the next; 0 is `cols * out_ld`.
                                ///< Strides below a matrix (interleaved batches) are fine while no two elements meet.
};

/// `transpose` for elements known by their size alone: any number of bytes from 1 to 64.
/// Memory: pointers need no alignment beyond 1 byte; the better aligned they are, the wider the accesses.
TWILL_API void transpose_bytes(stream_ref stream, const void* in, void* out, std::int64_t element_bytes,
                               const transpose_shape& shape);

namespace detail {
/// Throws invalid_argument when `pointer` is no multiple of `alignment`.
TWILL_API void require_aligned(const void* pointer, std::size_t alignment, const char* what);
}  // namespace detail

/// out[c][r] = in[r][c] for every matrix of the batch, out of place.
///
/// Shape: `{2, 3}` makes [1,2,3, 4,5,6] into [1,4, 2,5, 3,6]. Extents may be 0; gaps that leading dimensions
///   leave in the output stay untouched.
/// Units: 2 * rows * cols * batch * sizeof(T) bytes are moved.
/// Memory: device memory of the stream's device (host memory on "cpu" and "simt"), aligned to T; `in` and `out`
///   must not overlap.
/// Order: asynchronous in `stream`; no synchronisation, no allocation.
/// Throws: invalid_argument, or unsupported where the batch needs more than 2^32 - 1 blocks, before anything is
/// launched;
///   launch_failed.
/// Source: Ruetsch and Micikevicius, 2009, Optimizing Matrix Transpose in CUDA (padded shared tile).
template <class T>
void transpose(stream_ref stream, const T* in, T* out, const transpose_shape& shape) {
  static_assert(std::is_trivially_copyable<T>::value, "elements are moved as bytes");
  detail::require_aligned(in, alignof(T), "in");
  detail::require_aligned(out, alignof(T), "out");
  transpose_bytes(stream, in, out, static_cast<std::int64_t>(sizeof(T)), shape);
}

}  // namespace twill
