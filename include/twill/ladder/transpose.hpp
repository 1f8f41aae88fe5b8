#pragma once

#include <cstdint>
#include <vector>

#include <twill/export.hpp>
#include <twill/extent.hpp>
#include <twill/ladder/rung.hpp>
#include <twill/stream.hpp>

namespace twill {

/// The rungs of the transpose ladder that this device has, in order, references last.
TWILL_API std::vector<rung> transpose_rungs(const device& on);

/// The blocks that rung `name` can run with on this device for elements of `element_bytes`.
/// Empty when it has no blocks (memcpy, tuned, CPU rungs). The teaching kernels are compiled for all blocks with
/// elements of 4 bytes, and for 32 x 8 with the others. Throws: invalid_argument for an unknown rung.
TWILL_API std::vector<block_shape> transpose_rung_blocks(const device& on, std::string_view name, extent element_bytes);

/// Runs one rung on a packed `rows` x `cols` matrix.
///
/// Shape: `in` and `out` hold rows * cols elements; extents may be 0.
/// Units: 2 * rows * cols * element_bytes bytes are moved for each repeat.
/// Memory: device memory, aligned to `element_bytes` (1, 2, 4, 8 or 16); `in` and `out` must not overlap.
/// Order: asynchronous in `stream`. May be called from several threads, on different streams; capture in a graph is
///   not promised.
/// Throws: invalid_argument (unknown rung, wrong element size, block the rung does not have, null, misaligned or
///   overlapping pointers, negative or overflowing extents); unsupported (a block that the rung is
///   not compiled for with such elements, the device's limits); launch_failed.
TWILL_API void transpose_rung(stream_ref stream, std::string_view name, const void* in, void* out, extent element_bytes,
                              extent rows, extent cols, const rung_options& options = {});

}  // namespace twill
