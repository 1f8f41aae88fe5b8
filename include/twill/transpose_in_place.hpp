#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <twill/export.hpp>
#include <twill/extent.hpp>
#include <twill/scratch.hpp>
#include <twill/stream.hpp>

namespace twill {

/// A batch of row-major matrices that are transposed in place, in elements. `{rows, cols}` alone is one packed
/// matrix.
struct transpose_in_place_shape {
  extent rows = 0;    ///< rows before, columns after
  extent cols = 0;    ///< columns before, rows after
  extent batch = 1;   ///< matrices
  extent ld = 0;      ///< elements from one row to the next; 0 is `cols`, and so it must be unless rows == cols
  extent stride = 0;  ///< elements from one matrix to the next; 0 is `rows * ld`

  constexpr transpose_in_place_shape with_batch(extent n) const { return {rows, cols, n, ld, stride}; }
  constexpr transpose_in_place_shape with_ld(extent n) const { return {rows, cols, batch, n, stride}; }
  constexpr transpose_in_place_shape with_stride(extent n) const { return {rows, cols, batch, ld, n}; }
};

/// How much scratch memory a call is given: the minimum that it works with, or enough for full speed.
enum class scratch_size { least, fast };

/// The bytes of scratch memory for `transpose_in_place` of elements of `element_bytes`.
///
/// Units: `least` is 0 for square matrices, else max(rows, cols) elements. `fast` is 0 for square matrices, else one
///   matrix, or as many small ones as make 32 MiB.
/// Throws: invalid_argument, as `transpose_in_place` does for this shape.
TWILL_API std::size_t transpose_in_place_scratch_bytes(const device& on, extent element_bytes,
                                                       const transpose_in_place_shape& shape,
                                                       scratch_size size = scratch_size::least);

/// The same for the call `transpose_in_place(stream, data, shape, scratch)`; of `data` the type alone matters.
template <class T>
std::size_t transpose_in_place_scratch_bytes(const device& on, const T*, const transpose_in_place_shape& shape,
                                             scratch_size size = scratch_size::least) {
  return transpose_in_place_scratch_bytes(on, sizeof(T), shape, size);
}

/// `transpose_in_place` for elements known by their size alone: any number of bytes from 1 to 64.
/// Memory: pointers need no alignment beyond 1 byte; the better aligned they are, the wider the accesses.
TWILL_API void transpose_in_place_bytes(stream_ref stream, void* data, extent element_bytes,
                                        const transpose_in_place_shape& shape, scratch_ref scratch = {});

/// Transposes each matrix of the batch in its own memory: rows x cols becomes cols x rows.
///
/// Shape: `{2, 3}` makes [1,2,3, 4,5,6] into [1,4, 2,5, 3,6]. Extents may be 0. Square matrices may have a leading
///   dimension, and gaps stay untouched; others are packed.
/// Units: 2 * rows * cols * batch * sizeof(T) bytes are moved once for square matrices, for small ones, and on GPUs for
///   batches of enough matrices that fit a block's shared memory; others twice with fast scratch. With less, once for
///   each of two passes (three where rows and cols have a common divisor); twice for a pass that goes through scratch,
///   so six times at most.
/// Memory: device memory of the stream's device (host memory on "cpu" and "simt"), `data` aligned to T; matrices must
///   not overlap. `scratch` holds at least `transpose_in_place_scratch_bytes(device, data, shape)` bytes and does not
///   overlap the matrices; it is free for other calls in stream order.
/// Order: asynchronous in `stream`; no synchronisation, no allocation. May be called from several threads, on different
///   streams with a scratch each, and captured in a graph. Launches: one where data are moved once; with fast
///   scratch two, for as many matrices as it holds. With less scratch, one for each pass whose lines (max(rows, cols)
///   elements in one pass, min(rows, cols) in the others) fit in the shared memory of a block, at least to a quarter:
///   on an H200, with 227 KiB, up to 232448 elements of 4 bytes. Other passes, and those of fewer than half as many
///   lines as the device has multiprocessors that do not fit entirely, go through scratch: two launches for every n
///   lines, where scratch holds n * max(rows, cols) elements. With the least, those are 200 launches a matrix for 100
///   rows of 4 MB. A stream's queue holds about a thousand launches; a call that needs more blocks until some have
///   completed.
/// Throws: invalid_argument (scratch that is too small among others), or unsupported where the batch needs more than
///   2^32 - 1 blocks, before anything is launched; launch_failed.
/// Source: Catanzaro, Keller and Garland, 2014, A Decomposition for In-place Matrix Transposition (least scratch).
template <class T>
void transpose_in_place(stream_ref stream, T* data, const transpose_in_place_shape& shape, scratch_ref scratch = {}) {
  static_assert(std::is_trivially_copyable<T>::value && sizeof(T) <= 64, "elements of up to 64 bytes, moved as bytes");
  detail::require_aligned("transpose_in_place", data, alignof(T), "data");
  transpose_in_place_bytes(stream, data, sizeof(T), shape, scratch);
}

}  // namespace twill
