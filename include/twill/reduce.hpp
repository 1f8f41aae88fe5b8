#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <twill/buffer.hpp>
#include <twill/element.hpp>
#include <twill/export.hpp>
#include <twill/stream.hpp>

namespace twill {

/// What a reduction makes of its elements, and of none.
enum class reduce_op {
  sum,          ///< 0 of none; integers wrap around
  product,      ///< 1 of none; integers wrap around
  min,          ///< the largest number of the type of none (infinity); NaN when there is one; -0 is below +0
  max,          ///< the smallest number of the type of none; NaN when there is one
  argmin,       ///< the place of the minimum, the first of equals, the first NaN; none: an error (of a segment: -1)
  argmax,       ///< the place of the maximum, likewise
  logical_and,  ///< 1 when no element is 0; of none: 1
  logical_or,   ///< 1 when an element is not 0; of none: 0
  logical_xor,  ///< 1 when an odd number of elements is not 0
  bitwise_and,  ///< integers only; all ones of none
  bitwise_or,   ///< integers only; 0 of none
  bitwise_xor,  ///< integers only; 0 of none
};

/// Bytes of scratch memory that every reduction makes do with, of any shape and on any device.
inline constexpr std::size_t reduce_scratch_bytes = std::size_t{8} << 20;

/// Scratch memory for reductions: made once, used by any number of calls one after another in one stream, whatever
/// their shapes. Calls that may run at the same time need one each. After a device_fault, make a new one.
class TWILL_API reduce_scratch {
 public:
  /// Device memory of its own, freed with the object. Throws: out_of_memory.
  explicit reduce_scratch(stream_ref stream);
  /// The application's memory: at least reduce_scratch_bytes, aligned to 256 bytes. It is prepared in `stream`, by an
  /// asynchronous fill of a few KiB, and must then be left alone. Throws: invalid_argument.
  reduce_scratch(stream_ref stream, void* memory, std::size_t bytes);

  void* data() const noexcept { return memory_; }
  const device& on() const noexcept { return owned_.on(); }

