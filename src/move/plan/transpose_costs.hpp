#pragma once

// What the kernels that transpose matrices cost, each on a shape that it applies to.

#include <cstdint>

#include "device_model.hpp"
#include "matrices.hpp"

namespace twill::detail {

/// Microseconds of a launch, and then as long as the slower one takes: memory and instructions, or the blocks, of which
/// each multiprocessor runs some at once.
struct transpose_cost {
  double launch, factor;  // us; of the time of a copy
  std::int64_t blocks = 0;
  double at_once = 1, block_us = 0;  // blocks of a multiprocessor; what one of them takes
};

transpose_cost narrow_cost(const matrices& m);
transpose_cost tiled_2d_cost(const matrices& m);
transpose_cost tiled_4byte_cost(const matrices& m, const device_model& device);
transpose_cost misaligned_2d_cost(const matrices& m);
transpose_cost staged_cost(const matrices& m);
transpose_cost staged_misaligned_cost(const matrices& m, const device_model& device);
transpose_cost staged_strided_cost(const matrices& m);
transpose_cost staged_rows_cost(const matrices& m, const device_model& device);
transpose_cost staged_cols_cost(const matrices& m, const device_model& device);
transpose_cost elementwise_batch_cost();
transpose_cost vec3_cost(const matrices& m);

}  // namespace twill::detail
