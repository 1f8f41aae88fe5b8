#pragma once

// Permutation that keeps long rows: no shared tile. The output consists of lines of contiguous bytes, each of one row
// or of several that come from different places; every thread writes aligned chunks of 16 bytes of them. A chunk is
// cut from the aligned ones that hold it in the input; where two rows meet, it is put together from both.

#include <cstdint>

#include "device.hpp"
#include "kernels/fast_division.hpp"
#include "kernels/realign.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int rows_threads = 256;
constexpr int rows_depth = 4;  // chunks of a thread
constexpr int rows_dims = 8;

struct row_dim {
  fast_divisor extent;
  std::int64_t in_stride, out_stride;
};

struct line_rows {
  std::int64_t in_low, in_high;  // bytes from the first element to the ends of the input
  std::int64_t chunks;           // of all lines
  std::int64_t row_stride;       // between rows of a line in the input
  int row_bytes, line_bytes;
  fast_divisor by_row;   // row_bytes
  fast_divisor by_line;  // chunks of a line
  int rank;              // of the lines
  row_dim dim[rows_dims];
};

struct line_place {
  std::int64_t in, out;
};

__device__ inline line_place find_line(const line_rows& m, int line) {
  line_place p{0, 0};
#pragma unroll
  for (int i = 0; i < rows_dims; ++i) {
    if (i >= m.rank) break;
    const int rest = quotient(line, m.dim[i].extent), index = line - rest * m.dim[i].extent.divisor;
    p.in += index * m.dim[i].in_stride;
    p.out += index * m.dim[i].out_stride;
    line = rest;
  }
  return p;
}

// The 16 bytes at `from` that lie in one or two aligned chunks.
struct cut_chunk {
  word16 low, high;
  int skip;
};

__device__ inline bool can_cut(const line_rows& m, std::int64_t at, int skip) {
  return at - skip >= m.in_low && at - skip + (skip ? 32 : 16) <= m.in_high;
}

__device__ inline void load_cut(cut_chunk& c, const unsigned char* from) {
  c.skip = static_cast<int>(reinterpret_cast<std::uintptr_t>(from) & 15);
  c.low = *reinterpret_cast<const word16*>(from - c.skip);
  c.high = *reinterpret_cast<const word16*>(from + (c.skip ? 16 - c.skip : 0));
}

// The first `count` bytes of `a`, then those of `b`.
__device__ inline word16 joined(const word16& a, const word16& b, int count) {
  const std::uint32_t from[8] = {word<0>(a), word<1>(a), word<2>(a), word<3>(a),
                                 word<0>(b), word<1>(b), word<2>(b), word<3>(b)};
  std::uint32_t w[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int bytes = count - 4 * i;
    const std::uint32_t mask = bytes <= 0 ? 0 : bytes >= 4 ? 0xffffffffu : (1u << (8 * bytes)) - 1;
    w[i] = (from[i] & mask) | (from[4 + i] & ~mask);
  }
  return make_word16(w[0], w[1], w[2], w[3]);
}

// Where a chunk of the output is and what belongs into it.
struct line_chunk {
  std::int64_t in;     // of its first byte, as far as its row goes; relative to the input
  unsigned char* out;  // of its first byte
  int at;              // of its first byte in the line; before it where negative
  int left;            // bytes from there to the end of the row
};

__device__ inline line_chunk find_chunk(const line_rows& m, unsigned char* out, const line_place& line, int chunk) {
  unsigned char* const begin = out + line.out;
  line_chunk c;
  c.at = chunk * 16 - static_cast<int>(reinterpret_cast<std::uintptr_t>(begin) & 15);
  const int row = c.at < 0 ? 0 : quotient(c.at, m.by_row);
  c.left = m.row_bytes - (c.at - row * m.row_bytes);
  c.in = line.in + row * m.row_stride + (m.row_bytes - c.left);
  c.out = begin + c.at;
  return c;
}

