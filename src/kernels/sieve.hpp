#pragma once

// The segmented sieve of Eratosthenes over odd numbers. A block holds the bits of a segment in shared memory, knocks
// down the multiples of all primes to the root of its end, and writes bits, a count or the primes themselves.

#include <cstdint>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

inline constexpr int sieve_threads = 256;
inline constexpr int sieve_words = 8192;                                    // of a segment: 32 KiB
inline constexpr std::int64_t sieve_span = std::int64_t{64} * sieve_words;  // numbers of a segment
inline constexpr int base_odds = 16384;                                     // odd numbers of a step of base_primes

struct sieve_problem {
  std::int64_t first, last;
  std::uint32_t* base;    ///< how many odd primes, then those primes
  std::uint32_t* bits;    ///< or null
  std::uint64_t* counts;  ///< of each segment, or null; for a list, how many come before it
  std::uint64_t* list;    ///< or null
  std::int64_t capacity;
};

__device__ inline bool is_small_prime(int n) {
  for (int d = 3; d * d <= n; d += 2) {
    if (n % d == 0) return false;
  }
  return true;
}

/// The number of threads below this one in the block for which `mine` was given, summed; `total` gets all. The block
/// takes part.
__device__ inline std::uint32_t sum_below(std::uint32_t mine, std::uint32_t (&sums)[sieve_threads],
                                          std::uint32_t& total) {
  const int x = threadIdx.x;
  sums[x] = mine;
  __syncthreads();
  for (int d = 1; d < sieve_threads; d *= 2) {
    const std::uint32_t below = x >= d ? sums[x - d] : 0;
    __syncthreads();
    sums[x] += below;
    __syncthreads();
  }
  total = sums[sieve_threads - 1];
  const std::uint32_t upto = sums[x];
  __syncthreads();
  return upto - mine;
}

/// The odd primes up to `limit`, at most 2^20, by one block.
static __global__ void __launch_bounds__(sieve_threads) sieve_base_primes(std::uint32_t* base, int limit) {
  __shared__ std::uint8_t composite[base_odds];
  __shared__ std::uint32_t sums[sieve_threads];
  const int x = threadIdx.x;
  std::uint32_t found = 0;
  for (int first = 1; first <= limit; first += 2 * base_odds) {  // flag i is of first + 2 i
    for (int i = x; i < base_odds; i += sieve_threads) composite[i] = first + 2 * i == 1;
    __syncthreads();
    for (int p = 3 + 2 * x; p < 1024; p += 2 * sieve_threads) {
      if (!is_small_prime(p)) continue;
      int multiple = (first + p - 1) / p * p;
      if (multiple < p * p) multiple = p * p;
      if (multiple % 2 == 0) multiple += p;
      for (int i = (multiple - first) / 2; i < base_odds; i += p) composite[i] = 1;
    }
    __syncthreads();
    constexpr int each = base_odds / sieve_threads;
    std::uint32_t mine = 0, total = 0;
    for (int i = x * each; i < (x + 1) * each; ++i) mine += composite[i] == 0 && first + 2 * i <= limit;
    std::uint32_t at = 1 + found + sum_below(mine, sums, total);
    for (int i = x * each; i < (x + 1) * each; ++i) {
      if (composite[i] == 0 && first + 2 * i <= limit) base[at++] = static_cast<std::uint32_t>(first + 2 * i);
    }
    found += total;
    __syncthreads();
  }
  if (x == 0) base[0] = found;
}

/// Odd multiples of p in the word of the 64 numbers from `first` on, but p itself.
__device__ inline std::uint32_t small_multiples(std::int64_t first, int p) {
  std::int64_t multiple = (first / p + 1) * p;
  if (multiple % 2 == 0) multiple += p;
  std::uint32_t mask = 0;
  for (int i = static_cast<int>((multiple - first) / 2); i < 32; i += p) {
    if (first + 2 * i + 1 != p) mask |= 1u << i;
  }
  return mask;
}

/// Knocks down the odd multiples of p from p * p on in the segment at `first`, every `step`-th from number `start` on.
__device__ inline void knock_down(std::uint32_t* segment, std::int64_t first, std::int64_t p, int start, int step) {
  std::int64_t multiple = p * p;
  if (multiple < first) {
    multiple = (first + p - 1) / p * p;
    if (multiple % 2 == 0) multiple += p;
  }
  const std::int64_t bit = (multiple - first) / 2 + start * p;
  if (bit >= sieve_words * 32) return;
  for (std::uint32_t i = static_cast<std::uint32_t>(bit); i < sieve_words * 32;
       i += static_cast<std::uint32_t>(p * step)) {
    atomic_or(segment + i / 32, 1u << (i % 32));
  }
}

