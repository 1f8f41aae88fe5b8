#pragma once

#include <cstdint>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// out[i] = in[i] + 1. The seed increments in place; out of place every repeat gives the same result.
template <class T>
__global__ void increment(T* out, const T* in, std::int64_t n, int repeats) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (int r = 0; r < repeats; ++r) {
    if (i < n) out[i] = in[i] + T{1};
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
