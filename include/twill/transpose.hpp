#pragma once

#include <cstdint>
#include <type_traits>

#include <twill/export.hpp>
#include <twill/extent.hpp>
#include <twill/stream.hpp>

namespace twill {

/// A batch of row-major matrices, in elements. `{rows, cols}` alone is one packed matrix.
struct transpose_shape {
  extent rows = 0;        ///< rows of the input, columns of the output
  extent cols = 0;        ///< columns of the input, rows of the output
  extent batch = 1;       ///< matrices
  extent in_ld = 0;       ///< leading dimension: elements from one input row to the next; 0 is `cols`
  extent out_ld = 0;      ///< leading dimension of the output; 0 is `rows`
  extent in_stride = 0;   ///< elements from one input matrix to the next; 0 is `rows * in_ld`
  extent out_stride = 0;  ///< elements from one output matrix to the next; 0 is `cols * out_ld`.
                          ///< Strides below a matrix (interleaved batches) are fine while no two elements meet.

  constexpr transpose_shape with_batch(extent n) const { return with(&transpose_shape::batch, n); }
  constexpr transpose_shape with_in_ld(extent n) const { return with(&transpose_shape::in_ld, n); }
  constexpr transpose_shape with_out_ld(extent n) const { return with(&transpose_shape::out_ld, n); }
  constexpr transpose_shape with_in_stride(extent n) const { return with(&transpose_shape::in_stride, n); }
  constexpr transpose_shape with_out_stride(extent n) const { return with(&transpose_shape::out_stride, n); }

 private:
  constexpr transpose_shape with(extent transpose_shape::* field, extent n) const {
    transpose_shape changed = *this;
    changed.*field = n;
    return changed;
  }
};

/// `transpose` for elements known by their size alone: any number of bytes from 1 to 64.
/// Memory: pointers need no alignment beyond 1 byte; the better aligned they are, the wider the accesses.
TWILL_API void transpose_bytes(stream_ref stream, const void* in, void* out, extent element_bytes,
                               const transpose_shape& shape);

/// out[c][r] = in[r][c] for every matrix of the batch, out of place.
///
/// Shape: `{2, 3}` makes [1,2,3, 4,5,6] into [1,4, 2,5, 3,6]. Extents may be 0; gaps that leading dimensions
///   leave in the output stay untouched.
/// Units: 2 * rows * cols * batch * sizeof(T) bytes are moved.
/// Memory: device memory of the stream's device (host memory on "cpu" and "simt"), aligned to T; `in` and `out`
///   must not overlap.
/// Order: asynchronous in `stream`; no synchronisation, no allocation. May be called from several threads, on different
///   streams, and captured in a graph.
/// Throws: invalid_argument, or unsupported where the batch needs more than 2^32 - 1 blocks, before anything is
///   launched; launch_failed.
/// Source: Ruetsch and Micikevicius, 2009, Optimizing Matrix Transpose in CUDA (padded shared tile).
template <class T>
void transpose(stream_ref stream, const T* in, T* out, const transpose_shape& shape) {
  static_assert(std::is_trivially_copyable<T>::value && sizeof(T) <= 64, "elements of up to 64 bytes, moved as bytes");
  detail::require_aligned("transpose", in, alignof(T), "in");
  detail::require_aligned("transpose", out, alignof(T), "out");
  transpose_bytes(stream, in, out, sizeof(T), shape);
}

}  // namespace twill
