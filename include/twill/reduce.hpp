#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <twill/element.hpp>
#include <twill/export.hpp>
#include <twill/extent.hpp>
#include <twill/scratch.hpp>
#include <twill/stream.hpp>

namespace twill {

/// The operation, and its result for an empty range.
enum class reduce_op {
  sum,          ///< 0 of none; integers wrap around
  product,      ///< 1 of none; integers wrap around
  min,          ///< the largest number of the type of none (infinity); NaN when there is one; -0 is below +0
  max,          ///< the smallest number of the type of none; NaN when there is one
  argmin,       ///< the index of the minimum, the first of equals, the first NaN; none: an error (of a segment: -1)
  argmax,       ///< the index of the maximum, likewise
  logical_and,  ///< 1 when no element is 0; of none: 1
  logical_or,   ///< 1 when an element is not 0; of none: 0
  logical_xor,  ///< 1 when an odd number of elements is not 0
  bitwise_and,  ///< integers only; all ones of none
  bitwise_or,   ///< integers only; 0 of none
  bitwise_xor,  ///< integers only; 0 of none
};

/// Rows of a row-major matrix, in elements.
struct reduce_shape {
  extent rows = 0;
  extent cols = 0;
  extent ld = 0;  ///< leading dimension: elements from one row to the next; 0 is `cols`

  constexpr reduce_shape with_ld(extent n) const { return {rows, cols, n}; }
};

struct reduce_options {
  reduce_op op = reduce_op::sum;
  /// The scratch was cleared (`fill_bytes(stream, scratch, 0, bytes)`) and since then used by calls with this option
  /// alone, none of which failed. It saves such calls a small kernel in the stream; every reduction leaves its scratch
  /// like that.
  bool cleared_scratch = false;

