#pragma once

// Transpose 16 bytes at a time on every access. With R = 16 / element bytes, a thread loads R chunks of 16 bytes, one
// from each of R rows, transposes this R x R block in registers, and stores it into the transposed tile; after the
// barrier the tile leaves row by row. Where rows do not begin at multiples of 16 bytes, a chunk is cut from the two
// aligned ones that hold it, on loading and on storing; the boundaries between tiles then move, output row by output
// row, to the next multiple of 16, for which a tile reads one more line of blocks: all chunks are written whole.

#include <cstdint>

#include "device.hpp"
#include "kernels/realign.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// A batch of matrices, and the tile that a block moves: `lines` x `chunks` blocks of R x R elements.
struct tile_matrices {
  std::int64_t rows, cols, batch;                     // elements
  std::int64_t in_ld, out_ld, in_stride, out_stride;  // bytes
  std::int64_t tiles_r, tiles_c;
  int lines, chunks;  // powers of two
  int threads;        // that load `lines`; the threads after them load the line that moved boundaries need
  int lanes;          // threads that write one output row of the tile, a power of two
  int pad;            // chunks of shared memory after each R tile rows
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

// Where output row y of the tile begins in shared memory, in chunks. Rows are an odd number of chunks apart, and `pad`
// is chosen so that the eight lanes that a 16-byte shared access serves at once touch all banks, on writing and
// reading.
template <int Bytes>
__device__ int tile_place(const tile_matrices& m, int y) {
  return y * (m.lines + 1) + y / (16 / Bytes) * m.pad;
}

// The 16 bytes at `offset` of a row of `bytes` bytes, element by element; what lies behind the row is 0.
template <int Bytes>
__device__ word16 load_elements(const unsigned char* row, std::int64_t offset, std::int64_t bytes) {
  using unit = typename unit_of_bytes<Bytes>::type;
  unit_chunk<unit> v;
  v.whole = make_word16(0, 0, 0, 0);
#pragma unroll
  for (int u = 0; u < 16 / Bytes; ++u) {
    if (offset + u * Bytes < bytes) v.unit[u] = *reinterpret_cast<const unit*>(row + offset + u * Bytes);
  }
  return v.whole;
}

__device__ inline void take_apart(std::uint32_t (&w)[4], const word16& v) {
  w[0] = word<0>(v);
  w[1] = word<1>(v);
  w[2] = word<2>(v);
  w[3] = word<3>(v);
}

// Loads R rows that begin anywhere, `group` of them at a time so that their loads are on their way together.
template <int Bytes>
__device__ void load_misaligned(std::uint32_t (&w)[16 / Bytes][4], const unsigned char* from, std::int64_t ld) {
  constexpr int edge = 16 / Bytes, group = edge < 4 ? edge : 4;
#pragma unroll
  for (int i = 0; i < edge; i += group) {
    word16 low[group], high[group];
    int skip[group];
#pragma unroll
    for (int g = 0; g < group; ++g) {
      const unsigned char* row = from + (i + g) * ld;
      skip[g] = static_cast<int>(reinterpret_cast<std::uintptr_t>(row) & 15);
      low[g] = *reinterpret_cast<const word16*>(row - skip[g]);
      high[g] = *reinterpret_cast<const word16*>(row + (skip[g] ? 16 - skip[g] : 0));
    }
#pragma unroll
    for (int g = 0; g < group; ++g) take_apart(w[i + g], realigned<Bytes>(low[g], high[g], skip[g]));
  }
}

// Loads the block at tile line `line`, chunk `chunk`, and leaves it transposed in the tile.
template <int Bytes, bool Aligned>
__device__ void load_block(word16* tile, const unsigned char* in, const tile_matrices& m, std::int64_t row0,
                           std::int64_t col0, int line, int chunk) {
  constexpr int edge = 16 / Bytes;
  const std::int64_t row = row0 + line * edge, offset = col0 * Bytes + chunk * 16, bytes = m.cols * Bytes;
  if (row >= m.rows || offset >= bytes) return;
  const unsigned char* from = in + row * m.in_ld + offset;
  std::uint32_t w[edge][4];
  if (Aligned) {
#pragma unroll
    for (int i = 0; i < edge; ++i) take_apart(w[i], *reinterpret_cast<const word16*>(from + i * m.in_ld));
  } else {
    // Aligned chunks may begin 15 bytes early and end 31 late: in the row, or in its packed neighbours.
    const bool before = offset >= 16 || (row > 0 && m.in_ld == bytes);
    const bool behind = offset + 32 <= bytes || (row + edge < m.rows && m.in_ld == bytes && bytes >= 32);
    if (before && behind && row + edge <= m.rows) {
      load_misaligned<Bytes>(w, from, m.in_ld);
    } else {
#pragma unroll
      for (int i = 0; i < edge; ++i) {
        const bool there = row + i < m.rows;
        take_apart(w[i], load_elements<Bytes>(in + (row + i) * m.in_ld, offset, there ? bytes : 0));
      }
    }
  }
  register_block<Bytes>::transpose(w);
#pragma unroll
  for (int i = 0; i < edge; ++i) {
    tile[tile_place<Bytes>(m, chunk * edge + i) + line] = make_word16(w[i][0], w[i][1], w[i][2], w[i][3]);
  }
}

// Writes the bytes [first, end) of one output row, of which `from` holds the tile's, chunk by chunk from `lane` on.
template <int Bytes>
__device__ void store_row(unsigned char* to, const word16* from, int first, int end, int lane, int lanes) {
  using unit = typename unit_of_bytes<Bytes>::type;
  const int begin = first - static_cast<int>((reinterpret_cast<std::uintptr_t>(to) + first) & 15);
  for (int at = begin + lane * 16; at < end; at += lanes * 16) {
    if (at >= first && at + 16 <= end) {
      const int skip = at & 15, k = at >> 4;
      *reinterpret_cast<word16*>(to + at) = realigned<Bytes>(from[k], from[k + 1], skip);
      continue;
    }
    for (int byte = at < first ? first : at; byte < at + 16 && byte < end; byte += Bytes) {
      *reinterpret_cast<unit*>(to + byte) =
          *reinterpret_cast<const unit*>(reinterpret_cast<const unsigned char*>(from) + byte);
    }
  }
}

// Blocks walk along the output's rows: what one block leaves of a line, or of a DRAM page, the next one completes.
template <int Bytes, bool Aligned>
__global__ void __launch_bounds__(288) transpose_tile(unsigned char* out, const unsigned char* in, tile_matrices m) {
  constexpr int edge = 16 / Bytes, depth = Bytes == 16 ? 4 : Bytes == 8 ? 2 : 1;
  word16* tile = dynamic_shared<word16>();
  std::int64_t place = static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  const std::int64_t row0 = place % m.tiles_r * m.lines * edge;
  place /= m.tiles_r;
  const std::int64_t col0 = place % m.tiles_c * m.chunks * edge;
  const std::int64_t matrix = place / m.tiles_c;
  if (matrix >= m.batch) return;  // the whole block: the grid is a rectangle
  const int thread = threadIdx.x;

  in += matrix * m.in_stride;
  if (thread < m.threads) {
#pragma unroll
    for (int d = 0; d < depth; ++d) {
      const int block = thread + d * m.threads;
      load_block<Bytes, Aligned>(tile, in, m, row0, col0, block / m.chunks, block & (m.chunks - 1));
    }
  } else if (!Aligned) {
    for (int c = thread - m.threads; c < m.chunks; c += static_cast<int>(blockDim.x) - m.threads) {
      load_block<Bytes, Aligned>(tile, in, m, row0, col0, m.lines, c);
    }
  }
  __syncthreads();

  out += matrix * m.out_stride + col0 * m.out_ld + row0 * Bytes;
  const std::int64_t rows_left = m.rows - row0, cols_left = m.cols - col0;
  const int height = m.lines * edge,
            width = cols_left < m.chunks * edge ? static_cast<int>(cols_left) : m.chunks * edge;
  const int lane = thread & (m.lanes - 1);
  if (thread >= m.threads) return;
  for (int y = thread / m.lanes; y < width; y += m.threads / m.lanes) {
    unsigned char* to = out + y * m.out_ld;
    const word16* from = tile + tile_place<Bytes>(m, y);
    if (Aligned) {
      for (int c = lane; c < m.lines && c * edge < rows_left; c += m.lanes) {
        *reinterpret_cast<word16*>(to + c * 16) = from[c];
      }
      continue;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(to);
    const int first = row0 == 0 ? 0 : static_cast<int>(-address & 15);
    const int moved = height * Bytes + (rows_left <= height ? 0 : static_cast<int>(-(address + height * Bytes) & 15));
    store_row<Bytes>(to, from, first, rows_left * Bytes < moved ? static_cast<int>(rows_left) * Bytes : moved, lane,
                     m.lanes);
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
