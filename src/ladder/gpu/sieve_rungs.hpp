#pragma once

// The kernels of the sieve ladder. sieve[i] of n ints becomes 1 when i is composite, 0 when it is prime (0 and 1 count
// as composite). Several threads may knock down the same number: they store the same value, relaxed.

#include <cstdint>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// Clears the flags, except those of 0 and 1.
template <int X>
__global__ void __launch_bounds__(X) sieve_clear(std::int32_t* sieve, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * X + threadIdx.x;
  if (i < n) sieve[i] = i < 2 ? 1 : 0;
}

/// A thread a knocker: knocks down all multiples of it in global memory. The seed starts sqrt(n) threads as one block,
/// which ends at 1024 of them, and leaves out sqrt(n) itself; here there are as many blocks as it takes.
template <int X>
__global__ void __launch_bounds__(X) sieve_naive(std::int32_t* sieve, std::int64_t n) {
  const std::int64_t knocker = static_cast<std::int64_t>(blockIdx.x) * X + threadIdx.x;
  if (knocker < 2 || knocker * knocker >= n) return;
  for (std::int64_t i = 2 * knocker; i < n; i += knocker) store_relaxed(sieve + i, 1);
}

/// A block a part of `Part` numbers, held in shared memory; a thread takes every X-th knocker. Mended from the seed's
/// "almost correct" kernel: the part begins at blockIdx times its size (not at the same place for all blocks), knockers
/// begin at 2 and go on to the root of the part's end (not to the width of the block), none knocks down itself, and the
/// flags are written back after a barrier.
template <int X, int Part>
__global__ void __launch_bounds__(X) sieve_shared(std::int32_t* sieve, std::int64_t n) {
  __shared__ std::int32_t part[Part];
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * Part, end = first + Part < n ? first + Part : n;
  for (int i = threadIdx.x; i < Part; i += X) part[i] = first + i < 2 ? 1 : 0;
  __syncthreads();
  for (std::int64_t knocker = 2 + threadIdx.x; knocker * knocker < end; knocker += X) {
    const std::int64_t at_first = (first + knocker - 1) / knocker * knocker;
    for (std::int64_t i = at_first > knocker ? at_first : 2 * knocker; i < end; i += knocker)
      store_relaxed(part + (i - first), 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < Part && first + i < n; i += X) sieve[first + i] = part[i];
}

}  // namespace twill::TWILL_BACKEND::kernels
