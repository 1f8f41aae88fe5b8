#pragma once

// Words in memory that other devices read and write meanwhile, and a kernel's way to give up waiting for one.
// backends/hip and backends/simt have the same.

#include <cstdint>

#include <cuda_runtime.h>

namespace twill::cuda {

/// What the device's threads wrote before, as far as this thread has seen it, is seen by whoever loads the value.
__device__ inline void store_release_system(std::uint64_t* to, std::uint64_t value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  __threadfence_system();
  asm volatile("st.release.sys.u64 [%0], %1;" : : "l"(to), "l"(static_cast<unsigned long long>(value)) : "memory");
#else
  __threadfence_system();
  *static_cast<volatile std::uint64_t*>(to) = value;
#endif
}

__device__ inline std::uint64_t load_acquire_system(const std::uint64_t* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  unsigned long long value;
  asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
#else
  const std::uint64_t value = *static_cast<const volatile std::uint64_t*>(from);
  __threadfence_system();
  return value;
#endif
}

/// A clock of the multiprocessor: 1 to 2 ticks a nanosecond.
__device__ inline std::uint64_t clock_ticks() {
  return static_cast<std::uint64_t>(clock64());
}

/// Ends the work of the device in a fault.
__device__ inline void trap() {
  __trap();
}

}  // namespace twill::cuda