/// Fills the segment with the bits of composites: small primes by words, then a warp a prime, then a thread a prime.
__device__ inline void sieve_segment(std::uint32_t* segment, std::int64_t first, const std::uint32_t* base) {
  constexpr int by_words = 10;   // 3 to 31
  constexpr int by_warps = 400;  // to 2749
  const int x = threadIdx.x;
  constexpr int small[by_words] = {3, 5, 7, 11, 13, 17, 19, 23, 29, 31};
  for (int w = x; w < sieve_words; w += sieve_threads) {
    std::uint32_t mask = 0;
    for (int k = 0; k < by_words; ++k) mask |= small_multiples(first + 64 * static_cast<std::int64_t>(w), small[k]);
    segment[w] = mask;
  }
  __syncthreads();
  const int count = static_cast<int>(base[0]);
  const std::int64_t end = first + sieve_span;
  for (int k = by_words + x / 32; k < by_warps && k < count; k += sieve_threads / 32) {
    const std::int64_t p = base[1 + k];
    if (p * p < end) knock_down(segment, first, p, x % 32, 32);
  }
  for (int k = by_warps + x; k < count; k += sieve_threads) {
    const std::int64_t p = base[1 + k];
    if (p * p < end) knock_down(segment, first, p, 0, 1);
  }
  __syncthreads();
}

/// The bits of primes in word w of a segment.
__device__ inline std::uint32_t primes_of(const std::uint32_t* segment, std::int64_t first, int w, std::int64_t last) {
  const std::int64_t at = first + 64 * static_cast<std::int64_t>(w);
  std::uint32_t primes = ~segment[w];
  if (at == 0 && last <= 2) primes &= ~1u;    // 2 takes the place of 1
  const std::int64_t odds = (last - at) / 2;  // odd numbers below `last`
  if (odds <= 0) return 0;
  return odds < 32 ? primes & ((1u << odds) - 1) : primes;
}

__device__ inline std::uint32_t ones(std::uint32_t bits) {
  std::uint32_t count = 0;
  for (; bits != 0; bits &= bits - 1) ++count;
  return count;
}

/// A block a segment; dynamic shared memory of sieve_words words.
static __global__ void __launch_bounds__(sieve_threads) sieve_segments(sieve_problem p) {
  __shared__ std::uint32_t sums[sieve_threads];
  std::uint32_t* segment = dynamic_shared<std::uint32_t>();
  const std::int64_t first = p.first + static_cast<std::int64_t>(blockIdx.x) * sieve_span;
  const int x = threadIdx.x;
  constexpr int each = sieve_words / sieve_threads;
  sieve_segment(segment, first, p.base);
  if (p.bits != nullptr) {
    std::uint32_t* to = p.bits + static_cast<std::int64_t>(blockIdx.x) * sieve_words;
    for (int w = x; w < sieve_words && first + 64 * static_cast<std::int64_t>(w) < p.last; w += sieve_threads) {
      to[w] = primes_of(segment, first, w, p.last);
    }
    return;
  }
  std::uint32_t mine = 0, total = 0;
  for (int w = x * each; w < (x + 1) * each; ++w) mine += ones(primes_of(segment, first, w, p.last));
  std::uint32_t below = sum_below(mine, sums, total);
  if (p.list == nullptr) {
    if (x == 0) p.counts[blockIdx.x] = total;
    return;
  }
  auto at = static_cast<std::int64_t>(p.counts[blockIdx.x] + below);
  for (int w = x * each; w < (x + 1) * each; ++w) {
    std::uint32_t primes = primes_of(segment, first, w, p.last);
    for (int i = 0; i < 32; ++i) {
      if ((primes >> i & 1) == 0) continue;
      const std::int64_t number = first + 64 * static_cast<std::int64_t>(w) + 2 * i + 1;
      if (at < p.capacity) p.list[at] = static_cast<std::uint64_t>(number == 1 ? 2 : number);
      ++at;
    }
  }
}

/// Replaces the counts of segments by how many come before each; all together go to `total`. One block.
static __global__ void __launch_bounds__(sieve_threads)
    sieve_offsets(std::uint64_t* counts, std::int64_t segments, std::uint64_t* total) {
  __shared__ std::uint32_t sums[sieve_threads];
  std::uint64_t before = 0;
  for (std::int64_t first = 0; first < segments; first += sieve_threads) {
    const std::int64_t i = first + threadIdx.x;
    const std::uint32_t mine = i < segments ? static_cast<std::uint32_t>(counts[i]) : 0;
    std::uint32_t all = 0;
    const std::uint32_t below = sum_below(mine, sums, all);
    if (i < segments) counts[i] = before + below;
    before += all;
  }
  if (threadIdx.x == 0) *total = before;
}

}  // namespace twill::TWILL_BACKEND::kernels