// A chunk at the ends of the input, unit by unit.
template <class Unit>
__device__ void move_units(const unsigned char* in, const line_rows& m, const line_chunk& c) {
  for (int byte = c.at < 0 ? -c.at : 0; byte < 16 && c.at + byte < m.line_bytes;
       byte += static_cast<int>(sizeof(Unit))) {
    const std::int64_t from = c.in + byte + (byte < c.left ? 0 : m.row_stride - m.row_bytes);
    *reinterpret_cast<Unit*>(c.out + byte) = *reinterpret_cast<const Unit*>(in + from);
  }
}

template <class Unit>
__device__ void store_line_chunk(const line_rows& m, const line_chunk& c, const word16& v) {
  constexpr int size = static_cast<int>(sizeof(Unit));
  if (c.at >= 0 && c.at + 16 <= m.line_bytes) {
    *reinterpret_cast<word16*>(c.out) = v;
    return;
  }
  unit_chunk<Unit> units;
  units.whole = v;
#pragma unroll
  for (int u = 0; u < 16 / size; ++u) {
    const int byte = u * size;
    if (c.at + byte >= 0 && c.at + byte < m.line_bytes) *reinterpret_cast<Unit*>(c.out + byte) = units.unit[u];
  }
}

template <class Unit>
__global__ void __launch_bounds__(rows_threads) permute_rows(unsigned char* out, const unsigned char* in, line_rows m) {
  constexpr int size = static_cast<int>(sizeof(Unit)), in_block = rows_threads * rows_depth;
  line_place* const lines = dynamic_shared<line_place>();
  const std::int64_t block = static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  const int thread = static_cast<int>(threadIdx.x), by_line = m.by_line.divisor;
  const std::int64_t first = block * in_block;
  if (first >= m.chunks) return;  // the whole block: the grid is a rectangle
  const auto line0 = static_cast<int>(first / by_line);
  const auto chunk0 = static_cast<int>(first - static_cast<std::int64_t>(line0) * by_line);
  const int count = static_cast<int>(m.chunks - first < in_block ? m.chunks - first : in_block);
  const int last_line = quotient(chunk0 + count - 1, m.by_line);
  for (int i = thread; i <= last_line; i += rows_threads) lines[i] = find_line(m, line0 + i);
  __syncthreads();

  line_chunk c[rows_depth];
  cut_chunk cut[rows_depth];
  bool can[rows_depth];
#pragma unroll
  for (int k = 0; k < rows_depth; ++k) {
    const int index = thread + k * rows_threads;
    if (index >= count) break;
    const int line = quotient(chunk0 + index, m.by_line);
    c[k] = find_chunk(m, out, lines[line], chunk0 + index - line * by_line);
    const int skip = static_cast<int>((reinterpret_cast<std::uintptr_t>(in) + c[k].in) & 15);
    can[k] = can_cut(m, c[k].in, skip);
    if (can[k]) load_cut(cut[k], in + c[k].in);
  }
#pragma unroll
  for (int k = 0; k < rows_depth; ++k) {
    const int index = thread + k * rows_threads;
    if (index >= count || c[k].at >= m.line_bytes) continue;
    bool whole = can[k];
    word16 v = cut[k].low;
    if (size < 16 && whole && cut[k].skip) v = realigned<size>(cut[k].low, cut[k].high, cut[k].skip);
    if (size < 16 && whole && c[k].left < 16 && c[k].at + c[k].left < m.line_bytes) {
      const std::int64_t next = c[k].in + m.row_stride - m.row_bytes;
      const int skip = static_cast<int>((reinterpret_cast<std::uintptr_t>(in) + next) & 15);
      whole = can_cut(m, next, skip);
      if (whole) {
        cut_chunk other;
        load_cut(other, in + next);
        v = joined(v, realigned<size>(other.low, other.high, other.skip), c[k].left);
      }
    }
    if (whole) {
      store_line_chunk<Unit>(m, c[k], v);
    } else {
      move_units<Unit>(in, m, c[k]);
    }
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
