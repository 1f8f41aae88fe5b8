#pragma once

// Transpose of many small matrices with gaps on either side, and copy of many short rows: matrices of one column. A
// window is some matrices after which both sides lie alike in 16 bytes; a block takes some windows side by side, brings
// all that lies between their first and last element to shared memory in aligned chunks of 16 bytes, gaps too, and
// gathers the runs of the output from there: a window where the output has no gaps, else each of its rows. Where the
// gaps between matrices are long, a window is several spans, one for each matrix. A thread works out once what it
// brings and where the units of its word of a run lie; that serves all windows. Padding, which the host chooses for the
// shape, keeps bank conflicts low.

#include <cstdint>

#include "device.hpp"
#include "kernels/divider.hpp"
#include "kernels/realign.hpp"

namespace twill::TWILL_BACKEND::kernels {

inline constexpr int span_threads = 288;

/// Shared memory of a window where a block has several: a chunk for each thread, or for half of them.
template <class Word>
inline constexpr int span_region = span_threads * (sizeof(Word) == 16 ? 18 : 9);

/// Windows of a block, at most.
template <class Word>
inline constexpr int span_windows = sizeof(Word) == 16 ? 8 : 16;

struct span_matrices {
  std::int64_t batch, in_bytes;             // matrices; bytes from the first to behind the last element
  std::int64_t out_ld, out_stride;          // bytes
  std::int64_t out_window;                  // bytes from a window to the next
  int in_window;                            // bytes from a window to the next
  int matrices, windows;                    // of a window; of a block
  int chunks, span_chunks;                  // of 16 bytes, of a window and of a span in it
  int span_step, span_bytes;                // from a span to the next; of it
  int matrix_step, turn;                    // from a matrix to the next in shared memory, and how far it is shifted
  int rows, cols;                           // units
  int row_step, back;                       // bytes from a row to the next, from the last to the next column
  int runs, run_units, run_words;           // of the output in a window; units and words of each
  int pad, pad_shift;                       // so many bytes after each 2^pad_shift
  divider span, word, column, row, matrix;  // span_chunks, run_words, cols, rows, rows * cols
};

__device__ inline int span_padded(int byte, const span_matrices& m) {
  return byte + (byte >> m.pad_shift) * m.pad;
}

/// Where the block's input begins, how it lies in 16 bytes, and which bytes from there on may be read.
struct span_input {
  const unsigned char* from;
  int skew, low, high;
};

__device__ inline span_input find_input(const unsigned char* in, std::int64_t first, const span_matrices& m) {
  constexpr int far = INT32_MAX / 2;
  const std::int64_t left = m.in_bytes - first;
  const unsigned char* from = in + first;
  return {from, static_cast<int>(reinterpret_cast<std::uintptr_t>(from) & 15), first > 0 ? -16 : 0,
          static_cast<int>(left < far ? left : far)};
}

// Chunk `index` of a window: where it lies in the input and in shared memory. False where its span has none there.
__device__ inline bool find_chunk(int index, int skew, const span_matrices& m, int& at, int& to) {
  const int span = static_cast<int>(divide(index, m.span)), byte = (index - span * m.span_chunks) * 16;
  const int begin = span * m.span_step, before = (skew + begin) & 15;
  at = begin + byte - before;
  to = span_padded(index * 16, m);
  return index < m.chunks && byte - before < m.span_bytes;
}

// Brings chunk `index` of `windows` windows, and of chunks `threads` further on; All: all of them lie in the input.
// Those that reach beyond its ends are left out.
template <class Unit, int Windows, int Region, bool All>
__device__ void bring_chunks(unsigned char* shared, const span_input& in, int index, int windows,
                             const span_matrices& m) {
  constexpr int depth = Windows == 1 ? 4 : 1;
  word16 held[depth][Windows];
  int at[depth], to[depth];
  bool there[depth];
#pragma unroll
  for (int d = 0; d < depth; ++d) {
    there[d] = find_chunk(index + d * static_cast<int>(blockDim.x), in.skew, m, at[d], to[d]);
  }
  const auto whole = [&](int d, int k) {
    const int byte = at[d] + k * m.in_window;
    return there[d] && k < windows && (All || (byte >= in.low && byte + 16 <= in.high));
  };
#pragma unroll
  for (int d = 0; d < depth; ++d) {
#pragma unroll
    for (int k = 0; k < Windows; ++k) {
      if (whole(d, k)) held[d][k] = *reinterpret_cast<const word16*>(in.from + at[d] + k * m.in_window);
    }
  }
#pragma unroll
  for (int d = 0; d < depth; ++d) {
#pragma unroll
    for (int k = 0; k < Windows; ++k) {
      if (whole(d, k)) store_words<Unit>(shared + to[d] + k * Region, held[d][k]);
    }
  }
}

template <class Unit, int Windows, int Region, bool All>
__device__ void bring_spans(unsigned char* shared, const span_input& in, int windows, const span_matrices& m) {
  constexpr int group = Windows < 4 ? Windows : 4, depth = Windows == 1 ? 4 : 1;
  for (int index = threadIdx.x; index < m.chunks; index += depth * static_cast<int>(blockDim.x)) {
#pragma unroll
    for (int k = 0; k < Windows; k += group) {
      if (k >= windows) break;
      const int skipped = k * m.in_window;
      const span_input later{in.from + skipped, in.skew, in.low - skipped, in.high - skipped};
      bring_chunks<Unit, group, Region, All>(shared + k * Region, later, index, windows - k, m);
    }
  }
}

// Brings those chunks unit by unit.
template <class Unit, int Region>
__device__ void bring_ends(unsigned char* shared, const span_input& in, int windows, const span_matrices& m) {
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

// A word of a run of the output, or a part of one at its ends, and where its units lie in shared memory.
template <class Unit, class Word>
struct span_word {
  static constexpr int size = static_cast<int>(sizeof(Unit)), count = static_cast<int>(sizeof(Word)) / size;
  std::int64_t to;   // bytes from the output's window to the first unit
  int units;         // that belong to the run
  int place[count];  // bytes of shared memory

  // `out`: a window of the output; `run_units`: of the run.
  __device__ void find(int slot, const unsigned char* out, int skew, int run_units, const span_matrices& m) {
    const int run = static_cast<int>(divide(slot, m.word)), word = slot - run * m.run_words;
    const int owner = static_cast<int>(divide(run, m.column));
    to = owner * m.out_stride + (run - owner * m.cols) * m.out_ld;
    const int before = static_cast<int>((reinterpret_cast<std::uintptr_t>(out) + to) & (sizeof(Word) - 1)) / size;
    const int edge = word * count - before, first = edge < 0 ? 0 : edge, left = run_units - first;
    units = edge + count - first;
    if (units > left) units = left;
    to += first * size;
    find_places(run * m.run_units + first, skew, m);
  }

  // From unit `unit` of the window on.
  __device__ void find_places(int unit, int skew, const span_matrices& m) {
    int matrix = static_cast<int>(divide(unit, m.matrix));
    const int within = unit - matrix * m.rows * m.cols;
    int column = static_cast<int>(divide(within, m.row)), row = within - column * m.rows;
    const auto begin = [&](int of) { return of * m.matrix_step + ((skew + of * m.turn) & 15); };
    int from = begin(matrix) + row * m.row_step + column * size;
    if (m.rows >= count) {  // at most one column ends
      const int until = m.rows - 1 - row;
      const int next = begin(matrix + 1) - begin(matrix) - (m.rows - 1) * m.row_step - (m.cols - 1) * size;
      const int jump = (column + 1 == m.cols ? next : m.back) - m.row_step;
#pragma unroll
      for (int u = 0; u < count; ++u) {
        place[u] = span_padded(from, m);
        from += m.row_step;
        if (u == until) from += jump;
      }
      return;
    }
#pragma unroll
    for (int u = 0; u < count; ++u) {
      place[u] = span_padded(from, m);
      const bool ends = ++row == m.rows;
      row = ends ? 0 : row;
      from += ends ? m.back : m.row_step;
      column += ends ? 1 : 0;
      const bool last = column == m.cols;
      column = last ? 0 : column;
      matrix += last ? 1 : 0;
      from = last ? begin(matrix) : from;
    }
  }

  __device__ Word gathered(const unsigned char* shared) const {
    if constexpr (count == 1) {
      return *reinterpret_cast<const Word*>(shared + place[0]);
    } else if constexpr (sizeof(Word) == 4) {
      Unit unit[count];
#pragma unroll
      for (int u = 0; u < count; ++u) unit[u] = *reinterpret_cast<const Unit*>(shared + place[u]);
      if constexpr (count == 2) return byte_permute(unit[0], unit[1], 0x5410);
      return byte_permute(byte_permute(unit[0], unit[1], 0x0040), byte_permute(unit[2], unit[count - 1], 0x0040),
                          0x5410);
    } else {
      unit_chunk<Unit, Word> v;
#pragma unroll
      for (int u = 0; u < count; ++u) v.unit[u] = *reinterpret_cast<const Unit*>(shared + place[u]);
      return v.whole();
    }
  }

  __device__ void store_part(unsigned char* out, const unsigned char* shared) const {
#pragma unroll
    for (int u = 0; u < count; ++u) {
      if (u < units) *reinterpret_cast<Unit*>(out + to + u * size) = *reinterpret_cast<const Unit*>(shared + place[u]);
    }
  }
};

// Writes `windows` windows of so many runs.
template <class Unit, class Word, int Windows, int Region>
__device__ void write_spans(unsigned char* out, const unsigned char* shared, int skew, int windows, int runs, int units,
                            const span_matrices& m) {
  for (int slot = threadIdx.x; slot < runs * m.run_words; slot += static_cast<int>(blockDim.x)) {
    span_word<Unit, Word> word;
    word.find(slot, out, skew, units, m);
    if (word.units < word.count) {
#pragma unroll 1
      for (int k = 0; k < windows; ++k) word.store_part(out + k * m.out_window, shared + k * Region);
      continue;
    }
    unsigned char* to = out + word.to;
#pragma unroll
    for (int k = 0; k < Windows; ++k) {
      if (k >= windows) break;
      *reinterpret_cast<Word*>(to) = word.gathered(shared + k * Region);
      to += m.out_window;
    }
  }
}

// Windows: 1, of any size, or those of several, of which each has a chunk and a word for a thread.
template <class Unit, class Word, int Windows>
__global__ void __launch_bounds__(span_threads, blocks_at_once(span_threads, 4))
    transpose_spans(unsigned char* out, const unsigned char* in, span_matrices m) {
  constexpr int region = span_region<Word>;
  const std::int64_t block = static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  const std::int64_t window = block * m.windows, left = m.batch - window * m.matrices;
  if (left <= 0) return;  // the whole block: the grid is a rectangle
  unsigned char* shared = dynamic_shared<unsigned char>();
  const bool all = left >= static_cast<std::int64_t>(m.windows) * m.matrices;
  const int whole = all ? m.windows : static_cast<int>(left / m.matrices);
  const int rest = all ? 0 : static_cast<int>(left) - whole * m.matrices;  // matrices
  const int windows = whole + (rest > 0 ? 1 : 0);
  const span_input input = find_input(in, window * m.in_window, m);
  const int reach = (windows - 1) * m.in_window + (m.chunks / m.span_chunks - 1) * m.span_step + m.span_bytes + 16;
  if (input.low < 0 && reach <= input.high) {
    bring_spans<Unit, Windows, region, true>(shared, input, windows, m);
  } else {
    bring_spans<Unit, Windows, region, false>(shared, input, windows, m);
    bring_ends<Unit, region>(shared, input, windows, m);
  }
  __syncthreads();
  out += window * m.out_window;
  write_spans<Unit, Word, Windows, region>(out, shared, input.skew, whole, m.runs, m.run_units, m);
  if (rest == 0) return;
  const bool one = m.runs == 1;
  const int runs = one ? 1 : m.runs / m.matrices * rest, units = one ? m.run_units / m.matrices * rest : m.run_units;
  write_spans<Unit, Word, 1, region>(out + whole * m.out_window, shared + whole * region, input.skew, 1, runs, units,
                                     m);
}

}  // namespace twill::TWILL_BACKEND::kernels
