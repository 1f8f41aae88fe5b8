#pragma once

// rows-seams: permutation of misaligned contiguous rows of a few hundred bytes. The output consists of
// lines of many rows, however many dimensions these are; a block stores the aligned vectors of a part of one line. Its
// threads store the vectors that lie inside a row, two each, extracted from the aligned ones of the input that hold
// them. A seam, the vector in which one row ends and the next begins, is a thread's own: a warp in which some lanes
// store seams takes as long as if all did.

#include <cstdint>

#include "device.hpp"
#include "gpu/dependent_launch.hpp"
#include "gpu/fast_division.hpp"
#include "gpu/realign.hpp"
#include "matrix_tiles.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int seams_threads = 256, seams_depth = 2;  // vectors of a thread
constexpr int seams_bytes = seams_threads * seams_depth * 16;

struct seamed_rows {
  strided_dims row, line;  // rows of a line; lines
  unsigned blocks;
  int row_bytes, line_bytes;
  fast_divisor by_line, by_row;  // blocks of a line; row_bytes
  // The rows with the input's first and last byte, whose aligned vectors may exceed the input.
  int first_line, last_line, first_row, last_row;
};

/// The part of a line that a block stores; bytes count from its first vector, which may begin before the line.
struct line_part {
  int row0, rows;  // rows of which it has bytes
  int lead;        // where the first of them begins; before the part where negative
  int last;        // where the part ends
};

template <class Unit>
__device__ void move_inside(unsigned char* out, const unsigned char* in, const seamed_rows& m, const line_part& p,
                            const std::int64_t* row_at) {
  word16 low[seams_depth], high[seams_depth];
  int skip[seams_depth];  // -1: no vector inside a row
#pragma unroll
  for (int k = 0; k < seams_depth; ++k) {
    const int at = (static_cast<int>(threadIdx.x) + k * seams_threads) * 16, behind = at - p.lead;
    const int row = quotient(behind < 0 ? 0 : behind, m.by_row), offset = behind - row * m.row_bytes;
    skip[k] = -1;
    if (offset < 0 || offset + 16 > m.row_bytes || at + 16 > p.last) continue;
    const unsigned char* from = in + row_at[row] + offset;
    skip[k] = misalignment(from);
    low[k] = load_prefetch_l2<128>(reinterpret_cast<const word16*>(from - skip[k]));
    if (skip[k] != 0) high[k] = load_prefetch_l2<128>(reinterpret_cast<const word16*>(from - skip[k] + 16));
  }
#pragma unroll
  for (int k = 0; k < seams_depth; ++k) {
    if (skip[k] < 0) continue;
    const int at = (static_cast<int>(threadIdx.x) + k * seams_threads) * 16;
    *reinterpret_cast<word16*>(out + at) = realigned<sizeof(Unit)>(low[k], high[k], skip[k]);
  }
}

// The vector at `from`, of which bytes from `first` on and before `last` are needed; the others are undefined.
template <class Unit>
__device__ word16 part_of_row(const unsigned char* from, int first, int last) {
  const int skip = misalignment(from);
  word16 low = make_word16(0, 0, 0, 0), high = low;
  if (first < 16 - skip) low = load_prefetch_l2<128>(reinterpret_cast<const word16*>(from - skip));
  if (last > 16 - skip) high = load_prefetch_l2<128>(reinterpret_cast<const word16*>(from - skip + 16));
  return realigned<sizeof(Unit)>(low, high, skip);
}

// Rows begin in fewer vectors than there are threads, so that the last warps take them, while the first ones are ahead.
// At the ends of the part and of the line a seam belongs to one row alone, and is stored unit by unit.
template <class Unit>
__device__ void move_seams(unsigned char* out, const unsigned char* in, const seamed_rows& m, const line_part& p,
                           const std::int64_t* row_at) {
  constexpr int size = static_cast<int>(sizeof(Unit));
  for (int row = seams_threads - 1 - static_cast<int>(threadIdx.x); row <= p.rows; row += seams_threads) {
    const int begin = p.lead + row * m.row_bytes, before = begin & 15, at = begin - before;
    if (before == 0 || at < 0 || at >= seams_bytes) continue;
    const bool ends = row > 0, begins = row < p.rows;
    word16 v = make_word16(0, 0, 0, 0);
    if (begins) v = part_of_row<Unit>(in + row_at[row] - before, before, 16);
    if (ends) v = joined(part_of_row<Unit>(in + row_at[row - 1] + (m.row_bytes - before), 0, before), v, before);
    if (ends && begins) {
      *reinterpret_cast<word16*>(out + at) = v;
      continue;
    }
    unit_chunk<Unit> units;
    units.load(v);
#pragma unroll
    for (int u = 0; u < 16 / size; ++u) {
      if (ends ? u * size < before : u * size >= before) *reinterpret_cast<Unit*>(out + at + u * size) = units.unit[u];
    }
  }
}

// The part unit by unit, where aligned vectors may exceed the input.
template <class Unit>
__device__ void move_part_units(unsigned char* out, const unsigned char* in, const seamed_rows& m, const line_part& p,
                                const std::int64_t* row_at) {
  constexpr int size = static_cast<int>(sizeof(Unit));
  for (int at = static_cast<int>(threadIdx.x) * size; at < p.last; at += seams_threads * size) {
    const int behind = at - p.lead;
    if (behind < 0) continue;  // before the line
    const int row = quotient(behind, m.by_row);
    *reinterpret_cast<Unit*>(out + at) = *reinterpret_cast<const Unit*>(in + row_at[row] + behind - row * m.row_bytes);
  }
}

template <class Unit>
__global__ void __launch_bounds__(seams_threads)
    permute_rows_seams(unsigned char* out, const unsigned char* in, seamed_rows by_value) {
  const seamed_rows& m = argument_after(by_value, out, in);
  auto* const row_at = dynamic_shared<std::int64_t>();
  const unsigned place = blockIdx.y * gridDim.x + blockIdx.x;
  if (place >= m.blocks) return;  // uniform exit: padding block of the 2-D grid
  const int line = quotient(static_cast<int>(place), m.by_line);
  const strided_place base = place_of(m.line, line);
  out += base.out;
  const int begin = (static_cast<int>(place) - line * m.by_line.divisor) * seams_bytes - misalignment(out);
  if (begin >= m.line_bytes)
    return;  // uniform exit: the last block of a line is needed only where the line is misaligned
  line_part p;
  p.row0 = begin <= 0 ? 0 : quotient(begin, m.by_row);
  p.lead = p.row0 * m.row_bytes - begin;
  p.last = m.line_bytes - begin < seams_bytes ? m.line_bytes - begin : seams_bytes;
  p.rows = quotient(p.last - p.lead - 1, m.by_row) + 1;
  out += begin;
  for (int i = threadIdx.x; i < p.rows; i += seams_threads) row_at[i] = base.in + place_of(m.row, p.row0 + i).in;
  __syncthreads();
  wait_then_trigger_dependents();
  const auto has = [&](int of_line, int row) { return of_line == line && p.row0 <= row && row < p.row0 + p.rows; };
  if (has(m.first_line, m.first_row) || has(m.last_line, m.last_row)) {
    move_part_units<Unit>(out, in, m, p, row_at);
    return;
  }
  move_seams<Unit>(out, in, m, p, row_at);
  move_inside<Unit>(out, in, m, p, row_at);
}

}  // namespace twill::TWILL_BACKEND::kernels
