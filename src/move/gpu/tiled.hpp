#pragma once

// Transpose and permutation 16 bytes at a time on every access, where all rows begin and end at multiples of 16 bytes:
// the kernels tiled-2d and tiled-4byte of matrices, and tiled of rows and columns of several dimensions.

#include <cstdint>

#include "device.hpp"
#include "gpu/dependent_launch.hpp"
#include "gpu/fast_division.hpp"
#include "gpu/vector_tile.hpp"
#include "matrix_tiles.hpp"

namespace twill::TWILL_BACKEND::kernels {

struct ordered_tile_matrices : tile_matrices {
  unsigned tiles;
  tile_order order;
};

template <int Bytes, bool Around>
__global__ void __launch_bounds__(256)
    transpose_tiled(unsigned char* out, const unsigned char* in, ordered_tile_matrices m) {
  constexpr int edge = 16 / Bytes;
  word16* tile = dynamic_shared<word16>();
  const unsigned place = blockIdx.y * gridDim.x + blockIdx.x;
  const tile_index at = tile_at(m.order, place);
  if (place >= m.tiles) return;  // uniform exit: padding block of the 2-D grid
  const std::int64_t row0 = std::int64_t{at.down} * edge << m.lines_shift;
  const std::int64_t col0 = std::int64_t{at.across} * edge << m.chunks_shift;
  const std::int64_t matrix = at.matrix;
  const int lines = 1 << m.lines_shift, chunks = 1 << m.chunks_shift;
  const std::int64_t lines_left = (m.rows - row0) / edge, chunks_left = (m.cols - col0) / edge;
  const int lines_here = lines_left < lines ? static_cast<int>(lines_left) : lines;
  const int chunks_here = chunks_left < chunks ? static_cast<int>(chunks_left) : chunks;
  const bool full = lines_here == lines && chunks_here == chunks;
  wait_then_trigger_dependents();

  in += matrix * m.in_stride + row0 * m.in_ld + col0 * Bytes;
  if (full) {
    load_tile<Bytes, Around, true>(tile, in, m, lines_here, chunks_here);
  } else {
    load_tile<Bytes, Around, false>(tile, in, m, lines_here, chunks_here);
  }
  __syncthreads();

  out += matrix * m.out_stride + col0 * m.out_ld + row0 * Bytes;
  if (full) {
    store_tile<Bytes, true>(out, tile, m, lines_here, chunks_here * edge);
  } else {
    store_tile<Bytes, false>(out, tile, m, lines_here, chunks_here * edge);
  }
}

// Of small matrices of 1, 2 and 4 byte elements, with less work a thread than in transpose_tiled: where all blocks are
// resident at once, the time is the latency of one block. A thread loads 16 bytes of each of the 4 / Bytes rows that
// make a word, and stores their columns, a word each, into the transposed tile, which is stored to global memory in
// vectors after the barrier.
//
// A tile: 128 bytes of each input row, 64 of each output row. 16 bytes after each row, and 16 more after each 16 /
// Bytes of them, spread the eight chunks of words that a warp stores at once over all banks.
template <int Bytes>
struct tile_4byte {
  static constexpr int threads = 128, chunks = 8, edge = 16 / Bytes, per_word = 4 / Bytes;
  static constexpr int height = 64 / Bytes, width = chunks * edge, pitch = 64;
  static constexpr int bytes = chunks * (edge * pitch + 16);
  static __device__ int row(int y) { return y * pitch + y / edge * 16; }
};

template <int Bytes>
__global__ void __launch_bounds__(tile_4byte<Bytes>::threads)
    transpose_tiled_4byte(unsigned char* out, const unsigned char* in, matrix_tiles m) {
  using shape = tile_4byte<Bytes>;
  constexpr int edge = shape::edge, per_word = shape::per_word;
  auto* tile = dynamic_shared<unsigned char>();
  const unsigned place = blockIdx.y * gridDim.x + blockIdx.x;
  const tile_index at = tile_at(m.order, place);
  if (place >= m.tiles) return;  // uniform exit: padding block of the 2-D grid
  const std::int64_t row0 = std::int64_t{at.down} * shape::height, col0 = std::int64_t{at.across} * shape::width;
  const std::int64_t matrix = at.matrix, rows_left = m.rows - row0, cols_left = m.cols - col0;

  const int thread = threadIdx.x, chunk = thread % shape::chunks, quad = thread / shape::chunks;
  in += matrix * m.in_stride + (row0 + quad * per_word) * m.in_ld + col0 * Bytes + chunk * 16;
  wait_then_trigger_dependents();
  if (quad * per_word < rows_left && chunk * edge < cols_left) {
    std::uint32_t w[per_word][4], transposed[edge];
#pragma unroll
    for (int i = 0; i < per_word; ++i) unpack_words(w[i], *reinterpret_cast<const word16*>(in + i * m.in_ld));
#pragma unroll
    for (int x = 0; x < 4; ++x) transpose_words<Bytes, 1>(transposed + x * per_word, &w[0][x]);
    unsigned char* to = tile + shape::row(chunk * edge) + quad * 4;
#pragma unroll
    for (int i = 0; i < edge; ++i) *reinterpret_cast<std::uint32_t*>(to + i * shape::pitch) = transposed[i];
  }
  __syncthreads();

  const int c = thread % 4, first = thread / 4;  // an output row takes four lanes
  constexpr int step = shape::threads / 4, rows = shape::width / step;
  out += matrix * m.out_stride + (col0 + first) * m.out_ld + row0 * Bytes + c * 16;
  if (c * edge >= rows_left) return;
#pragma unroll
  for (int i = 0; i < rows; ++i) {
    const int y = first + i * step;
    if (y < cols_left)
      *reinterpret_cast<word16*>(out) = *reinterpret_cast<const word16*>(tile + shape::row(y) + c * 16);
    out += step * m.out_ld;
  }
}

// A permutation whose fastest dimensions on the two sides differ and come in aligned pieces of 16 bytes: the register
// blocks of transpose_tiled, with more dimensions around. A block moves `lines` x `chunks` pieces: `chunks` go along
// the input's fastest dimension, `lines` along the output's; where such a dimension is short, further ones that lie
// next to it in memory are a part of the lines or chunks, so that both sides still have long runs.

/// Of the last tile along a dimension of the grid, `last` of `tile` indices are there.
struct cut_dim {
  int tile = 1, last = 1;
  bool in_lines = false, in_chunks = false;
};

struct tile_permutation {
  int blocks;
  strided_dims grid, line, chunk;
  cut_dim cut[most_dims];  // of `grid`
  int lines, chunks;       // without the dimensions that the grid cuts
  int most_lines, most_chunks;
  fast_divisor by_chunks;           // most_chunks
  int lanes;                        // threads that write an output run, a power of two
  int pitch, pad;                   // chunks of shared memory of a tile row; after each R rows
  std::int64_t row_step, col_step;  // bytes between rows of a register block in the input; in the output
};

// Lines and chunks of this block: fewer at the ends of the dimensions that the grid cuts.
__device__ inline void count_pieces(const tile_permutation& m, int block, int& lines, int& chunks) {
  lines = m.lines;
  chunks = m.chunks;
#pragma unroll
  for (int i = 0; i < most_dims; ++i) {
    if (i >= m.grid.rank) break;
    const int tiles = m.grid.dim[i].extent.divisor, rest = quotient(block, m.grid.dim[i].extent);
    const int tile = block - rest * tiles == tiles - 1 ? m.cut[i].last : m.cut[i].tile;
    if (m.cut[i].in_lines) lines *= tile;
    if (m.cut[i].in_chunks) chunks *= tile;
    block = rest;
  }
}

// Writes the tile's rows, each by `lanes` threads.
template <int Bytes>
__device__ void store_lines(unsigned char* out, const word16* tile, const tile_permutation& m,
                            const strided_place* line_place, const strided_place* chunk_place, int lines, int chunks) {
  constexpr int edge = 16 / Bytes;
  const int thread = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x) / m.lanes;
  const int line = thread & (m.lanes - 1), row = thread / m.lanes;
  if (line >= lines || row >= step) return;
  out += line_place[line].out;
  for (int y = row; y < chunks * edge; y += step) {
    const int chunk = y / edge, i = y % edge;
    *reinterpret_cast<word16*>(out + chunk_place[chunk].out + i * m.col_step) =
        tile[chunk * (edge * m.pitch + m.pad) + i * m.pitch + line];
  }
}

