#pragma once

// Rows of up to half a chunk, in the order of tree.hpp. Access: 8 vectors of 16 bytes a lane, loaded before the first
// use.
//
// Up to 256 vectors a row: several rows a warp, `width` lanes a row, 1, 2, 4 or 8 vectors a lane. Lanes exchange halves
// of their rows (recursive halving): 7 shuffles for 8 rows instead of 24, and the results end up in adjacent lanes,
// which store them coalesced. Up to 1024 vectors a row: four or two rows a block.

#include "reduce.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// By value: `?:` on lvalues selects an address, which forces the operands into local memory.
template <class T>
__device__ inline T select(bool first, T a, T b) {
  return first ? a : b;
}
template <class T>
__device__ inline complex_value<T> select(bool first, complex_value<T> a, complex_value<T> b) {
  return {first ? a.re : b.re, first ? a.im : b.im};
}
__device__ inline indexed_key select(bool first, indexed_key a, indexed_key b) {
  return {first ? a.key : b.key, first ? a.index : b.index};
}

/// The layout of a thread's 8 vectors: vector i is part i % parts of row first + i / parts * row_step; parts of a row
/// have a stride of `step` bytes.
struct vector_layout {
  std::int64_t first;   ///< it and the rows after it may be out of range
  int last;             ///< the last valid row relative to `first`, or a number that no row reaches
  int row_step, shift;  ///< log2 of the parts
  int from, step;       ///< bytes of the row
  __device__ int row(int i) const { return (i >> shift) * row_step; }
  __device__ int byte(int i) const { return from + (i & ((1 << shift) - 1)) * step; }
};

/// Rows begin + which, begin + which + row_step, ...
__device__ inline vector_layout layout_of(const reduce_problem& p, std::int64_t begin, int which, int row_step,
                                          int from, int step) {
  vector_layout at{begin + which, short_rows_per_warp, row_step, p.vectors_shift, from, step};
  const std::int64_t ahead = p.rows - 1 - at.first;
  if (ahead < at.last) at.last = static_cast<int>(ahead);
  return at;
}

/// Whether aligned vectors around each of a thread's 8 may be read; its rows are all there then.
__device__ inline bool are_inside(const reduce_problem& p, const vector_layout& at) {
  const std::int64_t begin = at.first * p.stride + at.from, end = (at.first + at.row(7)) * p.stride + at.byte(7);
  return p.contiguous && at.row(7) <= at.last && begin >= vector_bytes && end + 2 * vector_bytes <= p.rows * p.stride;
}

/// Rows at any address. `filled`: all are there and fill their lanes.
template <class Kind>
__device__ inline void load_misaligned_rows(word16 (&raw)[8], const reduce_problem& p, const vector_layout& at,
                                            bool filled) {
  const unsigned char* first = p.in + at.first * p.stride;
  const auto place = [&](int i) {
    const int left = at.row(i) <= at.last ? valid_bytes(p.bytes - at.byte(i)) : 0;
    return vector_place{first + (at.row(i) * p.stride + at.byte(i)), 0, left};
  };
  if constexpr (Kind::unit_bytes >= 4) {
    load_elements<Kind>(raw, vector_of(p.pad), first_vector(p), filled, place);
  } else if (!are_inside(p, at)) {
    load_edges<Kind>(raw, vector_of(p.pad), p.params, place);
  } else {
    const int stride = static_cast<int>(p.stride), bytes = static_cast<int>(p.bytes);
    load_realigned<Kind::unit_bytes>(raw, [&](int i) { return first + (at.row(i) * stride + at.byte(i)); });
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (at.byte(i) + vector_bytes <= bytes) continue;
      raw[i] = joined(raw[i], vector_of(p.pad), at.byte(i) < bytes ? bytes - at.byte(i) : 0);
    }
  }
}

