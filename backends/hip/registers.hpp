#pragma once

// Values that a compiler must keep in registers; see backends/cuda/registers.hpp for what the names mean. AMD's
// compilers need help where an address is chosen, or where vectors and their elements share memory.

#include "device.hpp"

#if defined(__HIP_PLATFORM_NVIDIA__)

#include "backends/cuda/registers.hpp"

namespace twill::hip {
using cuda::blocks_of_accumulators, cuda::compute_separately, cuda::keep_in_order;
using cuda::compute_in_loop, cuda::keeps_arrays_in_registers, cuda::recompute_from;
}  // namespace twill::hip

#else

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace twill::hip {

/// No bound: registers beyond the share of a least number of waves would be spilled.
constexpr int blocks_of_accumulators(int /*threads*/, int /*wanted*/) {
  return 1;
}

template <int I, class From>
__device__ __forceinline__ std::uint32_t word_at(const From& from) {
  if constexpr (std::is_same_v<From, word16>) {
    return word<I>(from);
  } else {
    std::uint32_t to;
    memcpy(&to, reinterpret_cast<const unsigned char*>(&from) + 4 * I, 4);
    return to;
  }
}
template <class To>
__device__ __forceinline__ void set_word(To& to, int at, std::uint32_t from) {
  memcpy(reinterpret_cast<unsigned char*>(&to) + at, &from, 4);
}
template <class To, class From, int... Words>
__device__ __forceinline__ void copy_words(To& to, const From& from, std::integer_sequence<int, Words...>) {
  if constexpr (std::is_same_v<To, word16>) {
    to = make_word16(word_at<Words>(from)...);
  } else {
    (set_word(to, 4 * Words, word_at<Words>(from)), ...);
  }
}

/// By words: vectors whose bytes are also stored one by one stay in registers only if words are their widest accesses.
template <class To, class From>
__device__ __forceinline__ void copy_bits(To& to, const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  if constexpr (sizeof(To) % 4 == 0) {
    copy_words(to, from, std::make_integer_sequence<int, sizeof(To) / 4>());
  } else {
    memcpy(&to, &from, sizeof to);
  }
}

/// By words: `?:` on structures chooses an address.
template <class T>
__device__ __forceinline__ T choose(bool first, const T& a, const T& b) {
  if constexpr (std::is_arithmetic_v<T>) {
    return first ? a : b;
  } else {
    struct words {
      std::uint32_t word[sizeof(T) / 4];
    } x, y;
    static_assert(sizeof x == sizeof a);
    copy_bits(x, a);
    copy_bits(y, b);
#pragma unroll
    for (unsigned i = 0; i < sizeof(T) / 4; ++i) x.word[i] = first ? x.word[i] : y.word[i];
    T to;
    copy_bits(to, x);
    return to;
  }
}

/// Without a branch on the condition, in which an index that was compared with a variable would become that variable.
template <class T>
__device__ __forceinline__ void assign_if(bool when, T& to, const T& from) {
  to = choose(when, from, to);
}

inline constexpr bool keeps_arrays_in_registers = false;

template <class T>
__device__ __forceinline__ void compute_in_loop(T& value) {
  asm volatile("" : "+s"(value));
}

__device__ __forceinline__ void recompute_from(word16& words) {
  asm volatile("" : "+v"(words.x), "+v"(words.y), "+v"(words.z), "+v"(words.w));
}

template <class T>
__device__ __forceinline__ void compute_separately(T& value) {
  asm volatile("" : "+v"(value));
}

__device__ __forceinline__ void keep_in_order() {
  __builtin_amdgcn_sched_barrier(0);
}

}  // namespace twill::hip

#endif