// As many as move the largest box (size_box) in one round, of one register block a thread, or two of 8 bytes: a second
// round would wait for the first.
template <int Bytes>
inline constexpr int permute_tiled_threads = Bytes < 4 ? 256 : 512;

template <int Bytes>
__global__ void __launch_bounds__(permute_tiled_threads<Bytes>)
    permute_tiled(unsigned char* out, const unsigned char* in, tile_permutation by_value) {
  const tile_permutation& m = argument_after(by_value, out, in);
  constexpr int edge = 16 / Bytes, depth = Bytes == 8 ? 2 : 1;
  const auto place = static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  if (place >= m.blocks) return;  // uniform exit: padding block of the 2-D grid
  const int block = static_cast<int>(place), thread = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  strided_place* const line_place = dynamic_shared<strided_place>();
  strided_place* const chunk_place = line_place + m.most_lines;
  word16* const tile = reinterpret_cast<word16*>(chunk_place + m.most_chunks + 2);  // two: what is found below

  // One thread finds the tile, while the others fill the tables.
  strided_place* const found = chunk_place + m.most_chunks;
  int* const counts = reinterpret_cast<int*>(found + 1);
  if (thread == threads - 1) {
    *found = place_of(m.grid, block);
    count_pieces(m, block, counts[0], counts[1]);
  }
  for (int i = thread; i < m.most_lines; i += threads) line_place[i] = place_of(m.line, i);
  for (int i = thread; i < m.most_chunks; i += threads) chunk_place[i] = place_of(m.chunk, i);
  __syncthreads();
  wait_then_trigger_dependents();

  const strided_place base = *found;
  const int lines = counts[0], chunks = counts[1];
  in += base.in;
  const int pieces = m.most_chunks * lines;
  for (int first = thread; first < pieces; first += depth * threads) {
    std::uint32_t w[depth][edge][4];
#pragma unroll
    for (int d = 0; d < depth; ++d) {
      const int piece = first + d * threads;
      if (depth > 1 && piece >= pieces) break;
      const int line = quotient(piece, m.by_chunks), chunk = piece - line * m.most_chunks;
      if (chunk >= chunks) continue;
      const unsigned char* from = in + line_place[line].in + chunk_place[chunk].in;
#pragma unroll
      for (int i = 0; i < edge; ++i) unpack_words(w[d][i], *reinterpret_cast<const word16*>(from + i * m.row_step));
    }
#pragma unroll
    for (int d = 0; d < depth; ++d) {
      const int piece = first + d * threads;
      if (depth > 1 && piece >= pieces) break;
      const int line = quotient(piece, m.by_chunks), chunk = piece - line * m.most_chunks;
      if (chunk >= chunks) continue;
      register_block<Bytes>::transpose(w[d]);
      word16* to = tile + chunk * (edge * m.pitch + m.pad) + line;
#pragma unroll
      for (int i = 0; i < edge; ++i) {
        to[i * m.pitch] = make_word16(w[d][i][0], w[d][i][1], w[d][i][2], w[d][i][3]);
      }
    }
  }
  __syncthreads();

  store_lines<Bytes>(out + base.out, tile, m, line_place, chunk_place, lines, chunks);
}

}  // namespace twill::TWILL_BACKEND::kernels
