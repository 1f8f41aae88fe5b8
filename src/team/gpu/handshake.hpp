#pragma once

// The handshake of ranks, one small block in the stream of each. Counters only grow, so that a captured graph can be
// replayed: the number of the run is in device memory, no argument.

#include "device.hpp"
#include "system_scope.hpp"
#include "team/operations.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr unsigned handshake_threads = 128;

/// Stores the number of the run, first incremented where it `begins`, into a slot of the peers' counters. A peer that
/// reads it sees what the stream did before: earlier kernels are complete, and the release orders their stores, those
/// to peers included, before the counter's.
__global__ void signal_peers(detail::handshake with, bool begins, std::int64_t slot) {
  std::uint64_t run = *with.own;
  if (begins) {
    ++run;
    __syncthreads();  // all threads have read it
    if (threadIdx.x == 0) *with.own = run;
  }
  for (int peer = static_cast<int>(threadIdx.x); peer < with.size; peer += static_cast<int>(blockDim.x)) {
    store_release_system(with.peers[peer] + slot, run);
  }
}

__device__ inline void await_counters(const detail::handshake& with, std::int64_t first_slot, std::uint64_t ticks) {
  const std::uint64_t run = *with.own, begin = clock_ticks();
  for (int peer = static_cast<int>(threadIdx.x); peer < with.size; peer += static_cast<int>(blockDim.x)) {
    while (load_acquire_system(with.own + first_slot + peer) < run) {
      if (clock_ticks() - begin > ticks) trap();
    }
  }
}

/// Waits until each peer has stored the number of this run into its slot; peer p has slot first_slot + p. Traps when
/// one has not in time.
__global__ void await_peers(detail::handshake with, std::int64_t first_slot, std::uint64_t ticks) {
  await_counters(with, first_slot, ticks);
}

/// Signals the end of a run, and awaits that of the peers: one launch less, where each rank has a device of its own.
__global__ void finish_run(detail::handshake with, std::int64_t first_slot, std::uint64_t ticks) {
  const std::uint64_t run = *with.own;
  for (int peer = static_cast<int>(threadIdx.x); peer < with.size; peer += static_cast<int>(blockDim.x)) {
    store_release_system(with.peers[peer] + first_slot + with.rank, run);
  }
  await_counters(with, first_slot, ticks);
}

}  // namespace twill::TWILL_BACKEND::kernels
