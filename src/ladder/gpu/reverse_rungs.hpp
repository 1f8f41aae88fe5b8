#pragma once

// The kernels of the reverse ladder: out[i] = in[n - 1 - i].

#include <cstdint>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// A thread moves one element; a warp stores its elements backwards, still within the same lines.
template <class T>
__global__ void reverse_naive(T* out, const T* in, std::int64_t n, int repeats) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (int r = 0; r < repeats; ++r) {
    if (i < n) out[n - 1 - i] = in[i];
  }
}

/// The block reverses its part in shared memory and stores it forwards. The last part may be short.
template <class T, int X>
__global__ void __launch_bounds__(X) reverse_shared(T* out, const T* in, std::int64_t n, int repeats) {
  __shared__ T part[X];
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * X;
  const int count = n - first < X ? static_cast<int>(n - first) : X, x = threadIdx.x;
  for (int r = 0; r < repeats; ++r) {
    if (r > 0) __syncthreads();
    if (x < count) part[count - 1 - x] = in[first + x];
    __syncthreads();
    if (x < count) out[n - first - count + x] = part[x];
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
