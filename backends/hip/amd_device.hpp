#pragma once

// The kernel vocabulary on AMD GPUs; see backends/cuda/device.hpp for what the names mean.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <hip/hip_runtime.h>

namespace twill::hip {

template <class T>
__device__ inline T* dynamic_shared() {
  static_assert(alignof(T) <= 16, "dynamic shared memory is 16-byte aligned");
  extern __shared__ __attribute__((aligned(16))) unsigned char twill_dynamic_shared[];
  return reinterpret_cast<T*>(twill_dynamic_shared);
}

/// Read where it lies: a compiler that copies it first copies all of it to registers, or to scratch memory. Arguments
/// begin one after another at multiples of their alignment.
template <class T, class... Before>
__device__ __forceinline__ const T& argument_after(const T&, const Before&...) {
  std::size_t place = 0;
  ((place = (place + alignof(Before) - 1) / alignof(Before) * alignof(Before) + sizeof(Before)), ...);
  place = (place + alignof(T) - 1) / alignof(T) * alignof(T);
  const auto* arguments = (const unsigned char*)__builtin_amdgcn_kernarg_segment_ptr();
  return *reinterpret_cast<const T*>(arguments + place);
}

/// Loops over the dimensions of such an argument stay loops: unrolled, they load all of it at once, and spill.
inline constexpr int argument_unroll = 1;

/// Here launch bounds ask for waves on a SIMD (HIP passes them on as amdgpu_waves_per_eu). A compute unit, or RDNA's
/// workgroup processor, has four. Where a lane has 256 registers at most, before gfx90a, only three waves leave each
/// lane what the kernels need, about 70.
constexpr int blocks_at_once(int threads, int wanted) {
#if defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__)
  constexpr int lanes = 32, most = 16;
#elif defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__)
  constexpr int lanes = 64, most = 8;
#else
  constexpr int lanes = 64, most = 3;
#endif
  const int waves = (wanted * (threads / lanes) + 3) / 4;
  return waves < most ? waves : most;
}

// No programmatic dependent launch here: both do nothing.

__device__ inline void wait_for_previous_kernel() {}
__device__ inline void trigger_dependent_launch() {}

// Shuffles have width 32, so that a wave of 64 lanes is two logical warps.

template <class T>
inline constexpr bool can_shuffle = std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

template <class T>
__device__ inline T shuffle(T value, int lane) {
  static_assert(can_shuffle<T>);
  return __shfl(value, lane, 32);
}
template <class T>
__device__ inline T shuffle_up(T value, unsigned delta) {
  static_assert(can_shuffle<T>);
  return __shfl_up(value, delta, 32);
}
template <class T>
__device__ inline T shuffle_down(T value, unsigned delta) {
  static_assert(can_shuffle<T>);
  return __shfl_down(value, delta, 32);
}
template <class T>
__device__ inline T shuffle_xor(T value, int mask) {
  static_assert(can_shuffle<T>);
  return __shfl_xor(value, mask, 32);
}
inline constexpr bool prefers_index_to_ticket = false;  // not measured
__device__ inline bool any_lane(bool condition) {
  const auto lanes = static_cast<std::uint64_t>(__ballot(condition));
  return static_cast<std::uint32_t>(lanes >> (__lane_id() & 32)) != 0;
}

using word16 = uint4;

template <int I>
__device__ inline std::uint32_t word(word16 words) {
  static_assert(I >= 0 && I < 4);
  return I == 0 ? words.x : I == 1 ? words.y : I == 2 ? words.z : words.w;
}
__device__ inline word16 make_word16(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return make_uint4(a, b, c, d);
}

/// No such hint on AMD, whose L2 fetches full lines of 128 bytes.
template <int Around, class T>
__device__ inline T load_prefetch_l2(const T* from) {
  return *from;
}

inline constexpr bool copies_are_asynchronous = false;
enum class copy_cache { l1_and_l2, l2 };

/// Copies vectors to shared memory: begin a batch of copies, then call end_copy_to_shared() for each.
template <int Around, copy_cache Cache = copy_cache::l1_and_l2>
__device__ inline void begin_copy_to_shared(word16*, word16& held, const word16* from) {
  held = *from;
}
__device__ inline void end_copy_to_shared(word16* to, const word16& held) {
  *to = held;
}
__device__ inline void wait_for_copies() {}

/// v_perm_b32 takes its low four bytes from its second operand, and a byte, not a nibble, to name each.
__device__ inline std::uint32_t byte_permute(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint32_t bytes =
      (selector & 0x7u) | (selector & 0x70u) << 4 | (selector & 0x700u) << 8 | (selector & 0x7000u) << 12;
  return __builtin_amdgcn_perm(b, a, bytes);
}

/// v_alignbyte_b32 takes the last two bits of `at`.
__device__ inline std::uint32_t funnel_shift(std::uint32_t low, std::uint32_t high, std::uint32_t at) {
  return __builtin_amdgcn_alignbyte(high, low, at);
}

/// v_pk_min_u16.
inline constexpr bool has_packed_min = true;
__device__ inline std::uint32_t packed_min(std::uint32_t a, std::uint32_t b) {
  using halves = std::uint16_t __attribute__((ext_vector_type(2)));
  return __builtin_bit_cast(std::uint32_t,
                            __builtin_elementwise_min(__builtin_bit_cast(halves, a), __builtin_bit_cast(halves, b)));
}

/// By a difference: of a masked address compilers do not know that it is global memory.
template <int Of>
__device__ inline const unsigned char* rounded_down(const unsigned char* at) {
  return at - (reinterpret_cast<std::uintptr_t>(at) & (Of - 1));
}

/// A hint, which nothing comes of here.
__device__ inline void prefetch(const void* /*at*/) {}

__device__ inline float float_from_half(std::uint16_t half) {
  return static_cast<float>(__builtin_bit_cast(_Float16, half));
}
__device__ inline std::uint16_t half_from_float(float value) {
  return __builtin_bit_cast(std::uint16_t, static_cast<_Float16>(value));
}

template <class T>
inline constexpr bool is_atomic_word = std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

template <class T>
__device__ inline T atomic_add(T* at, T value) {
  static_assert(is_atomic_word<T>);
  return __hip_atomic_fetch_add(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
__device__ inline std::uint32_t take_ticket(std::uint32_t* at) {
  return __hip_atomic_fetch_add(at, 1u, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
}
template <class T>
__device__ inline T atomic_or(T* at, T value) {
  static_assert(is_atomic_word<T>);
  return __hip_atomic_fetch_or(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
template <class T>
__device__ inline T atomic_min(T* at, T value) {
  static_assert(is_atomic_word<T>);
  return __hip_atomic_fetch_min(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
template <class T>
__device__ inline T atomic_max(T* at, T value) {
  static_assert(is_atomic_word<T>);
  return __hip_atomic_fetch_max(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
template <class T>
__device__ inline T atomic_exchange(T* at, T value) {
  static_assert(is_atomic_word<T>);
  return __hip_atomic_exchange(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
template <class T>
__device__ inline T atomic_cas(T* at, T expected, T desired) {
  static_assert(is_atomic_word<T>);
  __hip_atomic_compare_exchange_strong(at, &expected, desired, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                       __HIP_MEMORY_SCOPE_AGENT);
  return expected;
}

__device__ inline void thread_fence() {
  __threadfence();
}

template <class T>
__device__ inline T load_relaxed(const T* from) {
  static_assert(is_atomic_word<T>);
  return __hip_atomic_load(from, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
__device__ inline void load_relaxed_pair(const std::uint64_t* from, std::uint64_t& first, std::uint64_t& second) {
  first = load_relaxed(from);
  second = load_relaxed(from + 1);
}
template <class T>
__device__ inline void store_relaxed(T* to, T value) {
  static_assert(is_atomic_word<T>);
  __hip_atomic_store(to, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
__device__ inline void store_relaxed_pair(std::uint64_t* to, std::uint64_t first, std::uint64_t second) {
  store_relaxed(to, first);
  store_relaxed(to + 1, second);
}
template <class T>
__device__ inline T load_acquire(const T* from) {
  static_assert(is_atomic_word<T>);
  return __hip_atomic_load(from, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
}
template <class T>
__device__ inline void store_release(T* to, T value) {
  static_assert(is_atomic_word<T>);
  __hip_atomic_store(to, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}

}  // namespace twill::hip
