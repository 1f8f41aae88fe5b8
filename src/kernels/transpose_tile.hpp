#pragma once

// Transpose 16 bytes at a time on every access, where all rows begin and end at multiples of 16 bytes. With R = 16 /
// element bytes, a thread loads R chunks of 16 bytes, one from each of R rows, transposes this R x R block in
// registers, and stores it into the transposed tile; after the barrier the tile leaves row by row.

#include <cstdint>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// A batch of matrices, and the tile that a block moves: 2^lines x 2^chunks blocks of R x R elements.
struct tile_matrices {
  std::int64_t rows, cols;                            // elements
  std::int64_t in_ld, out_ld, in_stride, out_stride;  // bytes
  unsigned tiles_r, tiles_c, tiles;                   // down, across, in all
  int lines_shift, chunks_shift;
  int pad;  // chunks of shared memory after each R tile rows
};

// Blocks that a thread moves.
template <int Bytes>
inline constexpr int tile_depth = Bytes == 16  ? 4
                                  : Bytes == 8 ? 2
                                               : 1;

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

// Where output row y of the tile begins in shared memory, in chunks. Rows are an odd number of chunks apart, and `pad`
// is chosen so that the eight lanes that a 16-byte shared access serves at once touch all banks, on writing and
// reading.
template <int Bytes>
__device__ int tile_place(const tile_matrices& m, int y) {
  return y * ((1 << m.lines_shift) + 1) + y / (16 / Bytes) * m.pad;
}

__device__ inline void take_apart(std::uint32_t (&w)[4], const word16& v) {
  w[0] = word<0>(v);
  w[1] = word<1>(v);
  w[2] = word<2>(v);
  w[3] = word<3>(v);
}

// Moves the blocks of a thread, each so many threads behind the one before, to the transposed tile.
template <int Bytes, bool Whole>
__device__ void load_tile(word16* tile, const unsigned char* in, const tile_matrices& m, int lines_here,
                          int chunks_here) {
  constexpr int edge = 16 / Bytes, depth = tile_depth<Bytes>;
  std::uint32_t w[depth][edge][4];
  const int thread = threadIdx.x, threads = blockDim.x, mask = (1 << m.chunks_shift) - 1;
  const auto line_of = [&](int d) { return (thread + d * threads) >> m.chunks_shift; };
  const auto chunk_of = [&](int d) { return (thread + d * threads) & mask; };
  // All loads are on their way together: a test between them would hold them up.
#pragma unroll
  for (int d = 0; d < depth; ++d) {
    if (!Whole && (line_of(d) >= lines_here || chunk_of(d) >= chunks_here)) continue;
    const unsigned char* from = in + line_of(d) * edge * m.in_ld + chunk_of(d) * 16;
#pragma unroll
    for (int i = 0; i < edge; ++i) take_apart(w[d][i], *reinterpret_cast<const word16*>(from + i * m.in_ld));
  }
#pragma unroll
  for (int d = 0; d < depth; ++d) {
    if (!Whole && (line_of(d) >= lines_here || chunk_of(d) >= chunks_here)) continue;
    register_block<Bytes>::transpose(w[d]);
    word16* to = tile + tile_place<Bytes>(m, chunk_of(d) * edge) + line_of(d);
#pragma unroll
    for (int i = 0; i < edge; ++i) {
      const std::uint32_t(&v)[4] = w[d][i];
      to[i * ((1 << m.lines_shift) + 1)] = make_word16(v[0], v[1], v[2], v[3]);
    }
  }
}

// Writes `width` output rows of `lines_here` chunks, a chunk a thread at a time.
template <int Bytes, bool Whole>
__device__ void store_tile(unsigned char* out, const word16* tile, const tile_matrices& m, int lines_here, int width) {
  constexpr int chunks = tile_depth<Bytes> * (16 / Bytes), group = 4;
  const int thread = threadIdx.x, threads = blockDim.x, mask = (1 << m.lines_shift) - 1;
#pragma unroll
  for (int d = 0; d < chunks; d += group) {
    word16 held[group];
#pragma unroll
    for (int g = 0; g < group; ++g) {
      const int at = thread + (d + g) * threads;
      held[g] = tile[tile_place<Bytes>(m, at >> m.lines_shift) + (at & mask)];
    }
#pragma unroll
    for (int g = 0; g < group; ++g) {
      const int at = thread + (d + g) * threads, y = at >> m.lines_shift, c = at & mask;
      if (Whole || (y < width && c < lines_here)) *reinterpret_cast<word16*>(out + y * m.out_ld + c * 16) = held[g];
    }
  }
}

// Blocks walk along the output's rows: what one block leaves of a line, or of a DRAM page, the next one completes.
template <int Bytes>
__global__ void __launch_bounds__(256) transpose_tile(unsigned char* out, const unsigned char* in, tile_matrices m) {
  constexpr int edge = 16 / Bytes;
  word16* tile = dynamic_shared<word16>();
  unsigned place = blockIdx.y * gridDim.x + blockIdx.x;
  if (place >= m.tiles) return;  // the whole block: the grid is a rectangle
  const std::int64_t row0 = static_cast<std::int64_t>(place % m.tiles_r) * edge << m.lines_shift;
  place /= m.tiles_r;
  const std::int64_t col0 = static_cast<std::int64_t>(place % m.tiles_c) * edge << m.chunks_shift;
  const std::int64_t matrix = place / m.tiles_c;
  const int lines = 1 << m.lines_shift, chunks = 1 << m.chunks_shift;
  const std::int64_t lines_left = (m.rows - row0) / edge, chunks_left = (m.cols - col0) / edge;
  const int lines_here = lines_left < lines ? static_cast<int>(lines_left) : lines;
  const int chunks_here = chunks_left < chunks ? static_cast<int>(chunks_left) : chunks;
  const bool whole = lines_here == lines && chunks_here == chunks;

  in += matrix * m.in_stride + row0 * m.in_ld + col0 * Bytes;
  if (whole) {
    load_tile<Bytes, true>(tile, in, m, lines_here, chunks_here);
  } else {
    load_tile<Bytes, false>(tile, in, m, lines_here, chunks_here);
  }
  __syncthreads();

  out += matrix * m.out_stride + col0 * m.out_ld + row0 * Bytes;
  if (whole) {
    store_tile<Bytes, true>(out, tile, m, lines_here, chunks_here * edge);
  } else {
    store_tile<Bytes, false>(out, tile, m, lines_here, chunks_here * edge);
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
