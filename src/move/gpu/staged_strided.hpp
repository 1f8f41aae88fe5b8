#pragma once

// Transpose of many small matrices with gaps on either side, and copy of many short rows: matrices of one column. A
// window is some matrices after which both sides have equal alignment modulo 16; a block takes some adjacent windows,
// stages all that lies between their first and last element in shared memory in aligned 16-byte vectors, gaps too, and
// gathers the runs of the output from there: a window where the output has no gaps, else each of its rows. Where the
// gaps between matrices are long, a window is several spans, one for each matrix. A thread computes once what it
// loads and where the units of its word of a run lie, and reuses that for all windows. Padding, which the host chooses
// for the shape, keeps bank conflicts low.

#include <cstdint>

#include "device.hpp"
#include "gpu/dependent_launch.hpp"
#include "gpu/divider.hpp"
#include "gpu/grid.hpp"
#include "gpu/packed_units.hpp"
#include "gpu/realign.hpp"
#include "gpu/staged_run.hpp"
#include "move/plan/strided.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// Shared memory of a window where a block has up to so many.
template <int Windows>
inline constexpr int span_region = detail::strided_region(Windows);

struct strided_matrices : detail::strided_window {
  std::int64_t batch, in_bytes;             // matrices; bytes from the first to behind the last element
  std::int64_t out_ld, out_stride;          // bytes
  int windows;                              // of a block
  int rows, cols;                           // units
  int row_step, back;                       // bytes from a row to the next, from the last to the next column
  bool prefetch_ends;                       // prefetch the sectors that are written partially
  int pad, pad_shift;                       // so many bytes after each 2^pad_shift
  divider span, word, column, row, matrix;  // span_chunks, run_words, cols, rows, rows * cols
};

/// Where the block's input begins, how it lies in 16 bytes, and which bytes from there on may be read.
struct strided_input {
  const unsigned char* from;
  int skew, low, high;
};

__device__ inline strided_input find_input(const unsigned char* in, std::int64_t first, const strided_matrices& m) {
  constexpr int far = INT32_MAX / 2;
  const std::int64_t left = m.in_bytes - first;
  const unsigned char* from = in + first;
  return {from, misalignment(from), first > 0 ? -16 : 0, static_cast<int>(left < far ? left : far)};
}

// Chunk `index` of a window: where it lies in the input and in shared memory. False where its span has none there.
__device__ inline bool find_chunk(int index, int skew, const strided_matrices& m, int& at, int& to) {
  const int span = static_cast<int>(divide(index, m.span)), byte = (index - span * m.span_chunks) * 16;
  const int begin = span * m.span_step, before = (skew + begin) & 15;
  at = begin + byte - before;
  to = padded(index * 16, m);
  return index < m.chunks && byte - before < m.span_bytes;
}

// Loads chunk `index` of `windows` windows, and of chunks `threads` further on; All: all of them lie in the input.
// Those that reach beyond its ends are left out.
template <class Unit, int Windows, int Region, bool All>
__device__ void load_chunks(unsigned char* shared, const strided_input& in, int index, int windows,
                            const strided_matrices& m) {
  constexpr int depth = 4 / Windows;
  word16 held[depth][Windows];
  int at[depth], to[depth];
  bool there[depth];
#pragma unroll
  for (int d = 0; d < depth; ++d) {
    there[d] = find_chunk(index + d * static_cast<int>(blockDim.x), in.skew, m, at[d], to[d]);
  }
  const auto inside = [&](int d, int k) {
    const int byte = at[d] + k * m.in_window;
    return there[d] && k < windows && (All || (byte >= in.low && byte + 16 <= in.high));
  };
#pragma unroll
  for (int d = 0; d < depth; ++d) {
#pragma unroll
    for (int k = 0; k < Windows; ++k) {
      if (inside(d, k)) held[d][k] = *reinterpret_cast<const word16*>(in.from + at[d] + k * m.in_window);
    }
  }
#pragma unroll
  for (int d = 0; d < depth; ++d) {
#pragma unroll
    for (int k = 0; k < Windows; ++k) {
      if (inside(d, k)) store_words<Unit>(shared + to[d] + k * Region, held[d][k]);
    }
  }
}

template <class Unit, int Windows, int Region, bool All>
__device__ void load_spans(unsigned char* shared, const strided_input& in, int windows, const strided_matrices& m) {
  constexpr int group = Windows < 4 ? Windows : 4, depth = 4 / group;
  for (int index = threadIdx.x; index < m.chunks; index += depth * static_cast<int>(blockDim.x)) {
#pragma unroll
    for (int k = 0; k < Windows; k += group) {
      if (k >= windows) break;
      const int skipped = k * m.in_window;
      const strided_input later{in.from + skipped, in.skew, in.low - skipped, in.high - skipped};
      load_chunks<Unit, group, Region, All>(shared + k * Region, later, index, windows - k, m);
    }
  }
}

