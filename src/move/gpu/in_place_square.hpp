#pragma once

// Square matrices, transposed in place in one pass: a block takes the tiles (i, j) and (j, i), stages both in
// shared memory transposed, and writes each to the other's place. Blocks go through the upper triangle column by column
// of tiles.

#include <cmath>
#include <cstdint>

#include "device.hpp"
#include "gpu/register_block.hpp"

namespace twill::TWILL_BACKEND::kernels {

struct square_matrices {
  std::int64_t extent, batch;  // elements, matrices
  std::int64_t ld, stride;     // bytes
  std::int64_t pairs;          // pairs of tiles of a matrix, those on the diagonal with themselves included
  int edge;                    // elements along a tile, where the kernel does not fix it
  int units;                   // of an element
  int pitch;                   // bytes between rows of a tile in shared memory
};

// The two tiles of a block; `first` is above the diagonal, or on it.
struct tile_pair {
  std::int64_t matrix, i, j;
};

__device__ inline tile_pair pair_of(const square_matrices& m) {
  const std::int64_t place = static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  const std::int64_t matrix = place < m.pairs ? 0 : place / m.pairs, k = place - matrix * m.pairs;
  // Column j of the triangle begins at j * (j + 1) / 2. The root is off by one at most, as long as j has 22 bits.
  auto j = static_cast<std::int64_t>(sqrtf(2.0F * static_cast<float>(k) + 0.25F) - 0.5F);
  if (j * (j + 1) / 2 > k) --j;
  if ((j + 1) * (j + 2) / 2 <= k) ++j;
  return {matrix, k - j * (j + 1) / 2, j};
}

/// Tiles of Lines x Lines register blocks, for aligned rows of full 16-byte vectors.
template <int Bytes, int Lines>
struct swap_shape {
  static constexpr int edge = 16 / Bytes, tile = Lines * edge;                       // elements
  static constexpr int depth = Lines * Lines > 256 ? 4 : 1;                          // blocks of a thread
  static constexpr int threads = Lines * Lines / depth;                              // of one tile
  static constexpr int pad = (8 * edge * (Lines + 1) + 1 - edge * (Lines + 1)) % 8;  // as in transpose_tiled
  static constexpr int chunks = Lines * (edge * (Lines + 1) + pad);                  // of shared memory, one tile
};

template <int Bytes, int Lines, bool Around>
__global__ void __launch_bounds__((2 * swap_shape<Bytes, Lines>::threads))
    in_place_square(unsigned char* data, square_matrices m) {
  using shape = swap_shape<Bytes, Lines>;
  constexpr int edge = shape::edge;
  const tile_pair pair = pair_of(m);
  if (pair.matrix >= m.batch) return;  // uniform exit: padding block of the 2-D grid
  // The first half of the threads has the tile (i, j), the second (j, i).
  const int half = static_cast<int>(threadIdx.x) / shape::threads, thread = threadIdx.x % shape::threads;
  const std::int64_t row0 = (half == 0 ? pair.i : pair.j) * shape::tile;
  const std::int64_t col0 = (half == 0 ? pair.j : pair.i) * shape::tile;
  const bool idle = half == 1 && pair.i == pair.j;
  word16* tile = dynamic_shared<word16>() + half * shape::chunks;
  data += pair.matrix * m.stride;

  std::uint32_t w[shape::depth][edge][4];
#pragma unroll
  for (int d = 0; d < shape::depth; ++d) {
    const int block = thread + d * shape::threads, line = block / Lines, chunk = block % Lines;
    if (idle || row0 + line * edge >= m.extent || col0 + chunk * edge >= m.extent) continue;
    const unsigned char* from = data + (row0 + line * edge) * m.ld + col0 * Bytes + chunk * 16;
#pragma unroll
    for (int y = 0; y < edge; ++y) unpack_words(w[d][y], load_chunk<Around>(from + y * m.ld));
  }
#pragma unroll
  for (int d = 0; d < shape::depth; ++d) {
    const int block = thread + d * shape::threads, line = block / Lines, chunk = block % Lines;
    register_block<Bytes>::transpose(w[d]);
#pragma unroll
    for (int y = 0; y < edge; ++y) {
      const int row = chunk * edge + y;
      tile[row * (Lines + 1) + chunk * shape::pad + line] = make_word16(w[d][y][0], w[d][y][1], w[d][y][2], w[d][y][3]);
    }
  }
  __syncthreads();

  if (idle) return;
  const int line = thread % Lines;
  if (row0 + line * edge >= m.extent) return;
  unsigned char* to = data + col0 * m.ld + row0 * Bytes + line * 16;
  for (int row = thread / Lines; row < shape::tile && col0 + row < m.extent; row += shape::threads / Lines) {
    *reinterpret_cast<word16*>(to + row * m.ld) = tile[row * (Lines + 1) + row / edge * shape::pad + line];
  }
}

/// Misaligned rows, elements of any size: unit by unit.
template <class Unit>
__global__ void __launch_bounds__(256) in_place_square_units(unsigned char* data, square_matrices m) {
  constexpr int size = static_cast<int>(sizeof(Unit)), rows_at_once = 8;
  const tile_pair pair = pair_of(m);
  if (pair.matrix >= m.batch) return;  // uniform exit: padding block of the 2-D grid
  const int lane = threadIdx.x % 32, first = static_cast<int>(threadIdx.x) / 32, bytes = m.units * size;
  const std::int64_t row0 = pair.i * m.edge, col0 = pair.j * m.edge;
  const int height = static_cast<int>(m.extent - row0 < m.edge ? m.extent - row0 : m.edge);
  const int width = static_cast<int>(m.extent - col0 < m.edge ? m.extent - col0 : m.edge);
  unsigned char* upper = dynamic_shared<unsigned char>();
  unsigned char* lower = upper + m.edge * m.pitch;
  data += pair.matrix * m.stride;
  unsigned char* above = data + row0 * m.ld + col0 * bytes;
  unsigned char* below = data + col0 * m.ld + row0 * bytes;

  for (int y = first; y < height; y += rows_at_once) {
    for (int x = lane * size; x < width * bytes; x += 32 * size) {
      *reinterpret_cast<Unit*>(upper + y * m.pitch + x) = *reinterpret_cast<const Unit*>(above + y * m.ld + x);
    }
  }
  if (pair.i != pair.j) {
    for (int y = first; y < width; y += rows_at_once) {
      for (int x = lane * size; x < height * bytes; x += 32 * size) {
        *reinterpret_cast<Unit*>(lower + y * m.pitch + x) = *reinterpret_cast<const Unit*>(below + y * m.ld + x);
      }
    }
  }
  __syncthreads();

  const auto transposed = [&](const unsigned char* tile, int y, int x) {
    const int element = m.units == 1 ? x / size : x / bytes, within = x - element * bytes;
    return *reinterpret_cast<const Unit*>(tile + element * m.pitch + y * bytes + within);
  };
  for (int y = first; y < width; y += rows_at_once) {
    for (int x = lane * size; x < height * bytes; x += 32 * size) {
      *reinterpret_cast<Unit*>(below + y * m.ld + x) = transposed(upper, y, x);
    }
  }
  if (pair.i == pair.j) return;
  for (int y = first; y < height; y += rows_at_once) {
    for (int x = lane * size; x < width * bytes; x += 32 * size) {
      *reinterpret_cast<Unit*>(above + y * m.ld + x) = transposed(lower, y, x);
    }
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
