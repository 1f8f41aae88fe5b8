#pragma once

// As backends/cuda/system_scope.hpp, for HIP.

#include <cstdint>

#include <hip/hip_runtime.h>

#if defined(__HIP_PLATFORM_NVIDIA__)

#include "backends/cuda/system_scope.hpp"

namespace twill::hip {
using cuda::clock_ticks, cuda::load_acquire_system, cuda::store_release_system, cuda::trap;
}  // namespace twill::hip

#else

namespace twill::hip {

__device__ inline void store_release_system(std::uint64_t* to, std::uint64_t value) {
  __threadfence_system();
  __hip_atomic_store(to, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

__device__ inline std::uint64_t load_acquire_system(const std::uint64_t* from) {
  return __hip_atomic_load(from, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
}

/// The shader's clock.
__device__ inline std::uint64_t clock_ticks() {
  return static_cast<std::uint64_t>(clock64());
}

__device__ inline void trap() {
  __builtin_trap();
}

}  // namespace twill::hip

#endif