/// Aligned: rows of full vectors. `filled`: all rows are there and fill their lanes. Otherwise addresses are clamped to
/// valid ones and the values replaced afterwards, so that no load is predicated.
template <class Kind, bool Aligned>
__device__ inline void load_row_vectors(word16 (&raw)[8], const reduce_problem& p, const vector_layout& at,
                                        bool filled) {
  const unsigned char* first = p.in + at.first * p.stride;
  if constexpr (!Aligned) {
    load_misaligned_rows<Kind>(raw, p, at, filled);
  } else if (filled && p.contiguous) {
    first += at.from;
#pragma unroll
    for (int i = 0; i < 8; ++i) raw[i] = *reinterpret_cast<const word16*>(first + i * at.step);
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int row = at.row(i) < at.last ? at.row(i) : at.last, byte = at.byte(i) < p.bytes ? at.byte(i) : 0;
      raw[i] = *reinterpret_cast<const word16*>(first + row * p.stride + byte);
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (at.byte(i) >= p.bytes) raw[i] = vector_of(p.pad);
    }
  }
}

template <class Kind, int Pairs>
__device__ inline void combine_pairs(typename Kind::value (&mine)[8], const op_params& params) {
#pragma unroll
  for (int i = 0; i < Pairs; ++i) mine[i] = Kind::combine(mine[2 * i], mine[2 * i + 1], params);
}

/// Combines the parts of each row; leaves one value a row at the front.
template <class Kind>
__device__ inline void combine_row_parts(typename Kind::value (&mine)[8], int shift, const op_params& params) {
  if constexpr (!keeps_arrays_in_registers) {
    if (shift >= 1) combine_pairs<Kind, 4>(mine, params);
    if (shift >= 2) combine_pairs<Kind, 2>(mine, params);
    if (shift >= 3) combine_pairs<Kind, 1>(mine, params);
    return;
  }
#pragma unroll
  for (int level = 1; level <= 3; ++level) {
    if (level <= shift) {
#pragma unroll
      for (int i = 0; i < 8 >> level; ++i) mine[i] = Kind::combine(mine[2 * i], mine[2 * i + 1], params);
    }
  }
}

/// What a lane holds after combination: `held` rows from `first` on, valid in lanes that are a multiple of `lanes`.
struct lane_rows {
  int first, held, lanes;
};

/// Combines across lanes, l with l + width / 2 first, for `rows` rows at once.
template <class Kind>
__device__ inline lane_rows combine_row_lanes(typename Kind::value (&mine)[8], int rows, int width, int lane,
                                              const op_params& params) {
  using value = typename Kind::value;
  lane_rows kept{0, rows, width};
#pragma unroll
  for (int half = 4; half > 0; half /= 2) {
    if (kept.held != 2 * half || kept.lanes == 1) continue;
    kept.lanes /= 2;
    kept.held = half;
    const bool upper = (lane & kept.lanes) != 0;
    if (upper) kept.first += half;
#pragma unroll
    for (int i = 0; i < half; ++i) {
      const value own = select(upper, mine[i + half], mine[i]);
      const value other = lane_across(select(upper, mine[i], mine[i + half]), kept.lanes);
      mine[i] = Kind::combine(select(upper, other, own), select(upper, own, other), params);
    }
  }
#pragma unroll 1
  for (int step = kept.lanes / 2; step > 0; step /= 2) {
    mine[0] = Kind::combine(mine[0], lane_above(mine[0], static_cast<unsigned>(step)), params);
  }
  return kept;
}

/// Blocks a multiprocessor that the registers allow: fewer for large values and for keys.
template <class Kind, bool Aligned>
inline constexpr int short_row_blocks =
    !Aligned ? misaligned_blocks<Kind>
             : blocks_at_once(reduce_threads, sizeof(typename Kind::value) == 8                      ? 4
                                              : sizeof(typename Kind::value) == 4 && Kind::slots > 1 ? 5
                                                                                                     : 2);

