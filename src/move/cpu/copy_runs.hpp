#pragma once

#include "backends/cpu/vector.hpp"
#include "move/operations.hpp"

namespace twill::cpu {

/// Below this, runs are moved in tiles.
inline constexpr std::int64_t least_copied_run = 64;

/// A permutation whose runs are copied as they are; past the caches where `streamed_by` is not nullptr.
void copy_runs(const detail::work_queue& queue, const detail::permute_args& args, const vector_functions* streamed_by);

}  // namespace twill::cpu
