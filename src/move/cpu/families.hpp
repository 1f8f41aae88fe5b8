#pragma once

// The ways in which the CPU moves data, each defined in the file of its family.

#include "backends/cpu/vector.hpp"
#include "move/operations.hpp"

namespace twill::cpu {

/// Whether matrices go from the input to the output without a composite tile: narrow ones, those whose output rows are
/// whole lines, and those that stay in the caches.
bool transposes_directly(const detail::transpose_args& args);
void transpose_directly(const detail::work_queue& queue, const detail::transpose_args& args);

/// Below this, runs are moved in tiles.
inline constexpr std::int64_t least_copied_run = 64;

/// A permutation whose runs are copied as they are; past the caches where `streamed_by` is not nullptr.
void copy_runs(const detail::work_queue& queue, const detail::permute_args& args, const vector_functions* streamed_by);

/// Moves elements of `bytes` bytes from a table of offsets: element i of `out`, which is packed, is the one at
/// `in + offsets[i]`.
using gather_function = void (*)(const unsigned char* in, unsigned char* out, const std::int64_t* offsets,
                                 std::int64_t count, std::int64_t bytes);

/// Where the last element is the furthest of all, as `last_is_furthest` says, a power of two of bytes is moved for each
/// of the others.
gather_function gather_of(std::int64_t element_bytes, bool last_is_furthest);

/// Rectangular matrices in place, by passes over rows and columns: needs scratch for the longer of a row and a column.
void transpose_by_passes(const detail::work_queue& queue, const detail::transpose_in_place_args& args);

}  // namespace twill::cpu