// Several rows a warp.
template <class Kind, bool Aligned>
__global__ void __launch_bounds__(reduce_threads, (short_row_blocks<Kind, Aligned>))
    reduce_short_rows(reduce_problem p) {
  constexpr int warps = reduce_threads / reduce_lanes, step = reduce_lanes * vector_bytes;
  const int t = static_cast<int>(threadIdx.x) % reduce_lanes, lane = t & (p.width - 1),
            row_step = reduce_lanes / p.width;
  const int rows = 8 >> p.vectors_shift, all_rows = rows * row_step;
  const std::int64_t warp = static_cast<std::int64_t>(block_number()) * warps + threadIdx.x / reduce_lanes;
  const std::int64_t begin = warp * all_rows;
  if (begin >= p.rows) return;  // uniform in the warp
  wait_then_trigger_dependents();
  const auto at = layout_of(p, begin, t / p.width, row_step, lane * vector_bytes, step);
  word16 raw[8];
  load_row_vectors<Kind, Aligned>(raw, p, at, p.filled && begin + all_rows <= p.rows);
  typename Kind::value mine[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) mine[i] = vector_value<Kind>(raw[i], at.byte(i) >> p.params.shift, p.params);
  combine_row_parts<Kind>(mine, p.vectors_shift, p.params);
  const auto kept = combine_row_lanes<Kind>(mine, rows, p.width, lane, p.params);
  if (lane % kept.lanes != 0) return;
#pragma unroll 1
  for (int i = 0; i < kept.held; ++i) {
    const int row = (kept.first + i) * row_step;
    if (row <= at.last) store_result(p.output, at.first + row, mine[0]);
    // Shifted, so that all register indices are compile-time constants.
#pragma unroll
    for (int k = 0; k < 7; ++k) mine[k] = mine[k + 1];
  }
}

/// Combines two vectors of a row element by element.
template <class Kind>
__device__ inline void combine_pair(typename Kind::value (&set)[Kind::slots], word16 a, word16 b, std::int64_t index,
                                    int elements, const op_params& params) {
  typename Kind::value other[Kind::slots];
  Kind::vector(set, a, index, params);
  Kind::vector(other, b, index + elements, params);
#pragma unroll
  for (int s = 0; s < Kind::slots; ++s) set[s] = Kind::combine(set[s], other[s], params);
}

template <class Kind, bool Aligned>
inline constexpr int medium_row_blocks =
    Aligned ? short_row_blocks<Kind, true> : blocks_of_accumulators(reduce_threads, 2);

// Several rows a block: two vectors of four rows a thread, or four of two.
template <class Kind, bool Aligned>
__global__ void __launch_bounds__(reduce_threads, (medium_row_blocks<Kind, Aligned>))
    reduce_medium_rows(reduce_problem p) {
  using value = typename Kind::value;
  __shared__ value shared[4][reduce_threads];
  constexpr int step = reduce_threads * vector_bytes, slots = Kind::slots;
  const int t = static_cast<int>(threadIdx.x), rows = 8 >> p.vectors_shift, elements = step >> p.params.shift;
  const std::int64_t begin = static_cast<std::int64_t>(block_number()) * rows;
  if (begin >= p.rows) return;  // uniform exit: padding block of the 2-D grid
  wait_then_trigger_dependents();
  const auto at = layout_of(p, begin, 0, 1, t * vector_bytes, step);
  word16 raw[8];
  load_row_vectors<Kind, Aligned>(raw, p, at, p.filled && begin + rows <= p.rows);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    value set[slots], next[slots];
    const int i = 4 * half;
    combine_pair<Kind>(set, raw[i], raw[i + 1], at.byte(i) >> p.params.shift, elements, p.params);
    combine_pair<Kind>(next, raw[i + 2], raw[i + 3], at.byte(i + 2) >> p.params.shift, elements, p.params);
    if (rows == 2) {
#pragma unroll
      for (int s = 0; s < slots; ++s) set[s] = Kind::combine(set[s], next[s], p.params);
    } else {
      combine_neighbours<Kind>(next, p.params);
      shared[2 * half + 1][t] = next[0];
    }
    combine_neighbours<Kind>(set, p.params);
    shared[rows == 2 ? half : 2 * half][t] = set[0];
  }
  __syncthreads();
  const int row = t / reduce_lanes;
  if (row >= rows) return;
  value parts[reduce_parts];
#pragma unroll
  for (int i = 0; i < reduce_parts; ++i) parts[i] = shared[row][i * reduce_lanes + t % reduce_lanes];
  combine_neighbours<Kind>(parts, p.params);
  const value all = combine_lanes<Kind>(parts[0], p.params);
  if (t % reduce_lanes == 0 && row <= at.last) store_result(p.output, begin + row, all);
}

}  // namespace twill::TWILL_BACKEND::kernels
