#pragma once

// Transpose of anything: odd leading dimensions, misaligned pointers, elements of any size, skinny and small matrices.
// A block stages a piece of the input in shared memory with aligned 16-byte loads, whatever the alignment of its
// rows, and writes the output in aligned 16-byte chunks, each gathered unit by unit. A unit is the widest word (1 to
// 16 bytes) at which all elements are aligned; an element is `units` of them. Where the units of a chunk lie is worked
// out once, and reused for all vectors of the thread with that pattern: of other columns, or of later matrices.
//
// The piece is a set of input runs (contiguous bytes) and a set of output runs:
//   tile     input runs are rows of a tile, output runs its columns
//   tall     full rows without gaps: the input is one run
//   wrapped  full columns without gaps, or full matrices: the output is one run

#include <cstdint>

#include "device.hpp"
#include "gpu/realign.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int gather_threads = 256;

struct gather_matrices {
  std::int64_t rows, cols, batch;                     // elements
  std::int64_t in_ld, out_ld, in_stride, out_stride;  // bytes
  std::int64_t tiles_r, tiles_c;
  int tile_rows, tile_cols;  // elements
  int matrices;              // full matrices of a block (wrapped), else 1
  int units;                 // of an element
  int run_chunks_shift;      // an input run takes up to 2^this chunks of 16 bytes
  int pitch;                 // bytes of shared memory from one input run, or row of a single run, to the next
  int row_pad_shift;         // 16 bytes more after each 2^this rows; 31: none
  int byte_pad_shift;        // single run: 16 bytes more after each 2^this bytes; 31: none
  int phases;                // tile, tall: columns after which output runs are aligned alike; a power of two
  int period;                // wrapped: chunks after which the pattern of a chunk comes again; 0: too long to use
  int shear;                 // bytes; boundaries between tiles are moved up to a multiple of this; 0: they are not
  int extra_rows;            // input rows that a moved boundary needs beyond the tile
  bool one_in_run;
};

__device__ inline int byte_padded(int byte, int shift) {
  return byte + ((byte >> shift) << 4);
}

// What a block works on.
struct gather_piece {
  std::int64_t row0, col0, matrix;
  int height, width, count;  // rows with the extra ones, columns, full matrices
  int bytes;                 // of an element
  bool last;                 // no tile below
};

__device__ inline int run_place(const gather_matrices& m, int run) {
  return run * m.pitch + ((run >> m.row_pad_shift) << 4);
}

// Stages the input runs in shared memory. Aligned vectors are read at once where all belong to the row, or to the
// packed matrices; else unit by unit.
template <class Unit>
__device__ void load_runs(unsigned char* shared, const unsigned char* in, const gather_matrices& m,
                          const gather_piece& p) {
  constexpr int depth = 4;
  const int runs = m.one_in_run ? 1 : p.height;
  const int bytes = (m.one_in_run ? p.count * p.height : 1) * p.width * p.bytes;
  const int shift = m.run_chunks_shift, total = runs << shift;
  const bool packed = m.in_ld == m.cols * p.bytes;
  const std::int64_t first = packed ? -(p.row0 * m.in_ld + p.col0 * p.bytes) : -(p.col0 * p.bytes);
  const std::int64_t end = packed ? (p.count - 1) * m.in_stride + (m.rows - p.row0) * m.in_ld - p.col0 * p.bytes
                                  : (m.cols - p.col0) * p.bytes;
  for (int base = threadIdx.x; base < total; base += depth * gather_threads) {
    word16 held[depth], next[depth];
    int skip[depth], to[depth];
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      const int index = base + k * gather_threads, run = index >> shift, offset = (index - (run << shift)) * 16;
      to[k] = -1;
      if (index >= total || offset >= bytes) continue;
      const unsigned char* from = in + run * m.in_ld + offset;
      skip[k] = static_cast<int>(reinterpret_cast<std::uintptr_t>(from) & 15);
      const std::int64_t low = (packed ? run * m.in_ld : 0) + offset - skip[k];
      const int place = m.one_in_run ? byte_padded(offset, m.byte_pad_shift) : run_place(m, run) + offset;
      if (low >= first && low + (skip[k] ? 32 : 16) <= end) {
        to[k] = place;
        held[k] = *reinterpret_cast<const word16*>(from - skip[k]);
        if (skip[k]) next[k] = *reinterpret_cast<const word16*>(from - skip[k] + 16);
      } else {
        for (int u = 0; u < 16 && offset + u < bytes; u += static_cast<int>(sizeof(Unit))) {
          *reinterpret_cast<Unit*>(shared + place + u) = *reinterpret_cast<const Unit*>(from + u);
        }
      }
    }
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      if (to[k] < 0) continue;
      if (sizeof(Unit) < 16 && skip[k]) held[k] = realigned<sizeof(Unit)>(held[k], next[k], skip[k]);
      *reinterpret_cast<word16*>(shared + to[k]) = held[k];
    }
  }
}

