#pragma once

// Transpose of aligned matrices, 16 bytes at a time on every access. With R = 16 / element bytes, a thread loads R
// pieces of 16 bytes, one from each of R rows, transposes this R x R block in registers, and stores it into the
// transposed tile; after the barrier the tile leaves row by row. Chunk c of tile row y lies at c ^ (y / R & 7): the
// eight lanes that a 16-byte shared access serves at once then touch all banks, on writing and on reading.

#include <cstdint>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// A batch of matrices whose rows begin at multiples of 16 bytes; extents in 16-byte chunks and elements.
struct tile_matrices {
  std::int64_t rows, cols;                            // elements, multiples of 16 / element bytes
  std::int64_t in_ld, out_ld, in_stride, out_stride;  // bytes
  std::int64_t tiles_r, tiles_c;
};

// In place: w[y] becomes column y of the block whose row y is w[y]. One overload an element size.
template <int Bytes>
struct register_block;

template <>
struct register_block<16> {
  static __device__ void transpose(std::uint32_t (&)[1][4]) {}
};

template <>
struct register_block<8> {
  static __device__ void transpose(std::uint32_t (&w)[2][4]) {
    for (int i = 0; i < 2; ++i) {
      const std::uint32_t held = w[0][2 + i];
      w[0][2 + i] = w[1][i];
      w[1][i] = held;
    }
  }
};

template <>
struct register_block<4> {
  static __device__ void transpose(std::uint32_t (&w)[4][4]) {
#pragma unroll
    for (int y = 0; y < 4; ++y) {
#pragma unroll
      for (int x = 0; x < y; ++x) {
        const std::uint32_t held = w[y][x];
        w[y][x] = w[x][y];
        w[x][y] = held;
      }
    }
  }
};

template <>
struct register_block<2> {
  static __device__ void transpose(std::uint32_t (&w)[8][4]) {
    std::uint32_t t[8][4];
#pragma unroll
    for (int x = 0; x < 4; ++x) {
#pragma unroll
      for (int y = 0; y < 4; ++y) {
        t[2 * x][y] = byte_permute(w[2 * y][x], w[2 * y + 1][x], 0x5410);
        t[2 * x + 1][y] = byte_permute(w[2 * y][x], w[2 * y + 1][x], 0x7632);
      }
    }
#pragma unroll
    for (int y = 0; y < 8; ++y) {
#pragma unroll
      for (int x = 0; x < 4; ++x) w[y][x] = t[y][x];
    }
  }
};

template <>
struct register_block<1> {
  static __device__ void transpose(std::uint32_t (&w)[16][4]) {
    std::uint32_t t[16][4];
#pragma unroll
    for (int x = 0; x < 4; ++x) {
#pragma unroll
      for (int y = 0; y < 4; ++y) {
        const std::uint32_t a = byte_permute(w[4 * y][x], w[4 * y + 1][x], 0x5140);
        const std::uint32_t b = byte_permute(w[4 * y + 2][x], w[4 * y + 3][x], 0x5140);
        const std::uint32_t c = byte_permute(w[4 * y][x], w[4 * y + 1][x], 0x7362);
        const std::uint32_t d = byte_permute(w[4 * y + 2][x], w[4 * y + 3][x], 0x7362);
        t[4 * x][y] = byte_permute(a, b, 0x5410);
        t[4 * x + 1][y] = byte_permute(a, b, 0x7632);
        t[4 * x + 2][y] = byte_permute(c, d, 0x5410);
        t[4 * x + 3][y] = byte_permute(c, d, 0x7632);
      }
    }
#pragma unroll
    for (int y = 0; y < 16; ++y) {
#pragma unroll
      for (int x = 0; x < 4; ++x) w[y][x] = t[y][x];
    }
  }
};

// Chunks: 16-byte chunks along a side of the tile, 8 or 16; Chunks * Chunks threads. Blocks walk along the output's
// rows: what one block leaves of a line, or of a DRAM page, the next one completes.
template <int Bytes, int Chunks>
__global__ void __launch_bounds__(Chunks* Chunks)
    transpose_tile(unsigned char* out, const unsigned char* in, tile_matrices m) {
  constexpr int block_edge = 16 / Bytes, edge = Chunks * block_edge;
  word16* tile = dynamic_shared<word16>();
  std::int64_t place = static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  const std::int64_t row0 = place % m.tiles_r * edge;
  place /= m.tiles_r;
  const std::int64_t col0 = place % m.tiles_c * edge;
  const std::int64_t matrix = place / m.tiles_c;
  const int chunk = threadIdx.x % Chunks, line = threadIdx.x / Chunks;

  std::uint32_t w[block_edge][4];
  {
    const bool inside = row0 + line * block_edge < m.rows && col0 + chunk * block_edge < m.cols;
    const unsigned char* from =
        in + matrix * m.in_stride + (row0 + line * block_edge) * m.in_ld + col0 * Bytes + chunk * 16;
#pragma unroll
    for (int i = 0; i < block_edge; ++i) {
      word16 v = make_word16(0, 0, 0, 0);
      if (inside) v = *reinterpret_cast<const word16*>(from + i * m.in_ld);
      w[i][0] = word<0>(v);
      w[i][1] = word<1>(v);
      w[i][2] = word<2>(v);
      w[i][3] = word<3>(v);
    }
  }
  register_block<Bytes>::transpose(w);
#pragma unroll
  for (int i = 0; i < block_edge; ++i) {
    tile[(chunk * block_edge + i) * Chunks + (line ^ (chunk & 7))] = make_word16(w[i][0], w[i][1], w[i][2], w[i][3]);
  }
  __syncthreads();
  unsigned char* to = out + matrix * m.out_stride + (col0 + line) * m.out_ld + row0 * Bytes + chunk * 16;
#pragma unroll
  for (int i = 0; i < block_edge; ++i) {
    const int y = line + i * Chunks;
    if (col0 + y < m.cols && row0 + chunk * block_edge < m.rows) {
      *reinterpret_cast<word16*>(to + i * Chunks * m.out_ld) = tile[y * Chunks + (chunk ^ (y / block_edge & 7))];
    }
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
