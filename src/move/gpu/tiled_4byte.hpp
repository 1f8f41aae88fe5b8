#pragma once

// Transpose of small matrices of 1, 2 and 4 byte elements whose rows begin and end at multiples of 16 bytes. Less work
// per thread than in transpose_tiled: where all blocks are resident at once, the time is the latency of one block.
// A thread loads 16 bytes of each of the 4 / Bytes rows that make a word, and stores their columns, a word each, into
// the transposed tile, which is stored to global memory in vectors after the barrier.

#include <cstdint>

#include "device.hpp"
#include "gpu/register_block.hpp"

namespace twill::TWILL_BACKEND::kernels {

struct tiled_4byte_matrices {
  std::int64_t rows, cols;                            // elements
  std::int64_t in_ld, out_ld, in_stride, out_stride;  // bytes
  unsigned tiles_r, tiles_c, tiles;                   // down, across, in all
};

// A tile: 128 bytes of each input row, 64 of each output row. 16 bytes after each row, and 16 more after each 16 /
// Bytes of them, spread the eight chunks of words that a warp stores at once over all banks.
template <int Bytes>
struct tile_4byte {
  static constexpr int threads = 128, chunks = 8, edge = 16 / Bytes, per_word = 4 / Bytes;
  static constexpr int height = 64 / Bytes, width = chunks * edge, pitch = 64;
  static constexpr int bytes = chunks * (edge * pitch + 16);
  static __device__ int row(int y) { return y * pitch + y / edge * 16; }
};

// The words of the columns of `per_word` rows of 16 bytes.
template <int Bytes>
__device__ void transpose_quad(std::uint32_t (&to)[16 / Bytes], const std::uint32_t (&w)[4 / Bytes][4]) {
#pragma unroll
  for (int x = 0; x < 4; ++x) {
    if constexpr (Bytes == 4) {
      to[x] = w[0][x];
    } else if constexpr (Bytes == 2) {
      to[2 * x] = byte_permute(w[0][x], w[1][x], 0x5410);
      to[2 * x + 1] = byte_permute(w[0][x], w[1][x], 0x7632);
    } else {
      const std::uint32_t a = byte_permute(w[0][x], w[1][x], 0x5140), b = byte_permute(w[2][x], w[3][x], 0x5140);
      const std::uint32_t c = byte_permute(w[0][x], w[1][x], 0x7362), d = byte_permute(w[2][x], w[3][x], 0x7362);
      to[4 * x] = byte_permute(a, b, 0x5410);
      to[4 * x + 1] = byte_permute(a, b, 0x7632);
      to[4 * x + 2] = byte_permute(c, d, 0x5410);
      to[4 * x + 3] = byte_permute(c, d, 0x7632);
    }
  }
}

template <int Bytes>
__global__ void __launch_bounds__(tile_4byte<Bytes>::threads)
    transpose_tiled_4byte(unsigned char* out, const unsigned char* in, tiled_4byte_matrices m) {
  using shape = tile_4byte<Bytes>;
  constexpr int edge = shape::edge, per_word = shape::per_word;
  auto* tile = dynamic_shared<unsigned char>();
  unsigned place = blockIdx.y * gridDim.x + blockIdx.x;
  if (place >= m.tiles) return;  // uniform exit: padding block of the 2-D grid
  const std::int64_t row0 = static_cast<std::int64_t>(place % m.tiles_r) * shape::height;
  place /= m.tiles_r;
  const std::int64_t col0 = static_cast<std::int64_t>(place % m.tiles_c) * shape::width;
  const std::int64_t matrix = place / m.tiles_c, rows_left = m.rows - row0, cols_left = m.cols - col0;

  const int thread = threadIdx.x, chunk = thread % shape::chunks, quad = thread / shape::chunks;
  in += matrix * m.in_stride + (row0 + quad * per_word) * m.in_ld + col0 * Bytes + chunk * 16;
  if (quad * per_word < rows_left && chunk * edge < cols_left) {
    std::uint32_t w[per_word][4], transposed[edge];
#pragma unroll
    for (int i = 0; i < per_word; ++i) unpack_words(w[i], *reinterpret_cast<const word16*>(in + i * m.in_ld));
    transpose_quad<Bytes>(transposed, w);
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
