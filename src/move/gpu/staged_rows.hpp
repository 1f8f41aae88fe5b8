#pragma once

// Matrices of short rows, by tiles of them that are staged in shared memory: the kernels staged-rows.

#include <cstdint>

#include "device.hpp"
#include "gpu/dependent_launch.hpp"
#include "gpu/register_block.hpp"
#include "move/plan/transposes.hpp"
#include "staged.hpp"

namespace twill::TWILL_BACKEND::kernels {

// staged-rows: packed matrices of some ten to a hundred columns: rows side by side are one run of bytes. A block loads
// a tile of them to shared memory in aligned vectors and gathers the vectors of each output row. Tile boundaries are
// rounded up, per output row, to a multiple of 32 bytes: each sector is written in full, by one block, and a tile
// stages 32 bytes of each output row more than it writes.

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
    const int first = until_aligned(to, staged_rows_overlap);
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
  wait_then_trigger_dependents();
  const std::int64_t matrix = place / s.tiles;
  const int written = (16 << s.chunks_shift) / size, height = written + staged_rows_overlap / size;
  const std::int64_t row0 = static_cast<std::int64_t>(place % s.tiles) * written, left = s.rows - row0;
  const int rows = left < height ? static_cast<int>(left) : height, valid = rows * size, cols = s.shape.cols;
  in += matrix * s.in_stride + row0 * cols * size;
  out += matrix * s.out_stride + row0 * size;
  unsigned char* shared = dynamic_shared<unsigned char>();
  const int skew = misalignment(in);
  load_windows<Unit>(shared, in, valid * cols, skew, s.shape);
  __syncthreads();

  for (int i = threadIdx.x; i < cols << s.chunks_shift; i += staged_rows_threads) {
    const int column = i >> s.chunks_shift, chunk = i & ((1 << s.chunks_shift) - 1);
    unsigned char* to = out + column * s.out_ld;
    const int byte = until_aligned(to, staged_rows_overlap) + chunk * 16;
    if (byte + 16 > valid) continue;
    int from[units];
#pragma unroll
    for (int u = 0; u < units; ++u) from[u] = staged_rows_place<Unit>(byte / size + u, column, skew, s.shape);
    *reinterpret_cast<word16*>(to + byte) = gathered<Unit>(shared, from);
  }
  if (row0 == 0 || left <= height) staged_rows_ends<Unit>(out, shared, s, valid, skew, row0 == 0);
}

// Rows of a few full aligned vectors, by R x R blocks of elements, R = 16 / element bytes: a thread takes one from the
// staged tile and transposes it in registers. tiled-2d, which loads them row by row, spreads the loads of a warp over
// too many lines.
template <class Unit>
__global__ void __launch_bounds__(staged_rows_threads)
    transpose_staged_blocks(unsigned char* out, const unsigned char* in, staged_rows_matrices s) {
  constexpr int size = static_cast<int>(sizeof(Unit)), edge = 16 / size, depth = edge;
  const unsigned place = blockIdx.y * gridDim.x + blockIdx.x;
  if (place >= s.all_tiles) return;  // uniform exit: padding block of the 2-D grid
  wait_then_trigger_dependents();
  const std::int64_t matrix = place / s.tiles, line0 = static_cast<std::int64_t>(place % s.tiles) << s.chunks_shift;
  const std::int64_t left = s.rows / edge - line0;
  const int most = 1 << s.chunks_shift, lines = left < most ? static_cast<int>(left) : most;
  const int row_bytes = s.shape.cols * size, bytes = lines * edge * row_bytes, step = static_cast<int>(blockDim.x) * 16;
  in += matrix * s.in_stride + line0 * edge * row_bytes;
  unsigned char* shared = dynamic_shared<unsigned char>();
  for (int first = static_cast<int>(threadIdx.x) * 16; first < bytes; first += depth * step) {
    word16 held[depth];
#pragma unroll
    for (int d = 0; d < depth; ++d) {
      const int at = first + d * step;
      if (at < bytes) held[d] = load_prefetch_l2<128>(reinterpret_cast<const word16*>(in + at));
    }
#pragma unroll
    for (int d = 0; d < depth; ++d) {
      const int at = first + d * step;
      if (at < bytes) *reinterpret_cast<word16*>(shared + padded(at, s.shape)) = held[d];
    }
  }
  __syncthreads();

  const int line = static_cast<int>(threadIdx.x) & (most - 1), chunk = static_cast<int>(threadIdx.x) >> s.chunks_shift;
  if (line >= lines || chunk * 16 >= row_bytes) return;
  std::uint32_t w[edge][4];
#pragma unroll
  for (int i = 0; i < edge; ++i) {
    const int at = (line * edge + i) * row_bytes + chunk * 16;
    unpack_words(w[i], *reinterpret_cast<const word16*>(shared + padded(at, s.shape)));
  }
  register_block<size>::transpose(w);
  out += matrix * s.out_stride + chunk * edge * s.out_ld + (line0 + line) * 16;
#pragma unroll
  for (int i = 0; i < edge; ++i) *reinterpret_cast<word16*>(out + i * s.out_ld) = pack_words(w[i]);
}

}  // namespace twill::TWILL_BACKEND::kernels
