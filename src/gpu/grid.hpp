#pragma once

// The grids of data movement, which are rectangles.

#include <cstdint>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// Linear index of the block in a 2-D grid made by grid_of; 64 bits, since callers multiply it.
__device__ inline std::int64_t block_index() {
  return static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
}

}  // namespace twill::TWILL_BACKEND::kernels
