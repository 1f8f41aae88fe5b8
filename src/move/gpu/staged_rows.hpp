#pragma once

// Transpose of packed matrices of some ten to a hundred columns: rows side by side are one run of bytes. A block loads
// a tile of them to shared memory in aligned vectors and gathers the vectors of each output row. Tile boundaries are
// rounded up, per output row, to a multiple of 32 bytes: each sector is written in full, by one block, and a tile
// stages 32 bytes of each output row more than it writes.

#include <cstdint>

#include "device.hpp"
#include "staged_misaligned.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int staged_rows_threads = 256, staged_rows_overlap = 32;

struct staged_rows_matrices {
  std::int64_t rows;                           // elements
  std::int64_t out_ld, in_stride, out_stride;  // bytes
  unsigned tiles, all_tiles;                   // of a matrix; in all
  int chunks_shift;                            // a tile writes 2^this chunks of each output row
  small_matrices shape;                        // columns and padding
};

// The place in shared memory of element `row` of output row `column`; the tile begins at byte `skew`.
template <class Unit>
__device__ int staged_rows_place(int row, int column, int skew, const small_matrices& m) {
  return padded((row * m.cols + column) * static_cast<int>(sizeof(Unit)) + skew, m);
}

// Epilogue: the head and tail of output rows that aligned vectors do not cover, in the first and the last tile.
template <class Unit>
__device__ void staged_rows_ends(unsigned char* out, const unsigned char* shared, const staged_rows_matrices& s,
                                 int valid, int skew, bool top) {
  constexpr int size = static_cast<int>(sizeof(Unit)), units = staged_rows_overlap / size;
  for (int i = threadIdx.x; i < s.shape.cols * 2 * units; i += staged_rows_threads) {
    const int column = i / (2 * units), at = i % units * size;
    unsigned char* to = out + column * s.out_ld;
    const int first = static_cast<int>(-reinterpret_cast<std::uintptr_t>(to) & (staged_rows_overlap - 1));
    const bool head = i % (2 * units) < units;
    const int byte = head ? at : first + ((valid - first) & -16) + at;
    const bool mine = head ? top && byte < first : valid >= first && at < 16 && byte < first + (16 << s.chunks_shift);
    if (!mine || byte >= valid) continue;
    *reinterpret_cast<Unit*>(to + byte) =
        *reinterpret_cast<const Unit*>(shared + staged_rows_place<Unit>(byte / size, column, skew, s.shape));
  }
}

template <class Unit>
__global__ void __launch_bounds__(staged_rows_threads)
    transpose_staged_rows(unsigned char* out, const unsigned char* in, staged_rows_matrices s) {
  constexpr int size = static_cast<int>(sizeof(Unit)), units = 16 / size;
  unsigned place = blockIdx.y * gridDim.x + blockIdx.x;
  if (place >= s.all_tiles) return;  // uniform exit: padding block of the 2-D grid
  const std::int64_t matrix = place / s.tiles;
  const int written = (16 << s.chunks_shift) / size, height = written + staged_rows_overlap / size;
  const std::int64_t row0 = static_cast<std::int64_t>(place % s.tiles) * written, left = s.rows - row0;
  const int rows = left < height ? static_cast<int>(left) : height, valid = rows * size, cols = s.shape.cols;
  in += matrix * s.in_stride + row0 * cols * size;
  out += matrix * s.out_stride + row0 * size;
  unsigned char* shared = dynamic_shared<unsigned char>();
  const int skew = static_cast<int>(reinterpret_cast<std::uintptr_t>(in) & 15);
  load_windows<Unit>(shared, in, valid * cols, skew, s.shape);
  __syncthreads();

  for (int i = threadIdx.x; i < cols << s.chunks_shift; i += staged_rows_threads) {
    const int column = i >> s.chunks_shift, chunk = i & ((1 << s.chunks_shift) - 1);
    unsigned char* to = out + column * s.out_ld;
    const int byte = static_cast<int>(-reinterpret_cast<std::uintptr_t>(to) & (staged_rows_overlap - 1)) + chunk * 16;
    if (byte + 16 > valid) continue;
    int from[units];
#pragma unroll
    for (int u = 0; u < units; ++u) from[u] = staged_rows_place<Unit>(byte / size + u, column, skew, s.shape);
    *reinterpret_cast<word16*>(to + byte) = gathered<Unit>(shared, from);
  }
  if (row0 == 0 || left <= height) staged_rows_ends<Unit>(out, shared, s, valid, skew, row0 == 0);
}

}  // namespace twill::TWILL_BACKEND::kernels
