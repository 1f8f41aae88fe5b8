#pragma once

#include <vector>

#include <twill/export.hpp>
#include <twill/extent.hpp>
#include <twill/ladder/rung.hpp>
#include <twill/permute.hpp>
#include <twill/stream.hpp>

namespace twill {

/// What twill::permute is compared with on this device: the vendor's tensor library, where it is found at run time.
TWILL_API std::vector<rung> permute_rungs(const device& on);

/// Runs one of them on a packed array.
///
/// Shape: as of permute, without strides; extents may be 0.
/// Units: 2 * (product of the extents) * element_bytes bytes are moved for each repeat.
/// Memory: device memory, aligned to `element_bytes`; `in` and `out` must not overlap. Normal floating-point numbers of
///   that size arrive unchanged; a library that calculates may change others.
/// Order: asynchronous in `stream`. The first run of a shape makes a plan, which the next runs of it use. May
///   be called from several threads, on different streams; capture in a graph is not promised.
/// Throws: invalid_argument (unknown rung, what permute refuses, null or overlapping pointers); unsupported (strides,
///   an element size that the library does not have); launch_failed.
TWILL_API void permute_rung(stream_ref stream, std::string_view name, const void* in, void* out, extent element_bytes,
                            const permute_shape& shape, const rung_options& options = {});

}  // namespace twill
