#pragma once

// Permutation that keeps long rows: no shared tile. The output consists of lines of contiguous bytes, each of one row
// or of several that come from different places; every thread writes aligned chunks of 16 bytes of them. A chunk is
// cut from the aligned ones that hold it in the input; where two rows meet, it is put together from both.

#include <cstdint>

#include "device.hpp"
#include "gpu/dependent_launch.hpp"
#include "gpu/fast_division.hpp"
#include "gpu/grid.hpp"
#include "gpu/packed_units.hpp"
#include "gpu/realign.hpp"
#include "matrix_tiles.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int rows_threads = 256;

struct line_rows {
  std::int64_t in_low, in_high;  // bytes from the first element to the ends of the input
  std::int64_t chunks;           // of all lines
  std::int64_t row_stride;       // between rows of a line in the input
  int row_bytes, line_bytes;
  fast_divisor by_row;   // row_bytes
  fast_divisor by_line;  // chunks of a line
  strided_dims lines;
};

__device__ inline int skip_of(const unsigned char* in, std::int64_t at) {  // in + at may lie outside of the input
  return static_cast<int>((reinterpret_cast<std::uintptr_t>(in) + at) & 15);
}

// Whether the aligned chunks that hold the 16 bytes at `at` belong to the input.
__device__ inline bool can_cut(const line_rows& m, const unsigned char* in, std::int64_t at) {
  const int skip = skip_of(in, at);
  return at - skip >= m.in_low && at - skip + (skip ? 32 : 16) <= m.in_high;
}

__device__ inline word16 aligned_chunk(const unsigned char* in, std::int64_t at) {
  return load_prefetch_l2<128>(reinterpret_cast<const word16*>(in + at));
}

// The 16 bytes at `at`, cut from `low`, the aligned chunk that they begin in, and the next.
template <int UnitBytes>
__device__ word16 cut(const unsigned char* in, std::int64_t at, const word16& low) {
  const int skip = skip_of(in, at);
  if (skip == 0) return low;
  return realigned<UnitBytes>(low, aligned_chunk(in, at - skip + 16), skip);
}

// Where a chunk of the output is and what belongs into it.
struct line_chunk {
  std::int64_t in;     // of its first byte, as far as its row goes; relative to the input
  unsigned char* out;  // of its first byte
  int at;              // of its first byte in the line; before it where negative
  int left;            // bytes from there to the end of the row
};

__device__ inline line_chunk find_chunk(const line_rows& m, unsigned char* out, const strided_place& line, int chunk) {
  unsigned char* const begin = out + line.out;
  line_chunk c;
  c.at = chunk * 16 - misalignment(begin);
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
  units.load(v);
#pragma unroll
  for (int u = 0; u < 16 / size; ++u) {
    const int byte = u * size;
    if (c.at + byte >= 0 && c.at + byte < m.line_bytes) *reinterpret_cast<Unit*>(c.out + byte) = units.unit[u];
  }
}

constexpr int rows_depth = 4;  // chunks of a thread

// The loads of the vectors' first parts are issued together; the second ones mostly belong to the next lane, and hit
// the cache.
template <class Unit>
__global__ void __launch_bounds__(rows_threads)
    permute_rows(unsigned char* out, const unsigned char* in, line_rows by_value) {
  const line_rows& m = argument_after(by_value, out, in);
  constexpr int size = static_cast<int>(sizeof(Unit)), depth = rows_depth, in_block = rows_threads * depth;
  strided_place* const lines = dynamic_shared<strided_place>();
  const std::int64_t block = block_index();
  const int thread = static_cast<int>(threadIdx.x), by_line = m.by_line.divisor;
  const std::int64_t first = block * in_block;
  if (first >= m.chunks) return;  // uniform exit: padding block of the 2-D grid
  const auto line0 = static_cast<int>(first / by_line);
  const auto chunk0 = static_cast<int>(first - static_cast<std::int64_t>(line0) * by_line);
  const int count = static_cast<int>(m.chunks - first < in_block ? m.chunks - first : in_block);
  const int last_line = quotient(chunk0 + count - 1, m.by_line);
  for (int i = thread; i <= last_line; i += rows_threads) lines[i] = place_of<true>(m.lines, line0 + i);
  __syncthreads();
  wait_then_trigger_dependents();

  const auto chunk_of = [&](int index) {
    const int line = quotient(chunk0 + index, m.by_line);
    return find_chunk(m, out, lines[line], chunk0 + index - line * by_line);
  };
  word16 low[depth];
#pragma unroll
  for (int k = 0; k < depth; ++k) {
    const int index = thread + k * rows_threads;
    const std::int64_t at = chunk_of(index < count ? index : 0).in;
    if (can_cut(m, in, at)) low[k] = aligned_chunk(in, at - skip_of(in, at));
  }
#pragma unroll
  for (int k = 0; k < depth; ++k) {
    const int index = thread + k * rows_threads;
    const line_chunk c = chunk_of(index < count ? index : 0);
    if (index >= count || c.at >= m.line_bytes) continue;
    const bool meet = c.left < 16 && c.at + c.left < m.line_bytes;
    const std::int64_t next = c.in + m.row_stride - m.row_bytes;
    if (!can_cut(m, in, c.in) || (meet && !can_cut(m, in, next))) {
      move_units<Unit>(in, m, c);
      continue;
    }
    word16 v = cut<size>(in, c.in, low[k]);
    if (meet) v = joined(v, cut<size>(in, next, aligned_chunk(in, next - skip_of(in, next))), c.left);
    store_line_chunk<Unit>(m, c, v);
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