// Loads those chunks unit by unit.
template <class Unit, int Region>
__device__ void load_ends(unsigned char* shared, const strided_input& in, int windows, const strided_matrices& m) {
  constexpr int size = static_cast<int>(sizeof(Unit));
  const int total = m.chunks * windows;
  for (int index = threadIdx.x; index < total; index += static_cast<int>(blockDim.x)) {
    const int window = index / m.chunks;
    int at, to;
    const bool there = find_chunk(index - window * m.chunks, in.skew, m, at, to);
    at += window * m.in_window;
    if (!there || at >= in.high || (at >= in.low && at + 16 <= in.high)) continue;
#pragma unroll
    for (int u = 0; u < 16; u += size) {
      if (at + u < in.low || at + u >= in.high) continue;
      *reinterpret_cast<Unit*>(shared + to + window * Region + u) = *reinterpret_cast<const Unit*>(in.from + at + u);
    }
  }
}

// Prefetches the sectors at the ends of the output's rows. A partial write reads its sector first: the prefetch
// hides that latency.
template <class Unit>
__device__ void prefetch_ends(const unsigned char* out, int windows, const strided_matrices& m) {
  constexpr std::uintptr_t sector = 32;
  const int size = m.run_units * static_cast<int>(sizeof(Unit));
  for (int window = 0; window < windows; ++window) {
    for (int run = threadIdx.x; run < m.runs; run += static_cast<int>(blockDim.x)) {
      const int owner = static_cast<int>(divide(run, m.column));
      const unsigned char* begin = out + owner * m.out_stride + (run - owner * m.cols) * m.out_ld;
      if (reinterpret_cast<std::uintptr_t>(begin) % sector != 0) prefetch(begin);
      if (reinterpret_cast<std::uintptr_t>(begin + size) % sector != 0) prefetch(begin + size - 1);
    }
    out += m.out_window;
  }
}

// A word of a run of the output, or a part of one at its ends, and where its units lie in shared memory.
template <class Unit, class Word>
struct span_word {
  static constexpr int size = static_cast<int>(sizeof(Unit)), count = static_cast<int>(sizeof(Word)) / size;
  std::int64_t to;   // bytes from the output's window to the first unit
  int units;         // that belong to the run
  int place[count];  // bytes of shared memory

  // `out`: a window of the output; `run_units`: of the run. Runs of full windows go on in the next window, and their
  // first word is the first that lies in this one completely.
  __device__ void find(int slot, const unsigned char* out, int skew, int run_units, int region,
                       const strided_matrices& m) {
    const int run = static_cast<int>(divide(slot, m.word)), word = slot - run * m.run_words;
    const int owner = static_cast<int>(divide(run, m.column));
    to = owner * m.out_stride + (run - owner * m.cols) * m.out_ld;
    const int before = static_cast<int>((reinterpret_cast<std::uintptr_t>(out) + to) & (sizeof(Word) - 1)) / size;
    const int edge = word * count - before + (m.packed && before > 0 ? count : 0), first = edge < 0 ? 0 : edge;
    units = edge + count - first;
    if (units > run_units - first) units = run_units - first;
    to += first * size;
    find_places(run * m.run_units + first, skew, region, m);
  }

  // From unit `unit` of the window on.
  __device__ void find_places(int unit, int skew, int region, const strided_matrices& m) {
    int matrix = static_cast<int>(divide(unit, m.matrix));
    const int within = unit - matrix * m.rows * m.cols;
    int column = static_cast<int>(divide(within, m.row)), row = within - column * m.rows, window = 0;
    const auto begin = [&](int of) { return of * m.matrix_step + ((skew + of * m.skew_step) & 15); };
    int from = begin(matrix) + row * m.row_step + column * size;
    if (m.rows >= count) {  // at most one column ends
      const bool ends = column + 1 == m.cols, goes_on = ends && matrix + 1 == m.matrices;
      const int until = m.rows - row,
                next = ends ? begin(goes_on ? 0 : matrix + 1) : (column + 1) * size + begin(matrix);
#pragma unroll
      for (int u = 0; u < count; ++u) {
        if (u == until) {
          from = next;
          window = goes_on ? region : 0;
        }
        place[u] = window + padded(from, m);
        from += m.row_step;
      }
      return;
    }
#pragma unroll
    for (int u = 0; u < count; ++u) {
      place[u] = window + padded(from, m);
      const bool ends = ++row == m.rows;
      row = ends ? 0 : row;
      from += ends ? m.back : m.row_step;
      column += ends ? 1 : 0;
      const bool last = column == m.cols;
      column = last ? 0 : column;
      matrix += last ? 1 : 0;
      const bool goes_on = matrix == m.matrices;
      window = goes_on ? region : window;
      matrix = goes_on ? 0 : matrix;
      from = last ? begin(matrix) : from;
    }
  }

