#pragma once

// The kernels of the sieve ladder. sieve[i] of n ints becomes 1 when i is composite, 0 when it is prime (0 and 1 count
// as composite). Several threads may mark the same number: they store the same value, relaxed.

#include <cstdint>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// Clears the flags, except those of 0 and 1.
template <int X>
__global__ void __launch_bounds__(X) sieve_clear(std::int32_t* sieve, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * X + threadIdx.x;
  if (i < n) sieve[i] = i < 2 ? 1 : 0;
}

/// A thread a sieving number p, marking all its multiples in global memory. The seed launches sqrt(n) threads as one
/// block, which ends at 1024, and omits sqrt(n) itself; here the grid is as large as needed.
template <int X>
__global__ void __launch_bounds__(X) sieve_naive(std::int32_t* sieve, std::int64_t n) {
  const std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * X + threadIdx.x;
  if (p < 2 || p * p >= n) return;
  for (std::int64_t i = 2 * p; i < n; i += p) store_relaxed(sieve + i, 1);
}

/// A block a part of `Part` numbers in shared memory; thread x takes the sieving numbers 2 + x, 2 + x + X, ... Fixes
/// the seed's "almost correct" kernel: the part starts at blockIdx times its size, sieving numbers go from 2 to the
/// square root of the part's end, none marks itself, and the flags are written back after a barrier.
template <int X, int Part>
__global__ void __launch_bounds__(X) sieve_shared(std::int32_t* sieve, std::int64_t n) {
  __shared__ std::int32_t part[Part];
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * Part, end = first + Part < n ? first + Part : n;
  for (int i = threadIdx.x; i < Part; i += X) part[i] = first + i < 2 ? 1 : 0;
  __syncthreads();
  for (std::int64_t p = 2 + threadIdx.x; p * p < end; p += X) {
    const std::int64_t at_first = (first + p - 1) / p * p;
    for (std::int64_t i = at_first > p ? at_first : 2 * p; i < end; i += p) store_relaxed(part + (i - first), 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < Part && first + i < n; i += X) sieve[first + i] = part[i];
}

}  // namespace twill::TWILL_BACKEND::kernels
