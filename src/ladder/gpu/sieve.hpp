#pragma once

// The segmented sieve of Eratosthenes over odd numbers. A block holds the bits of a segment in shared memory, marks
// the multiples of all sieving primes up to the square root of its end, and writes bits, a count or the primes.

#include <cstdint>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

inline constexpr int sieve_threads = 256;
inline constexpr int sieve_words = 8192;                                    // of a segment: 32 KiB
inline constexpr std::int64_t sieve_span = std::int64_t{64} * sieve_words;  // numbers of a segment
inline constexpr int base_words = 512;  // of a step of sieve_base_primes: 2^15 numbers

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

/// n modulo p, for n below 2^40 and p below 2^20: by two quotients of 20 bits, each wrong by one at most in float.
__device__ inline std::uint32_t remainder_of(std::int64_t n, std::uint32_t p) {
  const float inverse = 1.0f / static_cast<float>(p);
  const auto reduced = [&](std::int64_t x) {  // the quotient is below 2^20: 32 bits hold what is left
    const auto quotient = static_cast<std::uint32_t>(static_cast<float>(x) * inverse);
    auto rest = static_cast<std::int32_t>(static_cast<std::uint32_t>(x) - quotient * p);
    if (rest < 0) rest += static_cast<std::int32_t>(p);
    if (rest >= static_cast<std::int32_t>(p)) rest -= static_cast<std::int32_t>(p);
    return static_cast<std::uint32_t>(rest);
  };
  return reduced((static_cast<std::int64_t>(reduced(n >> 20)) << 20) + (n & 0xfffff));
}

/// The first bit to mark for p in the segment of odd numbers after `first`: of p * p or a later odd multiple.
__device__ inline std::int64_t first_bit(std::int64_t first, std::uint32_t p) {
  const std::int64_t square = static_cast<std::int64_t>(p) * p;
  if (square > first) return (square - first - 1) / 2;
  const std::uint32_t rest = remainder_of(first + 1, p), short_of = rest == 0 ? 0 : p - rest;
  return (short_of % 2 == 0 ? short_of : short_of + p) / 2;
}

__device__ inline void mark_multiples(std::uint32_t* segment, std::uint32_t bits, std::int64_t bit,
                                      std::uint32_t step) {
  if (bit >= bits) return;
  for (auto i = static_cast<std::uint32_t>(bit); i < bits; i += step) atomic_or(segment + i / 32, 1u << (i % 32));
}

// The odd primes below 32: their multiples are marked a word at a time, from periodic patterns.
inline constexpr int small_primes = 10;
inline constexpr int pattern_words = 158;                  // the sum of these primes
inline constexpr std::uint32_t small_prime_bits = 0xcb6e;  // their own bits in the word of 1 to 63

__device__ constexpr int small_prime(int k) {
  constexpr int primes[small_primes] = {3, 5, 7, 11, 13, 17, 19, 23, 29, 31};
  return primes[k];
}
/// Where the patterns of prime k begin.
__device__ constexpr int pattern_offset(int k) {
  constexpr int begins[small_primes] = {0, 3, 8, 15, 26, 39, 56, 75, 98, 127};
  return begins[k];
}

/// patterns[pattern_offset(k) + r] marks every small_prime(k)-th bit of a word from bit r on.
__device__ inline void write_patterns(std::uint32_t* patterns) {
  for (int word_index = threadIdx.x; word_index < pattern_words; word_index += sieve_threads) {
    int from = 0, p = 3;
#pragma unroll
    for (int k = 1; k < small_primes; ++k) {
      if (word_index < pattern_offset(k)) continue;
      from = pattern_offset(k);
      p = small_prime(k);
    }
    std::uint32_t mask = 0;
    for (int i = word_index - from; i < 32; i += p) mask |= 1u << i;
    patterns[word_index] = mask;
  }
}

/// Writes the words of a segment with the multiples of the small primes.
__device__ inline void mark_small_primes(std::uint32_t* segment, int words, std::int64_t first,
                                         const std::uint32_t* patterns) {
  const int x = threadIdx.x;
  int offset[small_primes];
#pragma unroll
  for (int k = 0; k < small_primes; ++k) {
    const int p = small_prime(k), rest = static_cast<int>((first + 64 * x + 1) % p);
    offset[k] = (p - rest) % p * ((p + 1) / 2) % p;
  }
  for (int w = x; w < words; w += sieve_threads) {
    std::uint32_t mask = 0;
#pragma unroll
    for (int k = 0; k < small_primes; ++k) {
      const int p = small_prime(k), step = p - 32 * sieve_threads % p;
      mask |= patterns[pattern_offset(k) + offset[k]];
      offset[k] += step;
      if (offset[k] >= p) offset[k] -= p;
    }
    segment[w] = first == 0 && w == 0 ? mask & ~small_prime_bits : mask;
  }
}

