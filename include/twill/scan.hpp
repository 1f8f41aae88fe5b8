#pragma once

#include <cstddef>
#include <cstdint>

#include <twill/buffer.hpp>
#include <twill/element.hpp>
#include <twill/export.hpp>
#include <twill/stream.hpp>

namespace twill {

enum class scan_op {
  sum,
  min,
  max,
};

/// Rows to scan, in elements. `{cols}` alone is one packed row: an array.
struct scan_shape {
  std::int64_t cols = 0;
  std::int64_t rows = 1;
  std::int64_t in_ld = 0;   ///< elements from one input row to the next; 0 is `cols`
  std::int64_t out_ld = 0;  ///< likewise of the output
};

struct scan_options {
  scan_op op = scan_op::sum;
  bool exclusive = false;  ///< out[i] leaves out in[i]; the first is the operation's identity
  /// Two passes over the data, with no block ever waiting for another: for devices that do not promise to keep a block
  /// running once it runs. The same bits come out.
  bool two_passes = false;
};

/// Bytes of device memory that `scan` needs for such a problem; 0 for none.
/// Throws: invalid_argument, as `scan` does for a wrong shape or type.
TWILL_API std::size_t scan_scratch_bytes(const device& on, element_type type, const scan_shape& shape,
                                         const scan_options& options = {});

/// Bytes of device memory that `scan_segments` needs.
TWILL_API std::size_t scan_segments_scratch_bytes(const device& on, element_type type, std::int64_t count,
                                                  const scan_options& options = {});

/// `scan` for a type that is known at run time.
TWILL_API void scan_elements(stream_ref stream, const void* in, void* out, element_type type, const scan_shape& shape,
                             void* scratch, std::size_t scratch_bytes, const scan_options& options = {});

/// `scan_segments` for a type that is known at run time.
TWILL_API void scan_segments_elements(stream_ref stream, const void* in, void* out, element_type type,
                                      std::int64_t count, const std::int64_t* offsets, std::int64_t segments,
                                      void* scratch, std::size_t scratch_bytes, const scan_options& options = {});

/// out[i] = in[0] + ... + in[i] (inclusive) or in[0] + ... + in[i - 1] (exclusive), row by row, with +, min or max.
///
/// Shape: inclusive sums of `{4}`: [1,2,3,4] gives [1,3,6,10]; exclusive ones [0,1,3,6]. Extents may be 0.
///   The identities are 0; the largest value or infinity for min; the lowest value or -infinity for max.
/// Types: sums of integers wrap around. float16 and bfloat16 are added in float and rounded once, on output. Complex
///   numbers have sums only. A NaN makes every result after it NaN, for min and max too, whose NaN is the quiet one
///   without a sign; the bits of a sum that is NaN are the processor's. min and max take -0 as less than +0.
/// Accuracy: the additions of a floating-point sum form a tree that depends on the type, the shape and the address of
///   `in` modulo 16 alone: every run gives the same bits, and so does every GPU ("simt" included). Of a sum of n
///   elements no element passes through more than 48 + n / (32 t) additions, t being the elements of a tile (44 KiB of
///   elements of up to 4 bytes, 40 of 8, 16 of 16 bytes; with segments or packed short rows 32, 20 and 12 KiB): that
///   number times the rounding unit times the sum of the absolute values bounds the error. On the CPU the number is
///   4110 + n / t for float and double, 2 t + n / t for halves and complex numbers, t being the elements of 128 KiB.
/// Units: 2 * rows * cols * sizeof(T) bytes are moved (half as many again with two passes). Rows shorter than a tile
///   that are not packed take a tile's time each: pack them, or scan segments.
/// Memory: device memory, aligned to sizeof(T), complex numbers too; best speed where rows begin at multiples of 16
///   bytes in both. `out` may be `in` (with the same leading dimension); otherwise they must not overlap. `scratch` has
///   `scan_scratch_bytes`, 16-byte aligned; what it holds before does not matter, and it is free for others in stream
///   order.
/// Order: asynchronous in `stream`: a clearing of the scratch and a kernel (another of each with two passes; a kernel
///   more with segments or packed short rows). No synchronisation, no allocation.
/// Throws: invalid_argument, before anything is launched; unsupported (more than 2^31 tiles; blocks have too little
///   shared memory); launch_failed.
/// Source: Merrill and Garland, 2016, Single-pass Parallel Prefix Scan with Decoupled Look-back.
template <class T>
void scan(stream_ref stream, const T* in, T* out, const scan_shape& shape, void* scratch, std::size_t scratch_bytes,
          const scan_options& options = {}) {
  scan_elements(stream, in, out, element_type_of<T>, shape, scratch, scratch_bytes, options);
}

/// `scan` with the scratch as a buffer.
template <class T>
void scan(stream_ref stream, const T* in, T* out, const scan_shape& shape, const raw_buffer& scratch,
          const scan_options& options = {}) {
  scan_elements(stream, in, out, element_type_of<T>, shape, scratch.data(), scratch.size_bytes(), options);
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
void scan_segments(stream_ref stream, const T* in, T* out, std::int64_t count, const std::int64_t* offsets,
                   std::int64_t segments, void* scratch, std::size_t scratch_bytes, const scan_options& options = {}) {
  scan_segments_elements(stream, in, out, element_type_of<T>, count, offsets, segments, scratch, scratch_bytes,
                         options);
}

}  // namespace twill
