#pragma once

// All transposed pieces of a rank in one kernel, stored into the memory of the peers that they are for: blocks of all
// pieces are in flight at once, so that every link is busy, and each waits only for the peer that it stores to.
//
// Access pattern: 16-byte loads of 128 to 256 contiguous bytes, 16-byte stores of 256 to 1024. Blocks are persistent
// and walk along the rows of the output: stores to a peer complete lines of 128 bytes.

#include "device.hpp"
#include "gpu/vector_tile.hpp"
#include "registers.hpp"
#include "system_scope.hpp"
#include "team/operations.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int most_exchange_parts = 16;  // of a launch: kernel arguments have 4 KiB

struct counted_tiles : tile_matrices {
  unsigned tiles_r, tiles_c, tiles;  // down, across, in all
};

struct exchange_part {
  const unsigned char* in;
  unsigned char* out;
  int peer;
  counted_tiles tiles;
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
  constexpr int edge = 16 / Bytes;
  counted_tiles m = part.tiles;
  compute_in_loop(m.in_ld);
  compute_in_loop(m.out_ld);
  compute_in_loop(m.lines_shift);
  compute_in_loop(m.pad);
  const int lines = 1 << m.lines_shift, chunks = 1 << m.chunks_shift;
  const std::int64_t row0 = static_cast<std::int64_t>(place % m.tiles_r) * edge << m.lines_shift;
  place /= m.tiles_r;
  const std::int64_t col0 = static_cast<std::int64_t>(place % m.tiles_c) * edge << m.chunks_shift;
  const std::int64_t matrix = place / m.tiles_c;
  const std::int64_t lines_left = (m.rows - row0) / edge, chunks_left = (m.cols - col0) / edge;
  const int lines_here = lines_left < lines ? static_cast<int>(lines_left) : lines;
  const int chunks_here = chunks_left < chunks ? static_cast<int>(chunks_left) : chunks;
  const unsigned char* const in = part.in + matrix * m.in_stride + row0 * m.in_ld + col0 * Bytes;
  unsigned char* const out = part.out + matrix * m.out_stride + col0 * m.out_ld + row0 * Bytes;
  const bool complete = lines_here == lines && chunks_here == chunks;
  if (complete) {
    load_tile<Bytes, false, true>(tile, in, m, lines_here, chunks_here);
  } else {
    load_tile<Bytes, false, false>(tile, in, m, lines_here, chunks_here);
  }
  __syncthreads();
  if (complete) {
    store_tile<Bytes, true, Group>(out, tile, m, lines_here, chunks_here * edge);
  } else {
    store_tile<Bytes, false, Group>(out, tile, m, lines_here, chunks_here * edge);
  }
}

/// Calls move(part, place) for the tiles of this block.
template <class Move>
__device__ void each_tile(const exchange_parts& all, Move&& move) {
  const exchange_part part = all.part[blockIdx.x % all.count];
  const unsigned step = gridDim.x / all.count;
  await_ready(all, part.peer);
  for (unsigned place = blockIdx.x / all.count; place < part.tiles.tiles; place += step) {
    move(part, place);
    __syncthreads();  // before the next tile takes the shared memory
  }
}

/// Of at most `Threads` threads a block: 1,024 leave 64 registers to each, too few to hold four chunks.
template <int Bytes, int Threads>
__global__ void __launch_bounds__(Threads) exchange_tiles(exchange_parts all) {
  constexpr int group = Threads > 512 ? 2 : 4;
  each_tile(all, [](const exchange_part& part, unsigned place) {
    move_tile<Bytes, group>(dynamic_shared<word16>(), part, place);
  });
}

}  // namespace twill::TWILL_BACKEND::kernels
