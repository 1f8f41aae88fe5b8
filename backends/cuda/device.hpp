#pragma once

// What kernels are written in, for CUDA. backends/hip and backends/simt give the same names the same meaning.

#include <cstdint>
#include <type_traits>

#include <cuda_runtime.h>

namespace twill::cuda {

/// The dynamic shared memory of the block, 16-byte aligned.
template <class T>
__device__ inline T* dynamic_shared() {
  static_assert(alignof(T) <= 16, "dynamic shared memory is 16-byte aligned");
  extern __shared__ __align__(16) unsigned char twill_dynamic_shared[];
  return reinterpret_cast<T*>(twill_dynamic_shared);
}

/// The argument of the running kernel that comes after `before`. For large ones that loops index: a compiler that
/// cannot index arguments where they lie copies all of them to scratch memory.
template <class T, class... Before>
__device__ inline const T& argument_after(const T& argument, const Before&...) {
  return argument;
}

/// How often a loop over the dimensions of such an argument is unrolled: completely, so that all indices are constants.
inline constexpr int argument_unroll = 16;

/// What launch bounds may ask for: `wanted` blocks of `threads` at once, or as many as a multiprocessor has threads
/// for.
constexpr int blocks_at_once(int threads, int wanted) {
#if !defined(__CUDA_ARCH__)
  constexpr int most = 2048;
#elif __CUDA_ARCH__ == 750
  constexpr int most = 1024;
#elif __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1100
  constexpr int most = 1536;
#else
  constexpr int most = 2048;
#endif
  return wanted * threads <= most ? wanted : most / threads;
}

// Programmatic dependent launch (launch_config::dependent)

/// Blocks until the kernel before this one in the stream has completed and its writes are visible. Returns at once in
/// an ordinary launch.
__device__ inline void wait_for_previous_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" : : : "memory");
#endif
}
/// A dependent kernel may start once every block of this one has called this or exited. This kernel's writes are
/// visible to it only after its wait_for_previous_kernel().
__device__ inline void trigger_dependent_launch() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" : : : "memory");
#endif
}

// Shuffles: all 32 lanes of a logical warp take part. T has 4 or 8 bytes.

template <class T>
inline constexpr bool can_shuffle = std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

inline constexpr unsigned all_lanes = 0xffffffffu;

/// The value of lane `lane` % 32.
template <class T>
__device__ inline T shuffle(T value, int lane) {
  static_assert(can_shuffle<T>);
  return __shfl_sync(all_lanes, value, lane, 32);
}
/// The value of the lane `delta` (0 to 31) below; a lane's own where there is none.
template <class T>
__device__ inline T shuffle_up(T value, unsigned delta) {
  static_assert(can_shuffle<T>);
  return __shfl_up_sync(all_lanes, value, delta, 32);
}
/// The value of the lane `delta` (0 to 31) above; a lane's own where there is none.
template <class T>
__device__ inline T shuffle_down(T value, unsigned delta) {
  static_assert(can_shuffle<T>);
  return __shfl_down_sync(all_lanes, value, delta, 32);
}
/// The value of the lane whose number differs in the bits of `mask` (0 to 31).
template <class T>
__device__ inline T shuffle_xor(T value, int mask) {
  static_assert(can_shuffle<T>);
  return __shfl_xor_sync(all_lanes, value, mask, 32);
}

/// Whether blocks take their first work by index where a ticket is not needed: it costs the latency of an atomic.
inline constexpr bool prefers_index_to_ticket = true;

/// Whether a condition holds in any of the 32 lanes.
__device__ inline bool any_lane(bool condition) {
  return __any_sync(all_lanes, condition) != 0;
}

// Words and bytes

/// 16 bytes that move in one access.
using word16 = uint4;

/// 32-bit word I of four, in the order of memory.
template <int I>
__device__ inline std::uint32_t word(word16 words) {
  static_assert(I >= 0 && I < 4);
  return I == 0 ? words.x : I == 1 ? words.y : I == 2 ? words.z : words.w;
}
__device__ inline word16 make_word16(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return make_uint4(a, b, c, d);
}

