#pragma once

// Permutation of anything. A block moves a box of the array: some dimensions whole, some in part, chosen so that the
// box consists of long runs of contiguous bytes on both sides. It loads the input's runs in chunks of 16 bytes, one
// after another, into rows of shared memory, and writes the output's runs in aligned chunks of 16 bytes, each gathered
// from the rows unit by unit; a unit is the widest word (1 to 16 bytes) at which everything is aligned.
//
// Four tables in shared memory say where things are: where each input run begins, where each output run begins, there
// and in the rows, and where in the rows each unit of an output run lies, seen from the run's first.

#include <cstdint>

#include "device.hpp"
#include "gpu/fast_division.hpp"
#include "gpu/realign.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int permute_threads = 256;
constexpr int permute_dims = 9;  // with the units of a run

/// A dimension along which blocks lie: `tiles` of them, of `tile` indices each, the last one of `last`.
struct grid_dim {
  fast_divisor tiles;
  int tile, last;
  bool in_runs, in_length, in_places, in_columns;  // which counts of a box it is a factor of
  std::int64_t in_step, out_step;                  // bytes from one tile to the next
};

/// A dimension of a table's index, the fastest first.
struct table_dim {
  fast_divisor extent;  // the last dimension takes what is left
  int place;            // bytes of a row, or rows
  bool is_row;
  std::int64_t stride;  // bytes of global memory
};

struct table_dims {
  int rank = 0;
  table_dim dim[permute_dims];
};

struct permute_box {
  std::int64_t in_low, in_high;  // bytes from the first element to the ends of the input
  int blocks, grid_rank;
  grid_dim grid[permute_dims];
  int runs, length, places, columns;  // input runs; units of one; units of an output run; output runs: without `grid`
  table_dims run, place, column;
  int pitch;                                 // bytes of shared memory from one row to the next
  int row_pad_shift;                         // 16 bytes more after each 2^this rows
  int chunks;                                // of an input run that is whole
  fast_divisor by_chunks;                    // the same
  int most_runs, most_places, most_columns;  // entries of the tables
  int row_bytes;                             // of all rows
  bool out_aligned;                          // output runs begin at multiples of 16
};

__device__ inline int box_row(const permute_box& m, int row) {
  return row * m.pitch + ((row >> m.row_pad_shift) << 4);
}

// The counts of the box of this block, and how far it is into the array.
struct box_place {
  int runs, length, places, columns;
  std::int64_t in, out;
};

__device__ inline box_place find_box(const permute_box& m, int block) {
  box_place b{m.runs, m.length, m.places, m.columns, 0, 0};
#pragma unroll
  for (int i = 0; i < permute_dims; ++i) {
    if (i >= m.grid_rank) continue;
    const grid_dim& g = m.grid[i];
    const int rest = quotient(block, g.tiles), index = block - rest * g.tiles.divisor;
    const int tile = index == g.tiles.divisor - 1 ? g.last : g.tile;
    if (g.in_runs) b.runs *= tile;
    if (g.in_length) b.length *= tile;
    if (g.in_places) b.places *= tile;
    if (g.in_columns) b.columns *= tile;
    b.in += index * g.in_step;
    b.out += index * g.out_step;
    block = rest;
  }
  return b;
}

struct table_entry {
  int place, row;
  std::int64_t distance;
};

__device__ inline table_entry entry_of(const table_dims& t, int index) {
  table_entry e{0, 0, 0};
#pragma unroll
  for (int i = 0; i < permute_dims; ++i) {
    if (i >= t.rank) continue;
    const int rest = i + 1 < t.rank ? quotient(index, t.dim[i].extent) : 0;
    const int coordinate = index - rest * t.dim[i].extent.divisor;
    const int moved = coordinate * t.dim[i].place;
    if (t.dim[i].is_row) {
      e.row += moved;
    } else {
      e.place += moved;
    }
    e.distance += coordinate * t.dim[i].stride;
    index = rest;
  }
  return e;
}

// The tables, behind the rows.
struct box_tables {
  std::int64_t *run, *column;
  int *column_place, *place;
};

__device__ inline box_tables tables_of(const permute_box& m, unsigned char* shared) {
  box_tables t;
  t.run = reinterpret_cast<std::int64_t*>(shared + m.row_bytes);
  t.column = t.run + m.most_runs;
  t.column_place = reinterpret_cast<int*>(t.column + m.most_columns);
  t.place = t.column_place + m.most_columns;
  return t;
}

__device__ inline void fill_tables(const permute_box& m, const box_place& b, const box_tables& t) {
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < b.runs; i += permute_threads) t.run[i] = entry_of(m.run, i).distance;
  for (int i = thread; i < b.columns; i += permute_threads) {
    const table_entry e = entry_of(m.column, i);
    t.column[i] = e.distance;
    t.column_place[i] = e.place;
  }
  for (int i = thread; i < b.places; i += permute_threads) {
    const table_entry e = entry_of(m.place, i);
    t.place[i] = e.place + box_row(m, e.row);
  }
}

// Where an input chunk is and where it goes.
struct box_chunk {
  std::int64_t at;
  int skip, to, offset;
};