 private:
  raw_buffer owned_;
  void* memory_;
};

/// Rows of a row-major matrix, in elements.
struct reduce_shape {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t ld = 0;  ///< elements from one row to the next; 0 is `cols`
};

/// The calls below for types known at run time. `out_type` is what the templates take as their Out.
TWILL_API void reduce_bytes(stream_ref stream, reduce_op op, const void* in, element_type in_type, void* out,
                            element_type out_type, std::int64_t count, const reduce_scratch& scratch);
TWILL_API void reduce_rows_bytes(stream_ref stream, reduce_op op, const void* in, element_type in_type, void* out,
                                 element_type out_type, const reduce_shape& shape, const reduce_scratch& scratch);
TWILL_API void reduce_columns_bytes(stream_ref stream, reduce_op op, const void* in, element_type in_type, void* out,
                                    element_type out_type, const reduce_shape& shape, const reduce_scratch& scratch);
TWILL_API void reduce_segments_bytes(stream_ref stream, reduce_op op, const void* in, element_type in_type, void* out,
                                     element_type out_type, const std::int64_t* offsets, std::int64_t segments,
                                     const reduce_scratch& scratch);

/// out[0] = in[0] op in[1] op ... op in[count - 1].
///
/// Shape: sum of [1, 2, 3] is 6; argmax of it is 2. `count` may be 0: see reduce_op.
///   Out is In for sum, product, min, max and the bitwise operations; std::int64_t for argmin and argmax; std::uint8_t
///   for the logical ones. Sums and products may also be wide: std::int64_t of signed and std::uint64_t of unsigned
///   integers, float of float16 and bfloat16. Complex numbers have sums, products and the logical operations.
/// Units: count * sizeof(In) bytes are read.
/// Memory: device memory of the stream's device, aligned to sizeof(In) and sizeof(Out), complex numbers too; 16-byte
///   alignment of `in` is faster. `in`, `out` and the scratch must not overlap.
/// Order: asynchronous in `stream`; no synchronisation, no allocation, one launch.
/// Result: the same bits on every run, and for the same shape on every device and backend: floating-point numbers are
///   combined in a tree that the shape and sizeof(In) alone decide (src/reduce/gpu/tree.hpp). There is no faster
///   mode without that. float16 and bfloat16 are calculated in float and rounded once. A floating sum differs from the
///   exact one by at most d * u / (1 - d * u) times the sum of the absolute values, where u is half the distance from
///   1 to the next number and d = ceil(log2(count)) + 1; for columns see reduce_columns. A product of real numbers has
///   a relative error of at most count * u / (1 - count * u), one of complex numbers of at most three times that (in
///   absolute value, not in each part), while nothing overflows or underflows. NaN and infinity spread as in any order;
///   a NaN in the result is always the quiet one without a sign: 0x7fc00000 of float, 0x7e00 of float16.
/// Throws: invalid_argument, before anything is launched; unsupported (more than 65535 * 65535 blocks of 256 threads:
///   2^31 rows, 2^34 segments and 2^36 columns never need as many); launch_failed.
/// Source: Harris, 2007, Optimizing Parallel Reduction in CUDA; Higham, 1993, The Accuracy of Floating Point Summation;
///   Brent, Percival and Zimmermann, 2007, Error Bounds on Complex Floating-Point Multiplication.
template <class In, class Out>
void reduce(stream_ref stream, reduce_op op, const In* in, Out* out, std::int64_t count,
            const reduce_scratch& scratch) {
  reduce_bytes(stream, op, in, element_type_of<In>, out, element_type_of<Out>, count, scratch);
}

/// out[r] = the reduction of row r: `shape.rows` results, each with the bits that `reduce` gives for the row.
/// Shape: sums of the rows of {2, 3} [1,2,3, 4,5,6] are [6, 15]. For the rest see `reduce`.
template <class In, class Out>
void reduce_rows(stream_ref stream, reduce_op op, const In* in, Out* out, const reduce_shape& shape,
                 const reduce_scratch& scratch) {
  reduce_rows_bytes(stream, op, in, element_type_of<In>, out, element_type_of<Out>, shape, scratch);
}

/// out[c] = the reduction of column c: `shape.cols` results.
/// Shape: sums of the columns of {2, 3} [1,2,3, 4,5,6] are [5, 7, 9]. For the rest see `reduce`.
/// Result: the tree is that of src/reduce/gpu/columns.hpp; d is ceil(log2(rows)) + 10 + v / 2^21, where v is the
///   number of 16-byte vectors of the matrix, each row's rounded up.
template <class In, class Out>
void reduce_columns(stream_ref stream, reduce_op op, const In* in, Out* out, const reduce_shape& shape,
                    const reduce_scratch& scratch) {
  reduce_columns_bytes(stream, op, in, element_type_of<In>, out, element_type_of<Out>, shape, scratch);
}

/// out[s] = the reduction of in[offsets[s]] to in[offsets[s + 1] - 1], with the bits that `reduce` gives for them.
///
/// Shape: sums of [1,2,3,4] with the offsets [0, 1, 1, 4] are [1, 0, 9]. There are segments + 1 offsets; argmin and
///   argmax count from the beginning of the segment.
/// Memory: `offsets` is device memory, read when the work runs, so nothing checks it before: offsets must not decrease,
///   and lie in `in`, which may be null where all segments are empty. `out` must not overlap them. On a simulated
///   device a fault is found when memory outside of `in` is read; a segment that ends before it begins counts as empty.
/// Units: a segment is the work of one block: a few long segments do not fill a GPU.
/// For the rest see `reduce`.
template <class In, class Out>
void reduce_segments(stream_ref stream, reduce_op op, const In* in, Out* out, const std::int64_t* offsets,
                     std::int64_t segments, const reduce_scratch& scratch) {
  reduce_segments_bytes(stream, op, in, element_type_of<In>, out, element_type_of<Out>, offsets, segments, scratch);
}

}  // namespace twill
