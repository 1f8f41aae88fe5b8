#pragma once

// Square matrices, transposed in place in one pass: a block takes the tiles (i, j) and (j, i), stages both in
// shared memory transposed, and writes each to the other's place. Blocks go through the upper triangle column by column
// of tiles.

#include <cmath>
#include <cstdint>

#include "device.hpp"
#include "gpu/dependent_launch.hpp"
#include "gpu/grid.hpp"
#include "gpu/misaligned_tile.hpp"
#include "gpu/register_block.hpp"
#include "uninitialised_reads.hpp"

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
  const std::int64_t place = block_index();
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
  wait_then_trigger_dependents();
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
  wait_then_trigger_dependents();
  const int lane = threadIdx.x % 32, first = static_cast<int>(threadIdx.x) / 32, bytes = m.units * size;
  const std::int64_t row0 = pair.i * m.edge, col0 = pair.j * m.edge;
  const int height = static_cast<int>(m.extent - row0 < m.edge ? m.extent - row0 : m.edge);
  const int width = static_cast<int>(m.extent - col0 < m.edge ? m.extent - col0 : m.edge);
  unsigned char* upper = dynamic_shared<unsigned char>();
  unsigned char* lower = upper + m.edge * m.pitch;
  data += pair.matrix * m.stride;
  unsigned char* above = data + row0 * m.ld + col0 * bytes;
  unsigned char* below = data + col0 * m.ld + row0 * bytes;

  const auto load = [&](unsigned char* tile, const unsigned char* from, int rows, int cols) {
    for (int y = first; y < rows; y += rows_at_once) {
      for (int x = lane * size; x < cols * bytes; x += 32 * size) {
        *reinterpret_cast<Unit*>(tile + y * m.pitch + x) = *reinterpret_cast<const Unit*>(from + y * m.ld + x);
      }
    }
  };
  load(upper, above, height, width);
  if (pair.i != pair.j) load(lower, below, width, height);
  __syncthreads();

  const auto store = [&](unsigned char* to, const unsigned char* tile, int rows, int cols) {
    for (int y = first; y < rows; y += rows_at_once) {
      for (int x = lane * size; x < cols * bytes; x += 32 * size) {
        const int element = m.units == 1 ? x / size : x / bytes, within = x - element * bytes;
        const unsigned char* from = tile + element * m.pitch + y * bytes + within;
        *reinterpret_cast<Unit*>(to + y * m.ld + x) = *reinterpret_cast<const Unit*>(from);
      }
    }
  };
  store(below, upper, width, height);
  if (pair.i != pair.j) store(above, lower, height, width);
}

// Misaligned rows: as in_place_square, but in pieces that rows of any alignment allow. Elements of 1 and 2 bytes move
// as words, cut from two where needed; larger ones move one by one, all of a thread's loads in flight together.

constexpr int square_misaligned_rows = 8;

/// 32 words wide, and as many rows as columns: the tile of transpose_misaligned.
template <int Bytes>
using square_tile = word_tile<Bytes, true, 128, 256, square_misaligned_rows, 4>;

// A word of each of eight rows, cut from two where rows begin inside of words: every fourth row alike. All loads are in
// flight together.
template <bool Aligned, bool Around>
__device__ void read_words(std::uint32_t (&w)[square_misaligned_rows], const unsigned char* from, std::int64_t ld) {
  constexpr int phases = Aligned ? 1 : 4;
  std::uint32_t next[square_misaligned_rows], skip[phases];
#pragma unroll
  for (int p = 0; p < phases; ++p) {
    skip[p] = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(from + p * ld) & 3);
    const unsigned char* row = from + p * ld - skip[p];
#pragma unroll
    for (int i = p; i < square_misaligned_rows; i += phases) {
      const auto* word = reinterpret_cast<const std::uint32_t*>(row);
      w[i] = Around ? load_prefetch_l2<128>(word) : word[0];
      if (!Aligned) next[i] = Around ? load_prefetch_l2<128>(word + 1) : word[1];
      row += phases * ld;
    }
  }
  if constexpr (!Aligned) {
#pragma unroll
    for (int i = 0; i < square_misaligned_rows; ++i) w[i] = funnel_shift(w[i], next[i], skip[i % phases]);
  }
}

