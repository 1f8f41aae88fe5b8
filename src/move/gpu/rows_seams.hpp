#pragma once

// Permutation that keeps rows of some hundred bytes which begin anywhere. The output consists of lines of many rows;
// a block writes aligned chunks of 16 bytes of one line. A thread's chunks, which lie within one row each, are cut from
// the aligned ones of the input that hold them. The chunks in which one row ends and the next one begins are left to
// a few threads, a chunk each: a warp whose lanes do both takes as long as both.

#include <cstdint>

#include "device.hpp"
#include "gpu/realign.hpp"
#include "tiled_nd.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int pieces_threads = 256, pieces_depth = 2;  // chunks of a thread
constexpr int pieces_bytes = pieces_threads * pieces_depth * 16;

struct row_pieces {
  strided_dims row, line;  // rows of a line, and lines
  int blocks, row_bytes, line_bytes;
  fast_divisor by_line, by_row;  // blocks of a line, row_bytes
  // Where the input's first and last byte are: their chunks may hold bytes outside of it.
  int first_line, last_line, first_row, last_row;
};

// The 16 bytes at `from`, of which those from `first` on and before `last` are needed; what else there is, is anything.
template <class Unit>
__device__ word16 part_of_row(const unsigned char* from, int first, int last) {
  const int skip = static_cast<int>(reinterpret_cast<std::uintptr_t>(from) & 15);
  word16 low = make_word16(0, 0, 0, 0), high = low;
  if (first < 16 - skip) low = *reinterpret_cast<const word16*>(from - skip);
  if (last > 16 - skip) high = *reinterpret_cast<const word16*>(from - skip + 16);
  return realigned<sizeof(Unit)>(low, high, skip);
}

// What a block writes: some bytes of a line. Places count from its first chunk, which may begin before the line.
struct line_part {
  int row0, rows;  // rows of which it holds something
  int lead;        // where the first of them begins; before the chunk where negative
  int last;        // where the part ends
};

template <class Unit>
__device__ void move_pieces(unsigned char* out, const unsigned char* in, const row_pieces& m, const line_part& p,
                            const std::int64_t* row_at) {
  word16 low[pieces_depth], high[pieces_depth];
  int skip[pieces_depth];
#pragma unroll
  for (int k = 0; k < pieces_depth; ++k) {
    const int at = (static_cast<int>(threadIdx.x) + k * pieces_threads) * 16, in_rows = at - p.lead;
    const int row = quotient(in_rows < 0 ? 0 : in_rows, m.by_row), offset = in_rows - row * m.row_bytes;
    skip[k] = -1;
    if (offset < 0 || offset + 16 > m.row_bytes || at + 16 > p.last) continue;
    const unsigned char* from = in + row_at[row] + offset;
    skip[k] = static_cast<int>(reinterpret_cast<std::uintptr_t>(from) & 15);
    low[k] = *reinterpret_cast<const word16*>(from - skip[k]);
    if (skip[k] != 0) high[k] = *reinterpret_cast<const word16*>(from - skip[k] + 16);
  }
#pragma unroll
  for (int k = 0; k < pieces_depth; ++k) {
    if (skip[k] < 0) continue;
    *reinterpret_cast<word16*>(out + (static_cast<int>(threadIdx.x) + k * pieces_threads) * 16) =
        realigned<sizeof(Unit)>(low[k], high[k], skip[k]);
  }
}

// The chunks in which rows begin or end.
template <class Unit>
__device__ void move_meetings(unsigned char* out, const unsigned char* in, const row_pieces& m, const line_part& p,
                              const std::int64_t* row_at) {
  constexpr int size = static_cast<int>(sizeof(Unit));
  for (int row = pieces_threads - 1 - static_cast<int>(threadIdx.x); row <= p.rows; row += pieces_threads) {
    const int begin = p.lead + row * m.row_bytes, before = begin & 15, at = begin - before;
    if (before == 0 || at < 0 || at >= pieces_bytes) continue;
    word16 v = make_word16(0, 0, 0, 0);
    const bool ends = row > 0, begins = row < p.rows;
    if (begins) v = part_of_row<Unit>(in + row_at[row] - before, before, 16);
    if (ends) v = joined(part_of_row<Unit>(in + row_at[row - 1] + (m.row_bytes - before), 0, before), v, before);
    if (ends && begins) {
      *reinterpret_cast<word16*>(out + at) = v;
      continue;
    }
    unit_chunk<Unit> units;
    units.take(v);
#pragma unroll
    for (int u = 0; u < 16 / size; ++u) {
      if (ends ? u * size < before : u * size >= before) *reinterpret_cast<Unit*>(out + at + u * size) = units.unit[u];
    }
  }
}

// All that a block writes, unit by unit, where chunks may not be read.
template <class Unit>
__device__ void move_row_units(unsigned char* out, const unsigned char* in, const row_pieces& m, const line_part& p,
                               const std::int64_t* row_at) {
  constexpr int size = static_cast<int>(sizeof(Unit));
  for (int at = static_cast<int>(threadIdx.x) * size; at < p.last; at += pieces_threads * size) {
    const int in_rows = at - p.lead;
    if (in_rows < 0) continue;  // before the line
    const int row = quotient(in_rows, m.by_row);
    *reinterpret_cast<Unit*>(out + at) = *reinterpret_cast<const Unit*>(in + row_at[row] + in_rows - row * m.row_bytes);
  }
}

template <class Unit>
__global__ void __launch_bounds__(pieces_threads)
    permute_pieces(unsigned char* out, const unsigned char* in, row_pieces by_value) {
  const row_pieces& m = argument_after(by_value, out, in);
  auto* const row_at = dynamic_shared<std::int64_t>();
  const auto place = static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  if (place >= m.blocks) return;  // the whole block: the grid is a rectangle
  const int line = quotient(static_cast<int>(place), m.by_line);
  const strided_place base = place_of(m.line, line);
  out += base.out;
  const int index = static_cast<int>(place) - line * m.by_line.divisor;
  const int begin = index * pieces_bytes - static_cast<int>(reinterpret_cast<std::uintptr_t>(out) & 15);
  if (begin >= m.line_bytes) return;  // the whole block: it is there for lines that begin late in a chunk
  line_part p;
  p.row0 = begin <= 0 ? 0 : quotient(begin, m.by_row);
  p.lead = p.row0 * m.row_bytes - begin;
  p.last = m.line_bytes - begin < pieces_bytes ? m.line_bytes - begin : pieces_bytes;
  p.rows = quotient(p.last - p.lead - 1, m.by_row) + 1;
  out += begin;
  for (int i = threadIdx.x; i < p.rows; i += pieces_threads) row_at[i] = base.in + place_of(m.row, p.row0 + i).in;
  __syncthreads();
  const auto holds = [&](int one, int row) { return one == line && p.row0 <= row && row < p.row0 + p.rows; };
  if (holds(m.first_line, m.first_row) || holds(m.last_line, m.last_row)) {
    move_row_units<Unit>(out, in, m, p, row_at);
    return;
  }
  move_meetings<Unit>(out, in, m, p, row_at);
  move_pieces<Unit>(out, in, m, p, row_at);
}

}  // namespace twill::TWILL_BACKEND::kernels
