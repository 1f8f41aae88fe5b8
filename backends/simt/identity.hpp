#pragma once

// Who is running: what kernels read as threadIdx and its kin, and what a hook on their memory accesses needs. Plain
// thread-locals of the OS thread; the executor rewrites them at every switch from one simulated thread to another.

#include <cstddef>
#include <cstdint>

#include <twill/export.hpp>

namespace twill::simt {

class block_runner;
class access_observer;

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
};

inline constexpr unsigned warp_lanes = 32;  // of the logical warp, on every device

/// The simulated thread that this OS thread is running. Zero outside kernels.
struct running_thread {
  block_runner* runner;  ///< nullptr outside kernels
  unsigned thread;       ///< in its block, x fastest; the lane is thread % warp_lanes
  unsigned interval;     ///< barriers that its block has passed
  std::uint64_t block;   ///< in the grid, x fastest
  void* shared;          ///< dynamic shared memory of the block
  std::size_t shared_bytes;
  access_observer* observer;  ///< of the memory accesses of this block; nullptr: none
};

// Constants to kernels, for no kernel sees them change: so that no hook is called for them (hooks.hpp), and because
// compilers need not read them again after each store. block_runner.cpp writes them under other names.
TWILL_API extern const __thread uint3 threadIdx __asm__("twill_simt_threadIdx");
TWILL_API extern const __thread uint3 blockIdx __asm__("twill_simt_blockIdx");
TWILL_API extern const __thread dim3 blockDim __asm__("twill_simt_blockDim");
TWILL_API extern const __thread dim3 gridDim __asm__("twill_simt_gridDim");
TWILL_API extern __thread running_thread running;

/// Returns when every thread of the block has called it.
TWILL_API void block_barrier();

/// In a dependent launch: nothing to wait for here, but checks report global accesses that a thread makes before this.
TWILL_API void wait_for_previous_kernel();

/// Gives `bits` to the other lanes of the logical warp and returns what `source` gave; the caller's own bits when
/// there is no such lane. All lanes of the warp take part.
TWILL_API std::uint64_t warp_exchange(std::uint64_t bits, unsigned source);

}  // namespace twill::simt