// The same at the matrix's edges, element by element. What lies outside is read as the nearest element inside, or set
// to 0; neither is stored. No load is conditional, so all are in flight together.
template <int Bytes>
__device__ void read_elements(std::uint32_t (&w)[square_misaligned_rows], const unsigned char* from, std::int64_t ld,
                              std::int64_t rows, std::int64_t bytes) {
  using unit = typename unit_of_bytes<Bytes>::type;
  const int height = rows < square_misaligned_rows ? static_cast<int>(rows) : square_misaligned_rows;
  const int width = bytes < 4 ? static_cast<int>(bytes) : 4;
#pragma unroll
  for (int i = 0; i < square_misaligned_rows; ++i) {
    w[i] = 0;
  }
  if (height <= 0 || width <= 0) return;
#pragma unroll
  for (int i = 0; i < square_misaligned_rows; ++i) {
    const unsigned char* row = from + (i < height ? i : height - 1) * ld;
#pragma unroll
    for (int u = 0; u < 4 / Bytes; ++u) {
      const int at = u * Bytes < width ? u * Bytes : width - Bytes;
      w[i] |= static_cast<std::uint32_t>(*reinterpret_cast<const unit*>(row + at)) << (u * 8 * Bytes);
    }
  }
}

// Loads the tile at (row0, col0) to shared memory, transposed. `out` is where it goes to.
template <int Bytes, bool Aligned>
__device__ void load_transposed(unsigned char* tile, const unsigned char* matrix, const unsigned char* out,
                                const square_matrices& m, std::int64_t row0, std::int64_t col0) {
  using shape = square_tile<Bytes>;
  const int lane = threadIdx.x % 32;
  unsigned char* to[shape::per_word];
#pragma unroll
  for (int k = 0; k < shape::per_word; ++k) to[k] = sheared_row<shape>(tile, k, lane, out, m.ld);
  // Words that are cut from two begin up to 3 bytes early and end up to 4 late: that stays in the row.
  const std::int64_t offset = col0 * Bytes + lane * 4, bytes = m.extent * Bytes;
  const bool inside = Aligned ? offset + 4 <= bytes : offset >= 4 && offset + 8 <= bytes;
#pragma unroll 2
  for (int y = static_cast<int>(threadIdx.x) / 32 * square_misaligned_rows; y < shape::width;
       y += shape::threads / 32 * 8) {
    const unsigned char* from = matrix + (row0 + y) * m.ld + offset;
    std::uint32_t w[square_misaligned_rows];
    if (inside && row0 + y + square_misaligned_rows <= m.extent) {
      read_words<Aligned, Bytes == 2>(w, from, m.ld);  // for 1 byte it costs registers, and time
    } else {
      read_elements<Bytes>(w, from, m.ld, m.extent - row0 - y, bytes - offset);
    }
#pragma unroll
    for (int k = 0; k < shape::per_word; ++k) {
#pragma unroll
      for (int q = 0; q < square_misaligned_rows * Bytes / 4; ++q)
        reinterpret_cast<std::uint32_t*>(to[k] + y * Bytes)[q] = word_of_column<Bytes>(w, q, k);
    }
  }
}

// Writes `width` rows of `bytes` bytes from a transposed tile to `out`: aligned chunks of 16 bytes, and what lies
// before the first and behind the last element by element.
template <int Bytes>
__device__ void store_transposed(unsigned char* out, const unsigned char* tile, std::int64_t ld, int width, int bytes) {
  using shape = square_tile<Bytes>;
  using unit = typename unit_of_bytes<Bytes>::type;
  constexpr int lanes = shape::length / 16, step = shape::threads / lanes, units = 16 / Bytes;
  const int lane = threadIdx.x % lanes;
#pragma unroll
  for (int i = 0; i < shape::width / step; ++i) {
    const int column = static_cast<int>(threadIdx.x) / lanes + i * step;
    unsigned char* to = out + column * ld;
    const int first = until_aligned(to);
    if (column >= width || first + lane * 16 + 16 > bytes) continue;
    const auto* chunk = reinterpret_cast<const word16*>(tile + shape::row_of(column) + 16 + lane * 16);
    const word16 v = chunk[0];
    const auto next = *reinterpret_cast<const std::uint32_t*>(chunk + 1);
    *reinterpret_cast<word16*>(to + first + lane * 16) = realigned(v, next, static_cast<std::uint32_t>(first));
  }
  for (int i = threadIdx.x; i < width * units; i += shape::threads) {
    const int column = i / units, at = i % units * Bytes;
    unsigned char* to = out + column * ld;
    const int address_first = until_aligned(to);
    const int first = address_first < bytes ? address_first : bytes, tail = first + (bytes - first) / 16 * 16 + at;
    const unsigned char* from = tile + shape::row_of(column) + 16 - (address_first & -4);
    if (at < first) *reinterpret_cast<unit*>(to + at) = *reinterpret_cast<const unit*>(from + at);
    if (tail < bytes) *reinterpret_cast<unit*>(to + tail) = *reinterpret_cast<const unit*>(from + tail);
  }
}

