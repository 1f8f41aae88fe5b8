#pragma once

// Matrices of short rows, or of columns that become short rows, by tiles of them that are staged in shared memory: the
// kernels staged-rows and staged-cols.

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
  for (int i = 0; i < edge; ++i) {
    *reinterpret_cast<word16*>(out + i * s.out_ld) = make_word16(w[i][0], w[i][1], w[i][2], w[i][3]);
  }
}

// staged-cols: nine to several hundred long rows of 1, 2 and 4 byte elements into packed columns, which side by side
// are one run of bytes. A block loads the aligned vectors of a band of columns, realigns each row to words, and gathers
// the aligned vectors of the output from shared memory; the ends of its run, less than a vector each, go unit by unit.

// Of a row, which may begin inside its first vector, `Vectors` lanes load as many and keep the bytes of one fewer.
template <class Unit, int Vectors>
struct column_band {
  static constexpr int bytes = detail::band_bytes(Vectors), pad = detail::band_pad(sizeof(Unit), Vectors);
  static constexpr int least_pitch = detail::band_pitch(sizeof(Unit), Vectors);
};

struct staged_cols_matrices {
  std::int64_t cols;                          // elements
  std::int64_t in_ld, in_stride, out_stride;  // bytes
  unsigned tiles, all_tiles;                  // of a matrix; in all
  int rows;
  int pitch;  // of the band in shared memory; of 1 byte only, for others it is known at compile time
  divider by_rows;
};

template <class Unit, int Vectors>
__device__ int band_pitch(const staged_cols_matrices& m) {
  return sizeof(Unit) == 1 ? m.pitch : column_band<Unit, Vectors>::least_pitch;
}

// Where a row of a band lies in shared memory.
template <class Unit, int Vectors>
__device__ int band_row(int row, const staged_cols_matrices& m) {
  constexpr int units = 16 / static_cast<int>(sizeof(Unit));
  return detail::band_lead + row * band_pitch<Unit, Vectors>(m) + row / units * column_band<Unit, Vectors>::pad;
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
      skew[d] = misalignment(from);
      from += lane * 16 - skew[d];
      const std::int64_t at = offset - skew[d] + lane * 16;
      if (!Edge || (at >= 0 && at + 16 <= row_bytes)) {
        held[d] = load_prefetch_l2<128>(reinterpret_cast<const word16*>(from));
      } else {
        held[d] = load_edge_vector<Unit>(from, at, row_bytes);
      }
    }
#pragma unroll
    for (int d = 0; d < Depth; ++d) {
      const int row = row0 + d * rows_at_once;
      word16 v = held[d];
      if constexpr (sizeof(Unit) < 4) {
        v = realigned(v, shuffle_down(word<0>(v), 1), bytes_from(skew[d] & 3));
      }
      if (row > last) continue;
      store_words<std::uint32_t>(shared + band_row<Unit, Vectors>(row, m) + lane * 16 - (skew[d] & 12), v);
    }
  }
}

// The vector of consecutive units of packed columns that begins at `row` of a column. At most one column ends in it and
// at most one pad is crossed; columns shorter than a vector cross none, and at most two end.
template <class Unit, int Vectors>
__device__ word16 gather_rows(const unsigned char* shared, int row, int column, const staged_cols_matrices& m) {
  constexpr int size = static_cast<int>(sizeof(Unit)), units = 16 / size;
  static_assert(2 * detail::least_band_rows + 1 > units);
  const int rows = m.rows, wrap = rows - row, here = band_row<Unit, Vectors>(row, m) + column * size;
  const int pitch = band_pitch<Unit, Vectors>(m);
  int from[units];
  if (units < detail::least_band_rows || rows >= units) {
    const int next = detail::band_lead + (column + 1) * size - wrap * pitch;
    const int skip = units - row % units, behind = here + column_band<Unit, Vectors>::pad;
#pragma unroll
    for (int u = 0; u < units; ++u) from[u] = (u >= wrap ? next : u >= skip ? behind : here) + u * pitch;
  } else {
    const int next = here + size - rows * pitch, last = next + size - rows * pitch;
#pragma unroll
    for (int u = 0; u < units; ++u) from[u] = (u < wrap ? here : u < wrap + rows ? next : last) + u * pitch;
  }
  return gathered<Unit>(shared, from);
}

template <class Unit, int Vectors, int Threads>
__global__ void __launch_bounds__(Threads)
    transpose_staged_cols(unsigned char* out, const unsigned char* in, staged_cols_matrices m) {
  constexpr int size = static_cast<int>(sizeof(Unit)), width = column_band<Unit, Vectors>::bytes / size;
  unsigned place = blockIdx.y * gridDim.x + blockIdx.x;
  if (place >= m.all_tiles) return;  // uniform exit: padding block of the 2-D grid
  wait_then_trigger_dependents();
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

  const int skew = misalignment(out), first = threadIdx.x * 16 - skew;
  for (int at = first < 0 ? first + Threads * 16 : first; at + 16 <= bytes; at += Threads * 16) {
    const int column = static_cast<int>(divide(at / size, m.by_rows)), row = at / size - column * m.rows;
    *reinterpret_cast<word16*>(out + at) = gather_rows<Unit, Vectors>(shared, row, column, m);
  }
  at_ends<Unit>(bytes, skew, [&](int at) {
    const int column = static_cast<int>(divide(at / size, m.by_rows)), row = at / size - column * m.rows;
    *reinterpret_cast<Unit*>(out + at) =
        *reinterpret_cast<const Unit*>(shared + band_row<Unit, Vectors>(row, m) + column * size);
  });
}

}  // namespace twill::TWILL_BACKEND::kernels
