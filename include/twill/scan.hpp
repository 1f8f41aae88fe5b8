#pragma once

#include <cstddef>
#include <cstdint>

#include <twill/element.hpp>
#include <twill/export.hpp>
#include <twill/extent.hpp>
#include <twill/scratch.hpp>
#include <twill/stream.hpp>

namespace twill {

enum class scan_op {
  sum,
  min,
  max,
};

/// Rows to scan, in elements. `{rows, cols}` alone is packed.
struct scan_shape {
  extent rows = 0;
  extent cols = 0;
  extent in_ld = 0;   ///< leading dimension: elements from one input row to the next; 0 is `cols`
  extent out_ld = 0;  ///< likewise of the output

  constexpr scan_shape with_in_ld(extent n) const { return {rows, cols, n, out_ld}; }
  constexpr scan_shape with_out_ld(extent n) const { return {rows, cols, in_ld, n}; }
};

struct scan_options {
  scan_op op = scan_op::sum;
  bool exclusive = false;  ///< out[i] leaves out in[i]; the first is the operation's identity
  /// Two passes over the data, with no block ever waiting for another: for devices that do not promise to keep a block
  /// running once it runs. The same bits come out.
  bool two_passes = false;

  constexpr scan_options with_op(scan_op o) const { return {o, exclusive, two_passes}; }
  constexpr scan_options with_exclusive(bool b = true) const { return {op, b, two_passes}; }
  constexpr scan_options with_two_passes(bool b = true) const { return {op, exclusive, b}; }
};

/// Bytes of device memory that `scan` needs for such a problem: 0 on GPUs for rows, or an array, of at most 49136 bytes
/// (complex<double> 32768); never 0 on the CPU.
/// Throws: invalid_argument, as `scan` does for a wrong shape, type or operation.
TWILL_API std::size_t scan_scratch_bytes(const device& on, element_type type, const scan_shape& shape,
                                         const scan_options& options = {});
TWILL_API std::size_t scan_scratch_bytes(const device& on, element_type type, extent count,
                                         const scan_options& options = {});

/// Bytes of device memory that `scan_segments` needs.
TWILL_API std::size_t scan_segments_scratch_bytes(const device& on, element_type type, extent count, extent segments,
                                                  const scan_options& options = {});

/// The calls below for a type that is known at run time.
TWILL_API void scan_untyped(stream_ref stream, const void* in, void* out, element_type type, const scan_shape& shape,
                            scratch_ref scratch, const scan_options& options = {});
TWILL_API void scan_untyped(stream_ref stream, const void* in, void* out, element_type type, extent count,
                            scratch_ref scratch, const scan_options& options = {});
TWILL_API void scan_segments_untyped(stream_ref stream, const void* in, void* out, element_type type, extent count,
                                     const std::int64_t* offsets, extent segments, scratch_ref scratch,
                                     const scan_options& options = {});

/// out[i] = in[0] + ... + in[i] (inclusive) or in[0] + ... + in[i - 1] (exclusive), row by row, with +, min or max.
///
/// Shape: inclusive sums of 4 elements [1,2,3,4] are [1,3,6,10]; exclusive ones [0,1,3,6]; those of the rows of
///   `{2, 2}` [1,3, 3,7]. Extents may be 0.
///   The identities are 0; the largest value or infinity for min; the lowest value or -infinity for max.
/// Types: sums of integers wrap around. float16 and bfloat16 are added in float and rounded once, on output. Complex
///   numbers have sums only. A NaN makes every result after it NaN, for min and max too, whose NaN is the quiet one
///   without a sign; the bits of a sum that is NaN are the processor's. min and max take -0 as less than +0.
/// Accuracy: the additions of a floating-point sum form a tree that depends on the type, the shape and the address of
///   `in` modulo 16 alone: every run gives the same bits, and so does every GPU ("simt" included). Of a sum of n
///   elements no element passes through more than 48 + n / (32 t) additions, t being the elements of a tile: that
///   number times the rounding unit times the sum of the absolute values bounds the error. A tile has 44 KiB of
///   elements of up to 4 bytes, 40 of 8 bytes, 16 of 16 bytes; 32 KiB of elements of up to 8 bytes where all rows
///   together have at most 16 MiB; with segments 32, 20 and 12 KiB. Exception: two or more rows, packed in both arrays,
///   of at most 384 bytes or 128 elements (whichever is more) and not a multiple of 16 bytes, are summed from left to
///   right (n - 1 additions). On the CPU the number is 4110 + n / t for float and double, 2 t + n / t for halves and
///   complex numbers, t being the elements of 128 KiB. An exclusive sum need not have the bits of the inclusive one
///   before it.
/// Units: 2 * rows * cols * sizeof(T) bytes are moved, 1.5 times that with two passes. These are made only where
///   scratch is needed; there, rows cost whole tiles.
/// Memory: device memory, aligned to sizeof(T), complex numbers too; best speed where rows begin at multiples of 16
///   bytes in both. `out` may be `in` (with the same leading dimension); otherwise they must not overlap. `scratch` has
///   `scan_scratch_bytes`, 16-byte aligned; what it holds before does not matter, and it is free for others in stream
///   order. Previous contents may be read, but are rejected by a per-launch tag.
/// Order: asynchronous in `stream`: a kernel, and where scratch is needed its clearing before it (another of each with
///   two passes; a kernel more with segments). Single-pass, out-of-place sums of elements of up to 8 bytes clear
///   nothing on NVIDIA GPUs outside of capture, up to four tiles a multiprocessor (one row of 16 MiB on an H200). No
///   synchronisation, no allocation. May be called from several threads, on different streams with a scratch each, and
///   captured in a graph.
/// Throws: invalid_argument, before anything is launched; unsupported (more than 2^31 tiles; blocks have too little
///   shared memory); launch_failed.
/// Source: Merrill and Garland, 2016, Single-pass Parallel Prefix Scan with Decoupled Look-back (long rows).
template <class T>
void scan(stream_ref stream, const T* in, T* out, const scan_shape& shape, scratch_ref scratch,
          const scan_options& options = {}) {
  scan_untyped(stream, in, out, element_type_of<T>, shape, scratch, options);
}
/// The same for a contiguous array of `count` elements: `scan(stream, in, out, 1000, scratch)`.
template <class T>
void scan(stream_ref stream, const T* in, T* out, extent count, scratch_ref scratch, const scan_options& options = {}) {
  scan_untyped(stream, in, out, element_type_of<T>, count, scratch, options);
}
/// The scratch of these calls; of the pointers the types alone matter.
template <class T>
std::size_t scan_scratch_bytes(const device& on, const T*, T*, const scan_shape& shape,
                               const scan_options& options = {}) {
  return scan_scratch_bytes(on, element_type_of<T>, shape, options);
}
template <class T>
std::size_t scan_scratch_bytes(const device& on, const T*, T*, extent count, const scan_options& options = {}) {
  return scan_scratch_bytes(on, element_type_of<T>, count, options);
}

/// `scan` of an array of `count` elements that starts anew at each of the `segments` offsets.
///
/// Shape: offsets {0, 2} over [1,2,3,4] give [1,3, 3,7]. Offsets lie in device memory and never decrease; the first
///   need not be 0 (what comes before it is a segment too), equal ones are empty segments, those from `count` on are
///   without effect. Where the host can read them ("cpu", "simt") a breach throws invalid_argument; elsewhere it may
///   give wrong results, never an access outside the arrays.
/// Units: 2 * count * sizeof(T) bytes are moved, and a bit an element.
/// Memory, Order, Throws, Source: as `scan`.
template <class T>
void scan_segments(stream_ref stream, const T* in, T* out, extent count, const std::int64_t* offsets, extent segments,
                   scratch_ref scratch, const scan_options& options = {}) {
  scan_segments_untyped(stream, in, out, element_type_of<T>, count, offsets, segments, scratch, options);
}
template <class T>
std::size_t scan_segments_scratch_bytes(const device& on, const T*, T*, extent count, const std::int64_t*,
                                        extent segments, const scan_options& options = {}) {
  return scan_segments_scratch_bytes(on, element_type_of<T>, count, segments, options);
}

}  // namespace twill