// Misaligned rows: registers are bounded so that four blocks fit on a multiprocessor. Aligned rows fit without a bound
// (0), which would spill.
template <int Bytes, bool Aligned>
inline constexpr int square_least_blocks = Aligned ? 0 : square_tile<Bytes>::least_blocks;

template <int Bytes, bool Aligned>
__global__ void __launch_bounds__(square_tile<Bytes>::threads, (square_least_blocks<Bytes, Aligned>))
    in_place_square_misaligned(unsigned char* data, square_matrices m) {
  using shape = square_tile<Bytes>;
  constexpr int edge = shape::width;
  const tile_pair pair = pair_of(m);
  if (pair.matrix >= m.batch) return;  // uniform exit: padding block of the 2-D grid
  wait_then_trigger_dependents();
  auto* tile = dynamic_shared<unsigned char>();
  auto* other = tile + shape::bytes;
  data += pair.matrix * m.stride;
  const std::int64_t row0 = pair.i * edge, col0 = pair.j * edge;
  unsigned char* below = data + col0 * m.ld + row0 * Bytes;
  unsigned char* above = data + row0 * m.ld + col0 * Bytes;
  load_transposed<Bytes, Aligned>(tile, data, below, m, row0, col0);
  if (row0 != col0) load_transposed<Bytes, Aligned>(other, data, above, m, col0, row0);
  allow_uninitialised_reads();
  __syncthreads();
  const int height = static_cast<int>(m.extent - row0 < edge ? m.extent - row0 : edge);
  const int width = static_cast<int>(m.extent - col0 < edge ? m.extent - col0 : edge);
  store_transposed<Bytes>(below, tile, m.ld, width, height * Bytes);
  if (row0 != col0) store_transposed<Bytes>(above, other, m.ld, height, width * Bytes);
}

/// The tile of in_place_square_words: 256 bytes wide, or 512.
template <class Unit>
inline constexpr int square_words_edge = sizeof(Unit) == 4 ? 64 : 32;

template <class Unit, bool Around>
__global__ void __launch_bounds__(256) in_place_square_words(unsigned char* data, square_matrices m) {
  constexpr int edge = square_words_edge<Unit>, pitch = edge + 1, across = edge / 32, each = edge * edge / 256;
  const tile_pair pair = pair_of(m);
  if (pair.matrix >= m.batch) return;  // uniform exit: padding block of the 2-D grid
  wait_then_trigger_dependents();
  data += pair.matrix * m.stride;
  Unit* tiles = dynamic_shared<Unit>();
  const std::int64_t row0[2] = {pair.i * edge, pair.j * edge}, col0[2] = {row0[1], row0[0]};
  const int lane = threadIdx.x % 32, first = static_cast<int>(threadIdx.x) / 32, tile_count = pair.i == pair.j ? 1 : 2;
  Unit held[2][each];
#pragma unroll
  for (int t = 0; t < 2; ++t) {
    const unsigned char* from = data + row0[t] * m.ld + col0[t] * static_cast<int>(sizeof(Unit));
#pragma unroll
    for (int i = 0; i < each; ++i) {
      const int y = first + i / across * 8, x = lane + i % across * 32;
      if (t < tile_count && row0[t] + y < m.extent && col0[t] + x < m.extent)
        held[t][i] = Around ? load_prefetch_l2<256>(reinterpret_cast<const Unit*>(from + y * m.ld) + x)
                            : reinterpret_cast<const Unit*>(from + y * m.ld)[x];
    }
  }
#pragma unroll
  for (int t = 0; t < 2; ++t) {
#pragma unroll
    for (int i = 0; i < each; ++i) {
      const int y = first + i / across * 8, x = lane + i % across * 32;
      tiles[(t * edge + y) * pitch + x] = held[t][i];
    }
  }
  __syncthreads();
#pragma unroll
  for (int t = 0; t < 2; ++t) {
    unsigned char* to = data + col0[t] * m.ld + row0[t] * static_cast<int>(sizeof(Unit));
#pragma unroll
    for (int i = 0; i < each; ++i) {
      const int y = first + i / across * 8, x = lane + i % across * 32;
      if (t < tile_count && col0[t] + y < m.extent && row0[t] + x < m.extent)
        reinterpret_cast<Unit*>(to + y * m.ld)[x] = tiles[(t * edge + x) * pitch + y];
    }
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
