#pragma once

// What kernels are written in, for the simulated device. backends/cuda and backends/hip give the same names the same
// meaning; threadIdx, blockIdx, blockDim and gridDim come from identity.hpp.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <twill/element.hpp>

#include "identity.hpp"
#include "reported_access.hpp"

#define __global__
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
/// One for each OS thread: it runs one block at a time. Aligned to two rows of 32 banks, so that no count depends on
/// where a linker puts it.
#define __shared__ alignas(256) static thread_local
/// A macro, so that the call lies on the kernel's line.
#define __syncthreads() ::twill::simt::block_barrier()

namespace twill::simt {

/// The dynamic shared memory of the block, 256-byte aligned.
template <class T>
inline T* dynamic_shared() {
  static_assert(alignof(T) <= 16, "dynamic shared memory is 16-byte aligned on GPUs");
  return static_cast<T*>(running.shared);
}

template <class T, class... Before>
inline const T& argument_after(T& argument, const Before&...) {
  return argument;
}

inline constexpr int argument_unroll = 1;

/// Launch bounds are nothing here.
constexpr int blocks_at_once(int, int wanted) {
  return wanted;
}

// Programmatic dependent launch: launches do not overlap here (wait_for_previous_kernel is in identity.hpp).

inline void trigger_dependent_launch() {}

// Shuffles: all 32 lanes of a logical warp take part, or as many as its block has. T has 4 or 8 bytes.

template <class T>
inline constexpr bool can_shuffle = std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

/// The value of lane `source`; the caller's own where there is none.
template <class T>
inline T from_lane(T value, unsigned source) {
  static_assert(can_shuffle<T>);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = warp_exchange(bits, source);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline unsigned this_lane() {
  return running.thread % warp_lanes;
}

/// The value of lane `lane` % 32.
template <class T>
inline T shuffle(T value, int lane) {
  return from_lane(value, static_cast<unsigned>(lane) % warp_lanes);
}
/// The value of the lane `delta` (0 to 31) below; a lane's own where there is none.
template <class T>
inline T shuffle_up(T value, unsigned delta) {
  return from_lane(value, this_lane() - delta);
}
/// The value of the lane `delta` (0 to 31) above; a lane's own where there is none.
template <class T>
inline T shuffle_down(T value, unsigned delta) {
  return from_lane(value, this_lane() + delta);
}
/// The value of the lane whose number differs in the bits of `mask` (0 to 31).
template <class T>
inline T shuffle_xor(T value, int mask) {
  return from_lane(value, this_lane() ^ static_cast<unsigned>(mask));
}

/// Blocks take tickets: accesses would depend on how long the blocks of other host threads take.
inline constexpr bool prefers_index_to_ticket = false;

/// Whether a condition holds in any of the 32 lanes.
inline bool any_lane(bool condition) {
  std::uint32_t found = condition ? 1 : 0;
  for (int d = 1; d < 32; d *= 2) found |= shuffle_xor(found, d);
  return found != 0;
}

// Words and bytes

/// 16 bytes that move in one access.
using word16 = std::uint32_t __attribute__((vector_size(16)));

/// 32-bit word I of four, in the order of memory.
template <int I>
inline std::uint32_t word(word16 words) {
  static_assert(I >= 0 && I < 4);
  return words[I];
}
inline word16 make_word16(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return word16{a, b, c, d};
}

/// A load with the L2 prefetch size hint of a GPU; here a plain load.
template <int Around, class T>
inline T load_prefetch_l2(const T* from) {
  static_assert(Around == 128 || Around == 256);
  return *from;
}

inline constexpr bool copies_are_asynchronous = false;
enum class copy_cache { l1_and_l2, l2 };

/// Copies vectors to shared memory: begin a batch of copies, then call end_copy_to_shared() for each.
template <int Around, copy_cache Cache = copy_cache::l1_and_l2>
inline void begin_copy_to_shared(word16*, word16& held, const word16* from) {
  held = *from;
}
inline void end_copy_to_shared(word16* to, const word16& held) {
  *to = held;
}
inline void wait_for_copies() {}

/// Four of the eight bytes of a (0 to 3, lowest first) and b (4 to 7), one named by the low three bits of each of
/// `selector`'s low four nibbles.
inline std::uint32_t byte_permute(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(b) << 32 | a;
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned from = selector >> (4 * i) & 7;
    result |= (static_cast<std::uint32_t>(bytes >> (8 * from)) & 0xffu) << (8 * i);
  }
  return result;
}

/// Bytes `at` % 4 to `at` % 4 + 3 of `low` followed by `high`.
inline std::uint32_t funnel_shift(std::uint32_t low, std::uint32_t high, std::uint32_t at) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(high) << 32 | low) >> (8 * (at & 3)));
}

/// Minima of the corresponding unsigned 16-bit halves: one instruction on the newest of the simulated GPUs.
inline constexpr bool has_packed_min = true;
inline std::uint32_t packed_min(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t low = (a & 0xffffu) < (b & 0xffffu) ? a : b, high = a >> 16 < b >> 16 ? a : b;
  return (high & 0xffff0000u) | (low & 0xffffu);
}

/// `at` rounded down to a multiple of `Of`, a power of two.
template <int Of>
inline const unsigned char* rounded_down(const unsigned char* at) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<const unsigned char*>(reinterpret_cast<std::uintptr_t>(at) & ~std::uintptr_t{Of - 1});
}

