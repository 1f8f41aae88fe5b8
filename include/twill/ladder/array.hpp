#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <twill/element.hpp>
#include <twill/export.hpp>
#include <twill/extent.hpp>
#include <twill/ladder/rung.hpp>
#include <twill/scratch.hpp>
#include <twill/stream.hpp>

namespace twill {

/// The rungs of the ladder of `op` that this device has, in order, references last. Ladders over arrays:
///   "scan"       out[i] = in[0] + ... + in[i - 1], of i32, u32, f32 or f64
///   "reverse"    out[i] = in[count - 1 - i], of any type
///   "increment"  out[i] = in[i] + 1, of i32, u32, f32 or f64
///   "sieve"      out[i], an i32, is 0 where i is prime and else 1, for i below count; `in` is not read. The rungs
///                `tuned`, `cpu-tuned` and `cpu-segmented` leave the bits of twill::sieve_bits instead.
/// Throws: invalid_argument for another op.
TWILL_API std::vector<rung> array_rungs(const device& on, std::string_view op);

/// The blocks that a rung can run with on this device: {256, 1} and the like. Empty when it has no blocks.
/// Throws: invalid_argument for an unknown op or rung, or a type that the ladder does not take.
TWILL_API std::vector<block_shape> array_rung_blocks(const device& on, std::string_view op, std::string_view name,
                                                     element_type type);

/// Bytes of scratch memory that any rung of `op` needs. Throws: invalid_argument.
TWILL_API std::size_t array_rung_scratch_bytes(const device& on, std::string_view op, element_type type, extent count);

/// Runs one rung.
///
/// Shape: `count` elements, which may be 0.
/// Units: 2 * count * element_bytes(type) bytes are moved for each repeat, half as many by a sieve.
/// Memory: device memory; `in`, `out` and `scratch` are aligned to 16 bytes and disjoint. `scratch` may hold anything.
/// Order: asynchronous in `stream`. A rung of several launches repeats them all. May be called from several
///   threads, on different streams with a scratch each; capture in a graph is not promised.
/// Throws: invalid_argument (unknown op, rung, type or block, scratch too small, null, misaligned or overlapping
///   pointers, a negative count); unsupported (the device's limits); launch_failed.
TWILL_API void array_rung(stream_ref stream, std::string_view op, std::string_view name, const void* in, void* out,
                          element_type type, extent count, scratch_ref scratch, const rung_options& options = {});

}  // namespace twill