/// Loads 4, 8 or 16 bytes with the L2 prefetch size hint of 128 or 256 bytes (from sm_80 on), for row segments whose
/// remainder another block reads soon.
template <int Around>
__device__ inline std::uint32_t load_prefetch_l2(const std::uint32_t* from) {
  static_assert(Around == 128 || Around == 256);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  std::uint32_t v;
  if constexpr (Around == 128) {
    asm volatile("ld.global.L2::128B.u32 %0, [%1];" : "=r"(v) : "l"(__cvta_generic_to_global(from)));
  } else {
    asm volatile("ld.global.L2::256B.u32 %0, [%1];" : "=r"(v) : "l"(__cvta_generic_to_global(from)));
  }
  return v;
#else
  return *from;
#endif
}
template <int Around>
__device__ inline std::uint64_t load_prefetch_l2(const std::uint64_t* from) {
  static_assert(Around == 128 || Around == 256);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  std::uint64_t v;
  if constexpr (Around == 128) {
    asm volatile("ld.global.L2::128B.u64 %0, [%1];" : "=l"(v) : "l"(__cvta_generic_to_global(from)));
  } else {
    asm volatile("ld.global.L2::256B.u64 %0, [%1];" : "=l"(v) : "l"(__cvta_generic_to_global(from)));
  }
  return v;
#else
  return *from;
#endif
}
template <int Around>
__device__ inline word16 load_prefetch_l2(const word16* from) {
  static_assert(Around == 128 || Around == 256);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  word16 v;
  if constexpr (Around == 128) {
    asm volatile("ld.global.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(__cvta_generic_to_global(from)));
  } else {
    asm volatile("ld.global.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(__cvta_generic_to_global(from)));
  }
  return v;
#else
  return *from;
#endif
}

/// Whether copies to shared memory are asynchronous and bypass registers (cp.async, from sm_80 on).
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr bool copies_are_asynchronous = false;
#else
inline constexpr bool copies_are_asynchronous = true;
#endif

/// Caching of copies to shared memory: in L1 and L2 (cp.async.ca), which pays where blocks share sectors and shared
/// memory leaves L1 capacity, or in L2 alone (cp.async.cg).
enum class copy_cache { l1_and_l2, l2 };

/// Copies vectors to shared memory: begin a batch of copies, then call end_copy_to_shared() for each. Without cp.async,
/// begin loads to `held` and end stores it, which keeps all loads in flight. wait_for_copies() completes the copies of
/// the calling thread; __syncthreads() makes them visible to the block. `Around` is the L2 prefetch size hint.
template <int Around, copy_cache Cache = copy_cache::l1_and_l2>
__device__ inline void begin_copy_to_shared(word16* to, word16& held, const word16* from) {
  static_assert(Around == 128 || Around == 256);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  const auto address = __cvta_generic_to_global(from);
  if constexpr (Cache == copy_cache::l1_and_l2 && Around == 128) {
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 16;" : : "r"(place), "l"(address) : "memory");
  } else if constexpr (Cache == copy_cache::l1_and_l2) {
    asm volatile("cp.async.ca.shared.global.L2::256B [%0], [%1], 16;" : : "r"(place), "l"(address) : "memory");
  } else if constexpr (Around == 128) {
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" : : "r"(place), "l"(address) : "memory");
  } else {
    asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" : : "r"(place), "l"(address) : "memory");
  }
#else
  held = *from;
#endif
}
__device__ inline void end_copy_to_shared(word16* to, const word16& held) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 800
  *to = held;
#endif
}
__device__ inline void wait_for_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" : : : "memory");
#endif
}

/// Four of the eight bytes of a (0 to 3, lowest first) and b (4 to 7), one named by each of `selector`'s low four
/// nibbles.
__device__ inline std::uint32_t byte_permute(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  return __byte_perm(a, b, selector);
}

/// Bytes `at` % 4 to `at` % 4 + 3 of `low` followed by `high`.
__device__ inline std::uint32_t funnel_shift(std::uint32_t low, std::uint32_t high, std::uint32_t at) {
  return __funnelshift_r(low, high, 8 * at);
}

/// Whether packed_min is one instruction: VIMNMX.U16x2 from sm_90 on, which CUDA 12 and later emit.
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 900 || __CUDACC_VER_MAJOR__ < 12)
inline constexpr bool has_packed_min = false;
#else
inline constexpr bool has_packed_min = true;
#endif

/// Minima of the corresponding unsigned 16-bit halves.
__device__ inline std::uint32_t packed_min(std::uint32_t a, std::uint32_t b) {
  return __vminu2(a, b);
}

/// `at` rounded down to a multiple of `Of`, a power of two.
template <int Of>
__device__ inline const unsigned char* rounded_down(const unsigned char* at) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): one instruction for 32 of the address's bits.
  return reinterpret_cast<const unsigned char*>(reinterpret_cast<std::uintptr_t>(at) & ~std::uintptr_t{Of - 1});
}

/// Asks for the line at `at` in global memory, which is about to be written in part: a hint without effect on values.
__device__ inline void prefetch(const void* at) {
  asm volatile("prefetch.global.L2 [%0];" : : "l"(__cvta_generic_to_global(at)));
}

/// The number that the 16 bits of an IEEE half stand for, and the half nearest to a number (ties to even).
__device__ inline float float_from_half(std::uint16_t half) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
  return value;
}
__device__ inline std::uint16_t half_from_float(float value) {
  std::uint16_t half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
  return half;
}