__device__ inline box_chunk find_box_chunk(const unsigned char* in, const permute_box& m, const box_place& b,
                                           const std::int64_t* run_table, int chunks, int index) {
  const int run = chunks == m.chunks ? quotient(index, m.by_chunks) : index / chunks;
  box_chunk c;
  c.offset = (index - run * chunks) * 16;
  c.to = box_row(m, run) + c.offset;
  c.at = b.in + run_table[run] + c.offset;
  c.skip = static_cast<int>((reinterpret_cast<std::uintptr_t>(in) + c.at) & 15);
  return c;
}

// Brings the input runs to their rows. Whole chunks are cut from aligned ones, which may hold bytes between elements,
// but none outside of the input; the second of two mostly belongs to the next lane, and waits in the cache.
template <class Unit>
__device__ void load_box(unsigned char* shared, const unsigned char* in, const permute_box& m, const box_place& b,
                         const std::int64_t* run_table) {
  constexpr int size = static_cast<int>(sizeof(Unit)), depth = 4;
  const int bytes = b.length * size, chunks = (bytes + 15) / 16, total = b.runs * chunks;
  for (int base = static_cast<int>(threadIdx.x); base < total; base += depth * permute_threads) {
    word16 low[depth];
    std::int64_t at[depth];
    int to[depth];
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      const int index = base + k * permute_threads;
      to[k] = -1;
      if (index >= total) continue;
      const box_chunk c = find_box_chunk(in, m, b, run_table, chunks, index);
      if (c.at - c.skip >= m.in_low && c.at - c.skip + (c.skip ? 32 : 16) <= m.in_high) {
        to[k] = c.to;
        at[k] = c.at;
        low[k] = *reinterpret_cast<const word16*>(in + c.at - c.skip);
      } else {
        for (int u = 0; u < 16 && c.offset + u < bytes; u += size) {
          *reinterpret_cast<Unit*>(shared + c.to + u) = *reinterpret_cast<const Unit*>(in + c.at + u);
        }
      }
    }
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      if (to[k] < 0) continue;
      const int skip = static_cast<int>((reinterpret_cast<std::uintptr_t>(in) + at[k]) & 15);
      if (size < 16 && skip != 0) {
        low[k] = realigned<size>(low[k], *reinterpret_cast<const word16*>(in + at[k] - skip + 16), skip);
      }
      *reinterpret_cast<word16*>(shared + to[k]) = low[k];
    }
  }
}

// Writes the output runs. A thread keeps to one chunk of the runs, whose units lie alike in the rows for all runs that
// begin alike. Small units are many to gather: there eight lanes write 128 bytes of a run, and the lanes beside them
// those of the next runs, whose units lie beside theirs in the rows, so that few meet in a bank.
template <class Unit>
__device__ void store_box(unsigned char* out, const unsigned char* shared, const permute_box& m, const box_place& b,
                          const box_tables& t) {
  constexpr int size = static_cast<int>(sizeof(Unit)), units = 16 / size;
  const int bytes = b.places * size, chunks = (bytes + (m.out_aligned ? 15 : 30)) / 16;
  const int thread = static_cast<int>(threadIdx.x);
  const int few = chunks > 4 ? 8 : chunks > 2 ? 4 : 2;
  const int lanes = size < 4 ? few : chunks < permute_threads ? chunks : permute_threads;
  const int groups = permute_threads / lanes;
  const int lines = (chunks + lanes - 1) / lanes, step = lines < groups ? groups / lines : 1;
  const int group = thread / lanes, first = group % step;
  if (group >= groups) return;
  for (int line = group / step; line < lines; line += groups / step) {
    const int chunk = line * lanes + thread % lanes;
    if (chunk >= chunks) break;
    int place[units], known = -1;
    for (int column = first; column < b.columns; column += step) {
      unsigned char* run = out + b.out + t.column[column];
      const int lead = static_cast<int>(reinterpret_cast<std::uintptr_t>(run) & 15), at = chunk * 16 - lead;
      const unsigned char* from = shared + t.column_place[column];
      if (known != lead) {
#pragma unroll
        for (int u = 0; u < units; ++u) {
          const int unit = at / size + u;
          place[u] = t.place[unit < 0 ? 0 : unit < b.places ? unit : b.places - 1];
        }
        known = lead;
      }
      unit_chunk<Unit> v;
#pragma unroll
      for (int u = 0; u < units; ++u) v.unit[u] = *reinterpret_cast<const Unit*>(from + place[u]);
      if (at >= 0 && at + 16 <= bytes) {
        *reinterpret_cast<word16*>(run + at) = v.whole();
        continue;
      }
#pragma unroll
      for (int u = 0; u < units; ++u) {
        const int byte = at + u * size;
        if (byte >= 0 && byte < bytes) *reinterpret_cast<Unit*>(run + byte) = v.unit[u];
      }
    }
  }
}

template <class Unit>
__global__ void __launch_bounds__(permute_threads, blocks_at_once(permute_threads, sizeof(Unit) >= 4 ? 5 : 4))
    permute_gather(unsigned char* out, const unsigned char* in, permute_box by_value) {
  const permute_box& m = argument_after(by_value, out, in);
  unsigned char* shared = dynamic_shared<unsigned char>();
  const auto block = static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  if (block >= m.blocks) return;  // the whole block: the grid is a rectangle
  const box_place b = find_box(m, static_cast<int>(block));
  const box_tables t = tables_of(m, shared);
  fill_tables(m, b, t);
  __syncthreads();
  load_box<Unit>(shared, in, m, b, t.run);
  __syncthreads();
  store_box<Unit>(out, shared, m, b, t);
}

}  // namespace twill::TWILL_BACKEND::kernels
