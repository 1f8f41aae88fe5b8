#pragma once

// Who is running: what kernels read as threadIdx and its kin, and what a hook on their memory accesses needs. Plain
// thread-locals of the OS thread; the executor rewrites them at every switch from one simulated thread to another.

#include <cstddef>
#include <cstdint>

namespace twill::simt {

class block_runner;

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
};

inline constexpr unsigned warp_lanes = 32;  // of the logical warp, on every device

/// The simulated thread that this OS thread runs now. Zero outside kernels.
struct running_thread {
  block_runner* runner;  ///< nullptr outside kernels
  unsigned thread;       ///< in its block, x fastest; the lane is thread % warp_lanes
  unsigned interval;     ///< barriers that its block has passed
  std::uint64_t block;   ///< in the grid, x fastest
  void* shared;          ///< dynamic shared memory of the block
  std::size_t shared_bytes;
};

extern __thread uint3 threadIdx;
extern __thread uint3 blockIdx;
extern __thread dim3 blockDim;
extern __thread dim3 gridDim;
extern __thread running_thread running;

/// Returns when every thread of the block has called it.
void block_barrier();

/// Gives `bits` to the other lanes of the logical warp and returns what `source` gave; the caller's own bits when
/// there is no such lane. All lanes of the warp take part.
std::uint64_t warp_exchange(std::uint64_t bits, unsigned source);

}  // namespace twill::simt