// Atomics on integers of 4 or 8 bytes: device scope, relaxed. Each returns what was there.

template <class T>
inline constexpr bool is_atomic_word = std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

/// The built-in type of T's size, for CUDA has no atomics on `long`.
template <class T>
using unsigned_word = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;
template <class T>
using ordered_word = std::conditional_t<std::is_unsigned_v<T>, unsigned_word<T>, std::make_signed_t<unsigned_word<T>>>;

template <class T>
__device__ inline T atomic_add(T* at, T value) {
  static_assert(is_atomic_word<T>);
  using word = unsigned_word<T>;
  return static_cast<T>(atomicAdd(reinterpret_cast<word*>(at), static_cast<word>(value)));
}
template <class T>
__device__ inline T atomic_or(T* at, T value) {
  static_assert(is_atomic_word<T>);
  using word = unsigned_word<T>;
  return static_cast<T>(atomicOr(reinterpret_cast<word*>(at), static_cast<word>(value)));
}
template <class T>
__device__ inline T atomic_min(T* at, T value) {
  static_assert(is_atomic_word<T>);
  using word = ordered_word<T>;
  return static_cast<T>(atomicMin(reinterpret_cast<word*>(at), static_cast<word>(value)));
}
template <class T>
__device__ inline T atomic_max(T* at, T value) {
  static_assert(is_atomic_word<T>);
  using word = ordered_word<T>;
  return static_cast<T>(atomicMax(reinterpret_cast<word*>(at), static_cast<word>(value)));
}
template <class T>
__device__ inline T atomic_exchange(T* at, T value) {
  static_assert(is_atomic_word<T>);
  using word = unsigned_word<T>;
  return static_cast<T>(atomicExch(reinterpret_cast<word*>(at), static_cast<word>(value)));
}
/// Writes `desired` where `expected` is found.
template <class T>
__device__ inline T atomic_cas(T* at, T expected, T desired) {
  static_assert(is_atomic_word<T>);
  using word = unsigned_word<T>;
  return static_cast<T>(
      atomicCAS(reinterpret_cast<word*>(at), static_cast<word>(expected), static_cast<word>(desired)));
}

// Words of 4 or 8 bytes in global memory that other blocks read and write meanwhile: device scope.

/// The calling thread's accesses before come before those after, for every thread of the device.
__device__ inline void thread_fence() {
  __threadfence();
}

template <class T>
__device__ inline T load_relaxed(const T* from) {
  static_assert(is_atomic_word<T>);
  return *static_cast<const volatile T*>(from);
}
/// Two words side by side, at a multiple of 16 bytes: each is loaded as by load_relaxed.
__device__ inline void load_relaxed_pair(const std::uint64_t* from, std::uint64_t& first, std::uint64_t& second) {
  unsigned long long a, b;
  asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(a), "=l"(b)
               : "l"(__cvta_generic_to_global(from))
               : "memory");
  first = a;
  second = b;
}
/// In one access of 16 bytes.
__device__ inline void store_relaxed_pair(std::uint64_t* to, std::uint64_t first, std::uint64_t second) {
  asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};"
               :
               : "l"(__cvta_generic_to_global(to)), "l"(first), "l"(second)
               : "memory");
}
template <class T>
__device__ inline void store_relaxed(T* to, T value) {
  static_assert(is_atomic_word<T>);
  *static_cast<volatile T*>(to) = value;
}

/// What the thread that stored the value wrote before `store_release` is seen after this load.
template <class T>
__device__ inline T load_acquire(const T* from) {
  static_assert(is_atomic_word<T>);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  unsigned_word<T> value;
  if constexpr (sizeof(T) == 4) {
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  } else {
    asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  }
  return static_cast<T>(value);
#else
  const T value = load_relaxed(from);
  thread_fence();
  return value;
#endif
}

/// Adds one; what this thread wrote before is seen by those who find its addition, and what they wrote by this thread.
__device__ inline std::uint32_t take_ticket(std::uint32_t* at) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  std::uint32_t before;
  asm volatile("atom.acq_rel.gpu.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(at) : "memory");
  return before;
#else
  thread_fence();
  const std::uint32_t before = atomic_add(at, 1u);
  thread_fence();
  return before;
#endif
}

template <class T>
__device__ inline void store_release(T* to, T value) {
  static_assert(is_atomic_word<T>);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  if constexpr (sizeof(T) == 4) {
    asm volatile("st.release.gpu.u32 [%0], %1;" : : "l"(to), "r"(static_cast<unsigned>(value)) : "memory");
  } else {
    asm volatile("st.release.gpu.u64 [%0], %1;" : : "l"(to), "l"(static_cast<unsigned long long>(value)) : "memory");
  }
#else
  thread_fence();
  store_relaxed(to, value);
#endif
}

}  // namespace twill::cuda