/// A hint, which nothing comes of here.
inline void prefetch(const void* /*at*/) {}

/// The number that the 16 bits of an IEEE half stand for, and the half nearest to a number (ties to even).
inline float float_from_half(std::uint16_t half) {
  float16 value;
  value.bits = half;
  return static_cast<float>(value);
}
inline std::uint16_t half_from_float(float value) {
  return float16(value).bits;
}

// Atomics on integers of 4 or 8 bytes: device scope, relaxed. Each returns what was there. Functions of their own, so
// that an access has its place where it is called.

template <class T>
inline constexpr bool is_atomic_word = std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

template <class T>
[[gnu::noinline]] T atomic_add(T* at, T value) {
  static_assert(is_atomic_word<T>);
  const reported_access report(at, sizeof(T), access_kind::atomic, __builtin_return_address(0));
  return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}
template <class T>
[[gnu::noinline]] T atomic_or(T* at, T value) {
  static_assert(is_atomic_word<T>);
  const reported_access report(at, sizeof(T), access_kind::atomic, __builtin_return_address(0));
  return __atomic_fetch_or(at, value, __ATOMIC_RELAXED);
}
template <class T>
[[gnu::noinline]] T atomic_exchange(T* at, T value) {
  static_assert(is_atomic_word<T>);
  const reported_access report(at, sizeof(T), access_kind::atomic, __builtin_return_address(0));
  return __atomic_exchange_n(at, value, __ATOMIC_RELAXED);
}
/// Writes `desired` where `expected` is found.
template <class T>
[[gnu::noinline]] T atomic_cas(T* at, T expected, T desired) {
  static_assert(is_atomic_word<T>);
  const reported_access report(at, sizeof(T), access_kind::atomic, __builtin_return_address(0));
  __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
template <class T>
[[gnu::noinline]] T atomic_min(T* at, T value) {
  static_assert(is_atomic_word<T>);
  const reported_access report(at, sizeof(T), access_kind::atomic, __builtin_return_address(0));
  T seen = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (value < seen && !__atomic_compare_exchange_n(at, &seen, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return seen;
}
template <class T>
[[gnu::noinline]] T atomic_max(T* at, T value) {
  static_assert(is_atomic_word<T>);
  const reported_access report(at, sizeof(T), access_kind::atomic, __builtin_return_address(0));
  T seen = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (seen < value && !__atomic_compare_exchange_n(at, &seen, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return seen;
}

// Words of 4 or 8 bytes in global memory that other blocks read and write meanwhile: device scope.

/// The calling thread's accesses before come before those after, for every thread of the device.
inline void thread_fence() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

template <class T>
[[gnu::noinline]] T load_relaxed(const T* from) {
  static_assert(is_atomic_word<T>);
  const reported_access report(from, sizeof(T), access_kind::atomic_load, __builtin_return_address(0));
  return __atomic_load_n(from, __ATOMIC_RELAXED);
}
/// Two words side by side, at a multiple of 16 bytes: each is loaded as by load_relaxed.
template <class Word>
[[gnu::noinline]] void load_relaxed_pair(const Word* from, Word& first, Word& second) {
  static_assert(std::is_same_v<Word, std::uint64_t>);
  const reported_access report(from, 2 * sizeof(Word), access_kind::atomic_load, __builtin_return_address(0));
  first = __atomic_load_n(from, __ATOMIC_RELAXED);
  second = __atomic_load_n(from + 1, __ATOMIC_RELAXED);
}
template <class T>
[[gnu::noinline]] void store_relaxed(T* to, T value) {
  static_assert(is_atomic_word<T>);
  const reported_access report(to, sizeof(T), access_kind::atomic_store, __builtin_return_address(0));
  __atomic_store_n(to, value, __ATOMIC_RELAXED);
}
/// Two words side by side, at a multiple of 16 bytes: each is stored as by store_relaxed.
template <class Word>
[[gnu::noinline]] void store_relaxed_pair(Word* to, Word first, Word second) {
  static_assert(std::is_same_v<Word, std::uint64_t>);
  const reported_access report(to, 2 * sizeof(Word), access_kind::atomic_store, __builtin_return_address(0));
  __atomic_store_n(to, first, __ATOMIC_RELAXED);
  __atomic_store_n(to + 1, second, __ATOMIC_RELAXED);
}
/// What the thread that stored the value wrote before `store_release` is seen after this load.
template <class T>
[[gnu::noinline]] T load_acquire(const T* from) {
  static_assert(is_atomic_word<T>);
  const reported_access report(from, sizeof(T), access_kind::atomic_load, __builtin_return_address(0));
  return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}
template <class T>
[[gnu::noinline]] void store_release(T* to, T value) {
  static_assert(is_atomic_word<T>);
  const reported_access report(to, sizeof(T), access_kind::atomic_store, __builtin_return_address(0));
  __atomic_store_n(to, value, __ATOMIC_RELEASE);
}

/// Adds one; what this thread wrote before is seen by those who find its addition, and what they wrote by this thread.
template <class Word>
[[gnu::noinline]] Word take_ticket(Word* at) {
  static_assert(std::is_same_v<Word, std::uint32_t>);
  const reported_access report(at, sizeof(Word), access_kind::atomic, __builtin_return_address(0));
  return __atomic_fetch_add(at, Word{1}, __ATOMIC_ACQ_REL);
}

}  // namespace twill::simt
