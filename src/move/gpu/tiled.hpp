#pragma once

// Transpose 16 bytes at a time on every access, where all rows begin and end at multiples of 16 bytes: the kernels
// tiled-2d and tiled-4byte.

#include <cstdint>

#include "device.hpp"
#include "gpu/dependent_launch.hpp"
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

// Of matrices of 1, 2 and 4 byte elements, with less work a thread than in transpose_tiled: where a multiprocessor gets
// few tiles, much of the time is the latency of one. A thread loads 16 bytes of each of the 4 / Bytes rows that
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

}  // namespace twill::TWILL_BACKEND::kernels