  constexpr reduce_options with_op(reduce_op o) const { return {o, cleared_scratch}; }
  constexpr reduce_options with_cleared_scratch(bool b = true) const { return {op, b}; }
};

/// Bytes of scratch memory that the calls below need for such a problem, at most 8 MiB.
/// Throws: invalid_argument, as the call does for a wrong shape, type or operation.
TWILL_API std::size_t reduce_scratch_bytes(const device& on, element_type in_type, element_type out_type, extent count,
                                           const reduce_options& options = {});
TWILL_API std::size_t reduce_rows_scratch_bytes(const device& on, element_type in_type, element_type out_type,
                                                const reduce_shape& shape, const reduce_options& options = {});
TWILL_API std::size_t reduce_columns_scratch_bytes(const device& on, element_type in_type, element_type out_type,
                                                   const reduce_shape& shape, const reduce_options& options = {});
TWILL_API std::size_t reduce_segments_scratch_bytes(const device& on, element_type in_type, element_type out_type,
                                                    extent segments, const reduce_options& options = {});

/// The calls below for types known at run time.
TWILL_API void reduce_untyped(stream_ref stream, const void* in, void* out, element_type in_type, element_type out_type,
                              extent count, scratch_ref scratch, const reduce_options& options = {});
TWILL_API void reduce_rows_untyped(stream_ref stream, const void* in, void* out, element_type in_type,
                                   element_type out_type, const reduce_shape& shape, scratch_ref scratch,
                                   const reduce_options& options = {});
TWILL_API void reduce_columns_untyped(stream_ref stream, const void* in, void* out, element_type in_type,
                                      element_type out_type, const reduce_shape& shape, scratch_ref scratch,
                                      const reduce_options& options = {});
TWILL_API void reduce_segments_untyped(stream_ref stream, const void* in, void* out, element_type in_type,
                                       element_type out_type, const std::int64_t* offsets, extent segments,
                                       scratch_ref scratch, const reduce_options& options = {});

namespace detail {
/// Whether some reduction of `in` gives `out`.
constexpr bool reduces_to(element_type in, element_type out) {
  using type = element_type;
  const bool is_signed = in <= type::i64, is_unsigned = in >= type::u8 && in <= type::u64;
  const type wide = is_signed                             ? type::i64
                    : is_unsigned                         ? type::u64
                    : in == type::f16 || in == type::bf16 ? type::f32
                                                          : in;
  return out == in || out == wide || out == type::i64 || out == type::u8;
}

template <class In, class Out>
struct reduce_types {
  static constexpr element_type in = element_type_of<In>, out = element_type_of<Out>;
  static_assert(reduces_to(in, out),
                "twill: no reduction of In gives Out. Out is In; for sums and products also std::int64_t (signed In), "
                "std::uint64_t (unsigned In), float (16-bit floating-point In); for argmin and argmax std::int64_t; "
                "for the logical operations std::uint8_t or bool");
};
}  // namespace detail

/// out[0] = in[0] op in[1] op ... op in[count - 1].
///
/// Shape: sum of [1, 2, 3] is 6; argmax of it is 2. `count` may be 0: see reduce_op.
///   Out is In for sum, product, min, max and the bitwise operations; std::int64_t for argmin and argmax; std::uint8_t
///   for the logical ones. Sums and products may also be wide: std::int64_t of signed and std::uint64_t of unsigned
///   integers, float of float16 and bfloat16. Complex numbers have sums, products and the logical operations.
/// Units: count * sizeof(In) bytes are read.
/// Memory: device memory of the stream's device, aligned to sizeof(In) and sizeof(Out), complex numbers too; 16-byte
///   alignment of `in` is faster. `in`, `out` and the scratch must not overlap.
/// Order: asynchronous in `stream`; no synchronisation, no allocation; one launch, and a clearing of scratch where
///   blocks share a row. May be called from several threads, on different streams with a scratch each, and captured in
///   a graph.
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
void reduce(stream_ref stream, const In* in, Out* out, extent count, scratch_ref scratch,
            const reduce_options& options = {}) {
  using types = detail::reduce_types<In, Out>;
  reduce_untyped(stream, in, out, types::in, types::out, count, scratch, options);
}
/// The same for the call `reduce(stream, in, out, count, scratch, options)`; of the pointers the types alone matter.
template <class In, class Out>
std::size_t reduce_scratch_bytes(const device& on, const In*, Out*, extent count, const reduce_options& options = {}) {
  using types = detail::reduce_types<In, Out>;
  return reduce_scratch_bytes(on, types::in, types::out, count, options);
}

/// out[r] = the reduction of row r: `shape.rows` results, each with the bits that `reduce` gives for the row.
/// Shape: sums of the rows of {2, 3} [1,2,3, 4,5,6] are [6, 15]. For the rest see `reduce`.
template <class In, class Out>
void reduce_rows(stream_ref stream, const In* in, Out* out, const reduce_shape& shape, scratch_ref scratch,
                 const reduce_options& options = {}) {
  using types = detail::reduce_types<In, Out>;
  reduce_rows_untyped(stream, in, out, types::in, types::out, shape, scratch, options);
}
template <class In, class Out>
std::size_t reduce_rows_scratch_bytes(const device& on, const In*, Out*, const reduce_shape& shape,
                                      const reduce_options& options = {}) {
  using types = detail::reduce_types<In, Out>;
  return reduce_rows_scratch_bytes(on, types::in, types::out, shape, options);
}

/// out[c] = the reduction of column c: `shape.cols` results.
/// Shape: sums of the columns of {2, 3} [1,2,3, 4,5,6] are [5, 7, 9]. For the rest see `reduce`.
/// Result: the tree is that of src/reduce/gpu/columns.hpp. The shape decides it, and for rows that do not fill vectors
///   of 16 bytes whether there are gaps between them. d is ceil(log2(rows)) + 10 + v / 2^21, where v is the number of
///   16-byte vectors of the matrix, each row's rounded up.
template <class In, class Out>
void reduce_columns(stream_ref stream, const In* in, Out* out, const reduce_shape& shape, scratch_ref scratch,
                    const reduce_options& options = {}) {
  using types = detail::reduce_types<In, Out>;
  reduce_columns_untyped(stream, in, out, types::in, types::out, shape, scratch, options);
}
template <class In, class Out>
std::size_t reduce_columns_scratch_bytes(const device& on, const In*, Out*, const reduce_shape& shape,
                                         const reduce_options& options = {}) {
  using types = detail::reduce_types<In, Out>;
  return reduce_columns_scratch_bytes(on, types::in, types::out, shape, options);
}

/// out[s] = the reduction of in[offsets[s]] to in[offsets[s + 1] - 1], with the bits that `reduce` gives for them.
///
/// Shape: sums of [1,2,3,4] with the offsets [0, 1, 1, 4] are [1, 0, 9]. There are segments + 1 offsets; argmin and
///   argmax count from the beginning of the segment.
/// Memory: `offsets` is device memory, read when the work runs: offsets must not decrease, and lie in `in`, which
///   may be null where all segments are empty. `out` must not overlap them. Where the host can read them ("cpu",
///   "simt") decreasing offsets throw invalid_argument; a GPU takes a segment that ends before it begins as empty. With
///   checks on (twill/simt.hpp), a simulated device finds reads outside of `in`.
/// Units: a segment is the work of one block: a few long segments do not fill a GPU.
/// For the rest see `reduce`.
template <class In, class Out>
void reduce_segments(stream_ref stream, const In* in, Out* out, const std::int64_t* offsets, extent segments,
                     scratch_ref scratch, const reduce_options& options = {}) {
  using types = detail::reduce_types<In, Out>;
  reduce_segments_untyped(stream, in, out, types::in, types::out, offsets, segments, scratch, options);
}
template <class In, class Out>
std::size_t reduce_segments_scratch_bytes(const device& on, const In*, Out*, const std::int64_t*, extent segments,
                                          const reduce_options& options = {}) {
  using types = detail::reduce_types<In, Out>;
  return reduce_segments_scratch_bytes(on, types::in, types::out, segments, options);
}

}  // namespace twill
