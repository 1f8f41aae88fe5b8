#pragma once

// All transposed pieces of a rank in one kernel, stored into the memory of the peers that they are for: blocks of all
// pieces are in flight at once, so that every link is busy, and each waits only for the peer that it stores to.
//
// Access pattern: 16-byte loads of 128 to 256 contiguous bytes, 16-byte stores of 256 to 1024. Blocks are persistent
// and walk along the rows of the output: stores to a peer complete lines of 128 bytes.

#include "device.hpp"
#include "gpu/vector_tile.hpp"
#include "system_scope.hpp"
#include "team/operations.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int most_exchange_parts = 16;  // of a launch: kernel arguments have 4 KiB

struct exchange_part {
  const unsigned char* in;
  unsigned char* out;
  int peer;
  tile_matrices tiles;
};

struct exchange_parts {
  detail::handshake with;
  std::int64_t first_ready;  // slot of rank 0
  std::uint64_t ticks;
  int count;
  exchange_part part[most_exchange_parts];
};

// Returns when `peer` has signalled that its output may be written in this run; traps when it has not in time.
__device__ inline void await_ready(const exchange_parts& all, int peer) {
  if (peer != all.with.rank && threadIdx.x == 0) {
    const std::uint64_t run = *all.with.own, begin = clock_ticks();
    const std::uint64_t* const slot = all.with.own + all.first_ready + peer;
    while (load_acquire_system(slot) < run) {
      if (clock_ticks() - begin > all.ticks) trap();
    }
  }
  __syncthreads();
}

template <int Bytes, int Group>
__device__ void move_tile(word16* tile, const exchange_part& part, unsigned place) {
  const tile_matrices& m = part.tiles;
  const tile_part p = part_of<Bytes>(m, place);
  const unsigned char* const in = part.in + p.matrix * m.in_stride + p.row0 * m.in_ld + p.col0 * Bytes;
  unsigned char* const out = part.out + p.matrix * m.out_stride + p.col0 * m.out_ld + p.row0 * Bytes;
  load_part<Bytes, false>(tile, in, m, p);
  __syncthreads();
  store_part<Bytes, Group>(out, tile, m, p);
}

/// Of at most `Threads` threads a block: 1,024 leave 64 registers to each, too few to hold four chunks.
template <int Bytes, int Threads>
__global__ void __launch_bounds__(Threads) exchange_tiles(exchange_parts all) {
  const exchange_part part = all.part[blockIdx.x % all.count];
  const unsigned step = gridDim.x / all.count;
  constexpr int group = Threads > 512 ? 2 : 4;
  await_ready(all, part.peer);
  for (unsigned place = blockIdx.x / all.count; place < part.tiles.tiles; place += step) {
    move_tile<Bytes, group>(dynamic_shared<word16>(), part, place);
    __syncthreads();  // before the next tile takes the shared memory
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
