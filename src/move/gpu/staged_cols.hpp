#pragma once

// Transpose of some ten to a hundred long rows of 1, 2 and 4 byte elements into packed columns, which side by side are
// one run of bytes. A block loads the aligned chunks of 16 bytes of a tile of columns, 32 chunks of each row, to
// shared memory and gathers the aligned chunks of the output; the ends of its run, less than a chunk each, go unit by
// unit.

#include <cstdint>

#include "device.hpp"
#include "staged_misaligned.hpp"

namespace twill::TWILL_BACKEND::kernels {

// Of a row, which may begin inside its first vector, a block takes 31 vectors. In shared memory the pitch is padded by
// a word against bank conflicts, so elements of more than a word would be misaligned.
constexpr int staged_cols_threads = 256, band_bytes = 31 * 16, band_pitch = 32 * 16 + 4;

struct staged_cols_matrices {
  std::int64_t cols;                          // elements
  std::int64_t in_ld, in_stride, out_stride;  // bytes
  unsigned tiles, all_tiles;                  // of a matrix; in all
  int rows;
  divider by_rows;
};

// Loads the rows of the tile that begins at byte `offset` of them.
template <class Unit>
__device__ void load_columns(unsigned char* shared, const unsigned char* in, std::int64_t offset,
                             const staged_cols_matrices& m) {
  constexpr int size = static_cast<int>(sizeof(Unit));
  const std::int64_t row_bytes = m.cols * size;
  const int lane = threadIdx.x % 32;
#pragma unroll 4
  for (int row = threadIdx.x / 32; row < m.rows; row += staged_cols_threads / 32) {
    const unsigned char* from = in + row * m.in_ld + offset;
    const int skew = static_cast<int>(reinterpret_cast<std::uintptr_t>(from) & 15);
    const std::int64_t at = offset - skew + lane * 16;
    from += lane * 16 - skew;
    unsigned char* to = shared + row * band_pitch + lane * 16;
    if (at >= 0 && at + 16 <= row_bytes) {
      store_words<std::uint32_t>(to, *reinterpret_cast<const word16*>(from));
    } else {
      for (int u = 0; u < 16; u += size) {
        if (at + u < 0 || at + u >= row_bytes) continue;
        *reinterpret_cast<Unit*>(to + u) = *reinterpret_cast<const Unit*>(from + u);
      }
    }
  }
}

template <class Unit>
__global__ void __launch_bounds__(staged_cols_threads)
    transpose_staged_cols(unsigned char* out, const unsigned char* in, staged_cols_matrices m) {
  constexpr int size = static_cast<int>(sizeof(Unit)), units = 16 / size, width = band_bytes / size;
  static_assert(band_pitch % size == 0);
  unsigned place = blockIdx.y * gridDim.x + blockIdx.x;
  if (place >= m.all_tiles) return;  // uniform exit: padding block of the 2-D grid
  const std::int64_t matrix = place / m.tiles, col0 = static_cast<std::int64_t>(place % m.tiles) * width;
  const int cols = m.cols - col0 < width ? static_cast<int>(m.cols - col0) : width, bytes = cols * m.rows * size;
  in += matrix * m.in_stride;
  out += matrix * m.out_stride + col0 * m.rows * size;
  unsigned char* shared = dynamic_shared<unsigned char>();
  load_columns<Unit>(shared, in, col0 * size, m);
  __syncthreads();

  // Of the address of a row's part only the lowest bits count, so the others may go: unsigned, whatever m.in_ld is.
  const auto begin = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(in + col0 * size));
  const auto ld = static_cast<unsigned>(m.in_ld);
  const auto place_at = [&](int column, int row) {
    const auto skew = static_cast<int>((begin + static_cast<unsigned>(row) * ld) & 15);
    return row * band_pitch + skew + column * size;
  };
  const int skew = static_cast<int>(reinterpret_cast<std::uintptr_t>(out) & 15), first = threadIdx.x * 16 - skew;
  for (int at = first < 0 ? first + staged_cols_threads * 16 : first; at + 16 <= bytes;
       at += staged_cols_threads * 16) {
    int column = static_cast<int>(divide(at / size, m.by_rows)), row = at / size - column * m.rows, from[units];
#pragma unroll
    for (int u = 0; u < units; ++u) {
      from[u] = place_at(column, row);
      if (++row == m.rows) {
        row = 0;
        ++column;
      }
    }
    *reinterpret_cast<word16*>(out + at) = gathered<Unit>(shared, from);
  }
  at_ends<Unit>(bytes, skew, [&](int at) {
    const int column = static_cast<int>(divide(at / size, m.by_rows)), row = at / size - column * m.rows;
    *reinterpret_cast<Unit*>(out + at) = *reinterpret_cast<const Unit*>(shared + place_at(column, row));
  });
}

}  // namespace twill::TWILL_BACKEND::kernels
