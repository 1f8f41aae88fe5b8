#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <twill/element.hpp>
#include <twill/export.hpp>
#include <twill/extent.hpp>
#include <twill/ladder/rung.hpp>
#include <twill/scratch.hpp>
#include <twill/stream.hpp>

namespace twill {

/// The rungs of the reduction ladder that this device has, in order, references last. Every rung sums the whole array
/// to one value; those of the teaching documents launch their kernel again over the partial sums until one is left.
TWILL_API std::vector<rung> reduce_rungs(const device& on);

/// The blocks that rung `name` can run with on this device: {256, 1} and the like. Empty when it has no blocks.
/// Throws: invalid_argument for an unknown rung or a type that the ladder does not sum.
TWILL_API std::vector<block_shape> reduce_rung_blocks(const device& on, std::string_view name, element_type type);

/// Bytes of scratch memory that any rung needs to sum `count` elements on this device (`memcpy`: as many as it copies).
/// Throws: invalid_argument.
TWILL_API std::size_t reduce_rung_scratch_bytes(const device& on, std::string_view name, element_type type,
                                                extent count);

/// out[0] = the sum of in[0] to in[count - 1] by one rung of the ladder.
///
/// Shape: `count` elements of i32, u32, i64, u64, f32 or f64; integers wrap around. A count of 0 gives 0 ("read" and
///   "memcpy", which show what memory allows, leave `out` as it is).
/// Units: count * element_bytes(type) bytes are read for each repeat.
/// Memory: device memory; `in`, `out` and `scratch` aligned to 16 bytes and disjoint. `scratch` may hold anything.
/// Order: asynchronous in `stream`. May be called from several threads, on different streams with a scratch each;
///   capture in a graph is not promised.
/// Throws: invalid_argument (unknown rung, type or block, scratch too small, null, misaligned or overlapping pointers,
///   a negative count); unsupported (the device's limits); launch_failed.
/// Source: Harris, 2007, Optimizing Parallel Reduction in CUDA.
TWILL_API void reduce_rung(stream_ref stream, std::string_view name, const void* in, void* out, element_type type,
                           extent count, scratch_ref scratch, const rung_options& options = {});

}  // namespace twill