// Where the units of one chunk lie in shared memory. Unit u of a run is held in register u mod `count`, so that lanes
// that write to differently aligned columns still read the same rows at the same time, without bank conflicts; the
// vector is rotated into place before it is written.
template <class Unit>
struct chunk_pattern {
  static constexpr int size = static_cast<int>(sizeof(Unit)), count = 16 / size;
  int turn;          // the register of the chunk's first unit
  int low, high;     // the units of the chunk that belong to the run: [low, high)
  int place[count];  // bytes, by register

  // For the chunk at byte `chunk` of a run that consists of the bytes [first, end).
  __device__ void begin(int chunk, int first, int end) {
    low = chunk < first ? (first - chunk) / size : 0;
    high = chunk + 16 > end ? (end - chunk) / size : count;
    turn = chunk / size & (count - 1);
  }

  // The place in the chunk of the unit in a register.
  __device__ int unit_of(int index) const { return (index - turn) & (count - 1); }
  __device__ bool holds(int index) const { return unit_of(index) >= low && unit_of(index) < high; }
};

// Writes the chunk at `to` from the pattern moved by `by` bytes.
template <class Unit, bool BytePadded>
__device__ void store_chunk(unsigned char* to, const unsigned char* shared, const chunk_pattern<Unit>& pattern, int by,
                            int byte_pad_shift) {
  constexpr int size = chunk_pattern<Unit>::size, count = chunk_pattern<Unit>::count;
  if (pattern.low == 0 && pattern.high == count) {
    unit_chunk<Unit> v;
#pragma unroll
    for (int u = 0; u < count; ++u) {
      const int place = pattern.place[u] + by;
      v.unit[u] = *reinterpret_cast<const Unit*>(shared + (BytePadded ? byte_padded(place, byte_pad_shift) : place));
    }
    word16 chunk = v.whole();
    if (size < 16 && pattern.turn != 0) chunk = realigned<size>(chunk, chunk, pattern.turn * size);
    *reinterpret_cast<word16*>(to) = chunk;
    return;
  }
#pragma unroll
  for (int u = 0; u < count; ++u) {
    if (!pattern.holds(u)) continue;
    const int place = pattern.place[u] + by;
    *reinterpret_cast<Unit*>(to + pattern.unit_of(u) * size) =
        *reinterpret_cast<const Unit*>(shared + (BytePadded ? byte_padded(place, byte_pad_shift) : place));
  }
}

// The bytes of a column that this block writes, relative to its first row: [first, end).
struct column_part {
  int first, end;
};

__device__ inline column_part part_of(const gather_matrices& m, const gather_piece& p, std::uintptr_t address) {
  column_part part{0, p.height * p.bytes};
  if (m.shear == 0) return part;
  const auto mask = static_cast<std::uintptr_t>(m.shear - 1);
  const int edge = m.tile_rows * p.bytes;
  if (p.row0 != 0) part.first = static_cast<int>(-address & mask);
  if (!p.last) {
    const int moved = edge + static_cast<int>(-(address + edge) & mask);
    part.end = moved < part.end ? moved : part.end;
  }
  return part;
}

// Output runs are columns. Eight lanes write a line of 128 bytes; four columns side by side make a warp.
template <class Unit, bool ManyUnits, bool BytePadded>
__device__ void store_columns(unsigned char* out, const unsigned char* shared, const gather_matrices& m,
                              const gather_piece& p) {
  constexpr int groups = gather_threads / 8;
  const bool whole_chunks = m.shear != 0 && p.row0 != 0 && !p.last;
  const int skip = m.phases == 1 ? static_cast<int>(reinterpret_cast<std::uintptr_t>(out) & 15) : 15;
  const int longest = whole_chunks ? m.tile_rows * p.bytes : p.height * p.bytes + skip;
  const int lines = (longest + 127) / 128;
  // Groups go to phases first, then to lines, and where some are left to further columns of the same phase.
  const int group = threadIdx.x / 8, lane = threadIdx.x % 8;
  const int slots = m.phases * lines;
  int sharing = 1;
  while (sharing * 2 * slots <= groups && sharing * m.phases < p.width) sharing *= 2;
  const int step = m.phases * sharing;  // a power of two
  for (int slot = group; slot < slots * sharing; slot += groups) {
    const int column = slot & (step - 1), line = slot / step;
    if (column >= p.width) continue;
    const auto address = reinterpret_cast<std::uintptr_t>(out + column * m.out_ld);
    const column_part part = part_of(m, p, address);
    const int chunk = part.first - static_cast<int>((address + part.first) & 15) + line * 128 + lane * 16;
    chunk_pattern<Unit> pattern;
    pattern.begin(chunk, part.first, part.end);
    if (pattern.high <= pattern.low) continue;
#pragma unroll
    for (int u = 0; u < pattern.count; ++u) {
      const int at = chunk / pattern.size + pattern.unit_of(u), unit = at < 0 ? 0 : at;
      const int row = ManyUnits ? unit / m.units : unit;
      const int within = ManyUnits ? (unit - row * m.units) * pattern.size : 0;
      pattern.place[u] = (BytePadded ? row * m.pitch : run_place(m, row)) + within;
    }
    unsigned char* to = out + column * m.out_ld + chunk;
    for (int c = column; c < p.width; c += step) {
      store_chunk<Unit, BytePadded>(to, shared, pattern, c * p.bytes, m.byte_pad_shift);
      to += step * m.out_ld;
    }
  }
}