/// The odd primes up to `limit`, at most 2^20, by one block.
static __global__ void __launch_bounds__(sieve_threads) sieve_base_primes(std::uint32_t* base, int limit) {
  __shared__ std::uint32_t composite[base_words], patterns[pattern_words], sums[sieve_threads];
  const int x = threadIdx.x;
  write_patterns(patterns);
  __syncthreads();
  std::uint32_t found = 0;
  for (int first = 0; first <= limit; first += 64 * base_words) {
    mark_small_primes(composite, base_words, first, patterns);
    __syncthreads();
    for (int p = 37 + 2 * x; p < 1024; p += 2 * sieve_threads) {
      const auto prime = static_cast<std::uint32_t>(p);
      if (is_small_prime(p)) mark_multiples(composite, 32 * base_words, first_bit(first, prime), prime);
    }
    if (first == 0 && x == 0) atomic_or(composite, 1u);  // 1 is no prime
    __syncthreads();
    constexpr int each = 32 * base_words / sieve_threads;
    const auto is_prime = [&](int i) { return (composite[i / 32] >> (i % 32) & 1) == 0 && first + 2 * i + 1 <= limit; };
    std::uint32_t mine = 0, total = 0;
    for (int i = x * each; i < (x + 1) * each; ++i) mine += is_prime(i);
    std::uint32_t at = 1 + found + sum_below(mine, sums, total);
    for (int i = x * each; i < (x + 1) * each; ++i) {
      if (is_prime(i)) base[at++] = static_cast<std::uint32_t>(first + 2 * i + 1);
    }
    found += total;
    __syncthreads();
  }
  if (x == 0) base[0] = found;
}

/// Marks the composites of a segment: small primes by words, then a warp a sieving prime, then a thread a sieving
/// prime.
__device__ inline void sieve_segment(std::uint32_t* segment, std::uint32_t* patterns, std::int64_t first,
                                     const std::uint32_t* base) {
  constexpr int by_warps = 400;  // primes to 2749
  constexpr std::uint32_t bits = 32 * sieve_words;
  const int x = threadIdx.x, lane = x % 32;
  write_patterns(patterns);
  __syncthreads();
  mark_small_primes(segment, sieve_words, first, patterns);
  __syncthreads();
  const int count = static_cast<int>(base[0]);
  for (int k0 = small_primes + x / 32; k0 < by_warps && k0 < count; k0 += sieve_threads) {
    // Each lane finds the first multiple of one prime; then the warp marks them prime by prime. Primes are assigned to
    // warps cyclically: smaller ones are more work.
    const int k = k0 + sieve_threads / 32 * lane;
    const bool mine = k < by_warps && k < count;
    const std::uint32_t own = mine ? base[1 + k] : 3;
    const std::int64_t bit = mine ? first_bit(first, own) : bits;
    const std::uint32_t own_bit = bit < bits ? static_cast<std::uint32_t>(bit) : bits;
    for (int i = 0; i < 32; ++i) {
      const std::uint32_t p = shuffle(own, i);
      mark_multiples(segment, bits, shuffle(own_bit, i) + p * lane, 32 * p);
    }
  }
  const std::int64_t end = first + sieve_span;
  for (int k = by_warps + x; k < count; k += sieve_threads) {
    const std::uint32_t p = base[1 + k];
    if (static_cast<std::int64_t>(p) * p >= end) break;
    mark_multiples(segment, bits, first_bit(first, p), p);
  }
  __syncthreads();
}

/// The bits of primes in word w of a segment.
__device__ inline std::uint32_t primes_of(const std::uint32_t* segment, std::int64_t first, int w, std::int64_t last) {
  const std::int64_t at = first + 64 * static_cast<std::int64_t>(w);
  std::uint32_t primes = ~segment[w];
  if (at == 0 && last <= 2) primes &= ~1u;    // bit 0 stands for 2
  const std::int64_t odds = (last - at) / 2;  // odd numbers below `last`
  if (odds <= 0) return 0;
  return odds < 32 ? primes & ((1u << odds) - 1) : primes;
}

/// Population count.
__device__ inline std::uint32_t ones(std::uint32_t bits) {
  bits -= bits >> 1 & 0x55555555u;
  bits = (bits & 0x33333333u) + (bits >> 2 & 0x33333333u);
  return ((bits + (bits >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

/// A block a segment; dynamic shared memory of sieve_words words.
static __global__ void __launch_bounds__(sieve_threads) sieve_segments(sieve_problem p) {
  __shared__ std::uint32_t sums[sieve_threads], patterns[pattern_words];
  std::uint32_t* segment = dynamic_shared<std::uint32_t>();
  const std::int64_t first = p.first + static_cast<std::int64_t>(blockIdx.x) * sieve_span;
  const int x = threadIdx.x;
  constexpr int each = sieve_words / sieve_threads;
  sieve_segment(segment, patterns, first, p.base);
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
