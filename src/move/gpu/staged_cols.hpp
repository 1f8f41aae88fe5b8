#pragma once

// Transpose of some to several hundred long rows of 1, 2 and 4 byte elements into packed columns, which side by side
// are one run of bytes. A block loads the aligned vectors of a band of columns, realigns each row to words, and gathers
// the aligned vectors of the output from shared memory; the ends of its run, less than a vector each, go unit by unit.

#include <cstdint>

#include "device.hpp"
#include "staged_misaligned.hpp"

namespace twill::TWILL_BACKEND::kernels {

// Of a row, which may begin inside its first vector, `Vectors` lanes load as many and keep the bytes of one fewer. The
// pitch leaves room for the others.
template <int Vectors>
struct column_band {
  static constexpr int bytes = (Vectors - 1) * 16, pitch = Vectors * 16 + 12, lead = 16;
};

struct staged_cols_matrices {
  std::int64_t cols;                          // elements
  std::int64_t in_ld, in_stride, out_stride;  // bytes
  unsigned tiles, all_tiles;                  // of a matrix; in all
  int rows;
  divider by_rows;
};

// Where a row of a band lies in shared memory. Lanes gather consecutive vectors of 16 / size rows: a word more for each
// of these puts them into different banks.
template <class Unit, int Vectors>
__device__ int band_row(int row) {
  constexpr int units = 16 / static_cast<int>(sizeof(Unit));
  return column_band<Vectors>::lead + row * column_band<Vectors>::pitch + row / units * 4;
}

// The vector at byte `at` of a row of `bytes` bytes; 0 outside of it.
template <class Unit>
__device__ word16 load_edge_vector(const unsigned char* from, std::int64_t at, std::int64_t bytes) {
  constexpr int size = static_cast<int>(sizeof(Unit));
  unit_chunk<Unit> v;
#pragma unroll
  for (int u = 0; u < 16 / size; ++u) {
    const std::int64_t byte = at + u * size;
    v.unit[u] = byte >= 0 && byte < bytes ? *reinterpret_cast<const Unit*>(from + u * size) : Unit{0};
  }
  return v.packed();
}

// Loads the rows of the band that begins at byte `offset` of them, `Depth` of each thread at once. Edge: vectors may
// lie partly outside of their rows.
template <class Unit, int Vectors, int Threads, int Depth, bool Edge>
__device__ void load_band(unsigned char* shared, const unsigned char* in, std::int64_t offset,
                          const staged_cols_matrices& m) {
  constexpr int rows_at_once = Threads / Vectors;
  const int lane = threadIdx.x % Vectors, last = m.rows - 1;
  const std::int64_t row_bytes = m.cols * static_cast<std::int64_t>(sizeof(Unit));
#pragma unroll 1
  for (int first = 0; first < m.rows; first += Depth * rows_at_once) {
    const int row0 = first + static_cast<int>(threadIdx.x) / Vectors;
    word16 held[Depth];
    int skew[Depth];
#pragma unroll
    for (int d = 0; d < Depth; ++d) {
      const int row = row0 + d * rows_at_once;
      const unsigned char* from = in + (row < last ? row : last) * m.in_ld + offset;
      skew[d] = static_cast<int>(reinterpret_cast<std::uintptr_t>(from) & 15);
      from += lane * 16 - skew[d];
      const std::int64_t at = offset - skew[d] + lane * 16;
      if (!Edge || (at >= 0 && at + 16 <= row_bytes)) {
        held[d] = *reinterpret_cast<const word16*>(from);
      } else {
        held[d] = load_edge_vector<Unit>(from, at, row_bytes);
      }
    }
#pragma unroll
    for (int d = 0; d < Depth; ++d) {
      const int row = row0 + d * rows_at_once;
      word16 v = held[d];
      if constexpr (sizeof(Unit) < 4) {
        const std::uint32_t next = shuffle_down(word<0>(v), 1), selector = 0x3210 + 0x1111 * (skew[d] & 3);
        v = make_word16(byte_permute(word<0>(v), word<1>(v), selector), byte_permute(word<1>(v), word<2>(v), selector),
                        byte_permute(word<2>(v), word<3>(v), selector), byte_permute(word<3>(v), next, selector));
      }
      if (row <= last)
        store_words<std::uint32_t>(shared + band_row<Unit, Vectors>(row) + lane * 16 - (skew[d] & 12), v);
    }
  }
}

// The vector of consecutive units of packed columns that begins at `row` of a column.
template <class Unit, int Vectors>
__device__ word16 gather_rows(const unsigned char* shared, int row, int column, int rows) {
  constexpr int size = static_cast<int>(sizeof(Unit)), units = 16 / size, pitch = column_band<Vectors>::pitch;
  int from[units];
  if (rows >= units) {  // at most one column ends, and one word is skipped
    const int wrap = rows - row, skip = units - row % units;
    const int here = band_row<Unit, Vectors>(row) + column * size;
    const int next = band_row<Unit, Vectors>(0) + (column + 1) * size - wrap * pitch;
#pragma unroll
    for (int u = 0; u < units; ++u) from[u] = (u >= wrap ? next : u >= skip ? here + 4 : here) + u * pitch;
  } else {
#pragma unroll
    for (int u = 0; u < units; ++u) {
      from[u] = band_row<Unit, Vectors>(row) + column * size;
      if (++row == rows) {
        row = 0;
        ++column;
      }
    }
  }
  return gathered<Unit>(shared, from);
}

template <class Unit, int Vectors, int Threads>
__global__ void __launch_bounds__(Threads)
    transpose_staged_cols(unsigned char* out, const unsigned char* in, staged_cols_matrices m) {
  constexpr int size = static_cast<int>(sizeof(Unit)), width = column_band<Vectors>::bytes / size;
  unsigned place = blockIdx.y * gridDim.x + blockIdx.x;
  if (place >= m.all_tiles) return;  // uniform exit: padding block of the 2-D grid
  const std::int64_t matrix = place / m.tiles, col0 = static_cast<std::int64_t>(place % m.tiles) * width;
  const int cols = m.cols - col0 < width ? static_cast<int>(m.cols - col0) : width, bytes = cols * m.rows * size;
  in += matrix * m.in_stride;
  out += matrix * m.out_stride + col0 * m.rows * size;
  unsigned char* shared = dynamic_shared<unsigned char>();
  if (col0 >= 16 / size && (col0 + width + 32 / size) <= m.cols) {
    load_band<Unit, Vectors, Threads, 4, false>(shared, in, col0 * size, m);
  } else {
    load_band<Unit, Vectors, Threads, 1, true>(shared, in, col0 * size, m);
  }
  __syncthreads();

  const int skew = static_cast<int>(reinterpret_cast<std::uintptr_t>(out) & 15), first = threadIdx.x * 16 - skew;
  for (int at = first < 0 ? first + Threads * 16 : first; at + 16 <= bytes; at += Threads * 16) {
    const int column = static_cast<int>(divide(at / size, m.by_rows)), row = at / size - column * m.rows;
    *reinterpret_cast<word16*>(out + at) = gather_rows<Unit, Vectors>(shared, row, column, m.rows);
  }
  at_ends<Unit>(bytes, skew, [&](int at) {
    const int column = static_cast<int>(divide(at / size, m.by_rows)), row = at / size - column * m.rows;
    *reinterpret_cast<Unit*>(out + at) =
        *reinterpret_cast<const Unit*>(shared + band_row<Unit, Vectors>(row) + column * size);
  });
}

}  // namespace twill::TWILL_BACKEND::kernels