  __device__ Word gathered(const unsigned char* shared) const {
    unit_chunk<Unit, Word> v;
#pragma unroll
    for (int u = 0; u < count; ++u) v.unit[u] = *reinterpret_cast<const Unit*>(shared + place[u]);
    return v.packed();
  }

  __device__ void store_part(unsigned char* out, const unsigned char* shared) const {
#pragma unroll
    for (int u = 0; u < count; ++u) {
      if (u < units) *reinterpret_cast<Unit*>(out + to + u * size) = *reinterpret_cast<const Unit*>(shared + place[u]);
    }
  }
};

// Writes `windows` windows of so many runs, side by side where they have no gaps.
template <class Unit, class Word, int Windows>
__device__ void store_spans(unsigned char* out, const unsigned char* shared, int skew, int windows, int runs, int units,
                            const strided_matrices& m) {
  constexpr int region = span_region<Windows>, size = static_cast<int>(sizeof(Unit));
  span_word<Unit, Word> word;
  const int thread = static_cast<int>(threadIdx.x);
  if (m.packed) {
    const int head = until_aligned(out, sizeof(Word)) / size;
    if (thread < head && thread < units) {
      word.find_places(thread, skew, region, m);
      *reinterpret_cast<Unit*>(out + thread * size) = *reinterpret_cast<const Unit*>(shared + word.place[0]);
    }
  }
  for (int slot = thread; slot < runs * m.run_words; slot += static_cast<int>(blockDim.x)) {
    word.find(slot, out, skew, units, region, m);
    if (word.units <= 0) continue;
    const int full = word.units == word.count ? windows : m.packed ? windows - 1 : 0;
    unsigned char* to = out + word.to;
#pragma unroll
    for (int k = 0; k < Windows; ++k) {
      if (k < full) *reinterpret_cast<Word*>(to) = word.gathered(shared + k * region);
      to += m.out_window;
    }
#pragma unroll 1
    for (int k = full; k < windows; ++k) word.store_part(out + k * m.out_window, shared + k * region);
  }
}

// Windows: 8, 4 or 2, as their size permits, or 1 of any size.
template <class Unit, class Word, int Windows>
__global__ void __launch_bounds__(detail::strided_threads, blocks_at_once(detail::strided_threads, 4))
    transpose_staged_strided(unsigned char* out, const unsigned char* in, strided_matrices m) {
  constexpr int region = span_region<Windows>;
  const std::int64_t block = block_index();
  const std::int64_t window = block * m.windows, left = m.batch - window * m.matrices;
  if (left <= 0) return;  // uniform exit: padding block of the 2-D grid
  unsigned char* shared = dynamic_shared<unsigned char>();
  const bool all = left >= static_cast<std::int64_t>(m.windows) * m.matrices;
  const int full = all ? m.windows : static_cast<int>(left / m.matrices);
  const int rest = all ? 0 : static_cast<int>(left) - full * m.matrices;  // matrices
  const int windows = full + (rest > 0 ? 1 : 0);
  wait_then_trigger_dependents();
  if (m.prefetch_ends) prefetch_ends<Unit>(out + window * m.out_window, full, m);
  const strided_input input = find_input(in, window * m.in_window, m);
  const int reach = (windows - 1) * m.in_window + (m.chunks / m.span_chunks - 1) * m.span_step + m.span_bytes + 16;
  if (input.low < 0 && reach <= input.high) {
    load_spans<Unit, Windows, region, true>(shared, input, windows, m);
  } else {
    load_spans<Unit, Windows, region, false>(shared, input, windows, m);
    load_ends<Unit, region>(shared, input, windows, m);
  }
  __syncthreads();
  out += window * m.out_window;
  if (full > 0) store_spans<Unit, Word, Windows>(out, shared, input.skew, full, m.runs, m.run_units, m);
  if (rest == 0) return;
  const int runs = m.packed ? 1 : m.runs / m.matrices * rest,
            units = m.packed ? m.run_units / m.matrices * rest : m.run_units;
  store_spans<Unit, Word, 1>(out + full * m.out_window, shared + full * region, input.skew, 1, runs, units, m);
}

}  // namespace twill::TWILL_BACKEND::kernels