// The output is one run: columns one after another, matrices one after another.
template <class Unit, bool ManyUnits, bool BytePadded>
__device__ void store_wrapped(unsigned char* out, const unsigned char* shared, const gather_matrices& m,
                              const gather_piece& p) {
  const int end = p.count * p.height * p.width * p.bytes;
  const int skip = static_cast<int>(reinterpret_cast<std::uintptr_t>(out) & 15);
  const int stride = m.period ? gather_threads / m.period * m.period : gather_threads;
  const int by_matrix = p.height * m.pitch;
  if (static_cast<int>(threadIdx.x) >= stride) return;
  // How far the pattern moves in shared memory while the output moves `stride` chunks.
  const int moved = m.one_in_run ? stride * 16 : stride * 16 / p.height;
  chunk_pattern<Unit> pattern;
  int by = 0;
  for (int chunk = static_cast<int>(threadIdx.x) * 16 - skip, turn = 0; chunk < end; chunk += stride * 16, ++turn) {
    pattern.begin(chunk, 0, end);
    if (turn == 0 || m.period == 0) {
#pragma unroll
      for (int u = 0; u < pattern.count; ++u) {
        // The first chunk may begin before the run: its units there are those of the next iteration, moved back.
        const int at = chunk / pattern.size + pattern.unit_of(u), unit = at < 0 ? at + stride * pattern.count : at;
        const int element = ManyUnits ? unit / m.units : unit, within = ManyUnits ? unit - element * m.units : 0;
        const int column = element / p.height, row = element - column * p.height;
        const int matrix = m.one_in_run ? column / p.width : 0;
        pattern.place[u] = matrix * by_matrix + (column - matrix * p.width) * p.bytes + within * pattern.size +
                           (BytePadded ? row * m.pitch : run_place(m, row)) - (at < 0 ? moved : 0);
      }
    }
    store_chunk<Unit, BytePadded>(out + chunk, shared, pattern, by, m.byte_pad_shift);
    if (m.period) by += moved;
  }
}

template <class Unit, bool ManyUnits, bool Wrapped, bool BytePadded>
__global__ void __launch_bounds__(gather_threads)
    transpose_gather(unsigned char* out, const unsigned char* in, gather_matrices m) {
  unsigned char* shared = dynamic_shared<unsigned char>();
  std::int64_t place = static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  gather_piece p;
  p.row0 = place % m.tiles_r * m.tile_rows;
  place /= m.tiles_r;
  p.col0 = place % m.tiles_c * m.tile_cols;
  p.matrix = place / m.tiles_c * m.matrices;
  if (p.matrix >= m.batch) return;  // uniform exit: padding block of the 2-D grid
  p.bytes = m.units * static_cast<int>(sizeof(Unit));
  const std::int64_t rows_left = m.rows - p.row0, cols_left = m.cols - p.col0, rows_wanted = m.tile_rows + m.extra_rows;
  p.height = static_cast<int>(rows_left < rows_wanted ? rows_left : rows_wanted);
  p.width = static_cast<int>(cols_left < m.tile_cols ? cols_left : m.tile_cols);
  p.count = static_cast<int>(m.batch - p.matrix < m.matrices ? m.batch - p.matrix : m.matrices);
  p.last = rows_left <= m.tile_rows;

  load_runs<Unit>(shared, in + p.matrix * m.in_stride + p.row0 * m.in_ld + p.col0 * p.bytes, m, p);
  __syncthreads();
  out += p.matrix * m.out_stride + p.col0 * m.out_ld + p.row0 * p.bytes;
  if (Wrapped) {
    store_wrapped<Unit, ManyUnits, BytePadded>(out, shared, m, p);
  } else {
    store_columns<Unit, ManyUnits, BytePadded>(out, shared, m, p);
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
