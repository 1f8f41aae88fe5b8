#pragma once

// Many rows of whole vectors that are shorter than half a chunk, in the order of reduce_tree.hpp: a lane has 8 vectors
// of several rows, or of one, and all of them are on their way before the first is combined.
//
// A row of up to 256 vectors belongs to a warp, which has several of them: `width` lanes wide, with 1, 2, 4 or 8
// vectors in each. Half of the lanes give away what they hold of one half of the rows and take over the other half: 7
// shuffles for 8 rows, instead of 24, and the results end up in as many lanes, which store them side by side. A row of
// up to 1024 vectors belongs to a block, which has four or two of them.

#include "reduce.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// By value: of lvalues, `?:` chooses an address, and what has one is in memory.
template <class T>
__device__ inline T chosen(bool first, T a, T b) {
  return first ? a : b;
}
template <class T>
__device__ inline complex_value<T> chosen(bool first, complex_value<T> a, complex_value<T> b) {
  return {first ? a.re : b.re, first ? a.im : b.im};
}
__device__ inline placed_key chosen(bool first, placed_key a, placed_key b) {
  return {first ? a.key : b.key, first ? a.place : b.place};
}

/// Where the 8 vectors of a thread are: vector i is part i % parts of row first + i / parts * apart, and parts of a row
/// are `step` bytes from each other.
struct vectors_place {
  std::int64_t first;  ///< may lie behind the last row, and so may rows after it
  int last;            ///< the last row of all, counted from `first`, or a number that no row reaches
  int apart, shift;    ///< log2 of the parts
  int from, step;      ///< bytes of the row
  __device__ int row(int i) const { return (i >> shift) * apart; }
  __device__ int byte(int i) const { return from + (i & ((1 << shift) - 1)) * step; }
};

/// Of `rows` rows from `begin` on, those that are `apart` from begin + which on.
__device__ inline vectors_place place_of_vectors(const reduce_problem& p, std::int64_t begin, int which, int apart,
                                                 int from, int step) {
  vectors_place at{begin + which, short_rows_a_warp, apart, p.vectors_shift, from, step};
  const std::int64_t ahead = p.rows - 1 - at.first;
  if (ahead < at.last) at.last = static_cast<int>(ahead);
  return at;
}

/// `together`: the rows are there, and all vectors follow each other. Else, what is not there is read where something
/// is, and replaced: no load depends on a branch.
__device__ inline void load_row_vectors(word16 (&raw)[8], const reduce_problem& p, const vectors_place& at,
                                        bool together) {
  const unsigned char* first = p.in + at.first * p.stride;
  if (together) {
    first += at.from;
#pragma unroll
    for (int i = 0; i < 8; ++i) raw[i] = *reinterpret_cast<const word16*>(first + i * at.step);
    return;
  }
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

/// Combines the parts of each row; the values of rows come to the front.
template <class Kind>
__device__ inline void combine_row_parts(typename Kind::value (&mine)[8], int shift, const reduce_terms& terms) {
#pragma unroll
  for (int level = 1; level <= 3; ++level) {
    if (level <= shift) {
#pragma unroll
      for (int i = 0; i < 8 >> level; ++i) mine[i] = Kind::combine(mine[2 * i], mine[2 * i + 1], terms);
    }
  }
}

/// What a lane holds after lanes were combined: the values of `held` rows from `first` on, where the lane's number is a
/// multiple of `lanes`.
struct lane_rows {
  int first, held, lanes;
};

/// Combines lanes, l with l + width / 2 first, of the values of `rows` rows.
template <class Kind>
__device__ inline lane_rows combine_row_lanes(typename Kind::value (&mine)[8], int rows, int width, int lane,
                                              const reduce_terms& terms) {
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
      const value own = chosen(upper, mine[i + half], mine[i]);
      const value other = lane_across(chosen(upper, mine[i], mine[i + half]), kept.lanes);
      mine[i] = Kind::combine(chosen(upper, other, own), chosen(upper, own, other), terms);
    }
  }
#pragma unroll 1
  for (int step = kept.lanes / 2; step > 0; step /= 2) {
    mine[0] = Kind::combine(mine[0], lane_above(mine[0], static_cast<unsigned>(step)), terms);
  }
  return kept;
}

/// Blocks at once that registers leave room for: fewer of large values, and of keys, which take long to make.
template <class Kind>
inline constexpr int short_row_blocks =
    blocks_at_once(reduce_threads, sizeof(typename Kind::value) == 8                      ? 4
                                   : sizeof(typename Kind::value) == 4 && Kind::slots > 1 ? 5
                                                                                          : 2);

// Rows that warps have.
template <class Kind>
__global__ void __launch_bounds__(reduce_threads, short_row_blocks<Kind>) reduce_short_rows(reduce_problem p) {
  constexpr int warps = reduce_threads / reduce_lanes, step = reduce_lanes * vector_bytes;
  const int t = static_cast<int>(threadIdx.x) % reduce_lanes, lane = t & (p.width - 1), apart = reduce_lanes / p.width;
  const int rows = 8 >> p.vectors_shift, all_rows = rows * apart;
  const std::int64_t warp = static_cast<std::int64_t>(block_number()) * warps + threadIdx.x / reduce_lanes;
  const std::int64_t begin = warp * all_rows;
  if (begin >= p.rows) return;  // the whole warp
  const auto at = place_of_vectors(p, begin, t / p.width, apart, lane * vector_bytes, step);
  word16 raw[8];
  load_row_vectors(raw, p, at, p.packed && begin + all_rows <= p.rows);
  typename Kind::value mine[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) mine[i] = vector_value<Kind>(raw[i], at.byte(i) >> p.terms.shift, p.terms);
  combine_row_parts<Kind>(mine, p.vectors_shift, p.terms);
  const auto kept = combine_row_lanes<Kind>(mine, rows, p.width, lane, p.terms);
  if (lane % kept.lanes != 0) return;
#pragma unroll 1
  for (int i = 0; i < kept.held; ++i) {
    const int row = (kept.first + i) * apart;
    if (row <= at.last) store_result(p.finish, at.first + row, mine[0]);
    // The first leaves, so that no index is unknown to the compiler.
#pragma unroll
    for (int k = 0; k < 7; ++k) mine[k] = mine[k + 1];
  }
}

/// Two vectors of a row, or four: combined element by element. Of four, the second pair is that of `next`.
template <class Kind>
__device__ inline void combine_pair(typename Kind::value (&set)[Kind::slots], word16 a, word16 b, std::int64_t place,
                                    int elements, const reduce_terms& terms) {
  typename Kind::value other[Kind::slots];
  Kind::vector(set, a, place, terms);
  Kind::vector(other, b, place + elements, terms);
#pragma unroll
  for (int s = 0; s < Kind::slots; ++s) set[s] = Kind::combine(set[s], other[s], terms);
}

// Rows that blocks have: two vectors of four rows in each thread, or four of two.
template <class Kind>
__global__ void __launch_bounds__(reduce_threads, short_row_blocks<Kind>) reduce_medium_rows(reduce_problem p) {
  using value = typename Kind::value;
  __shared__ value shared[4][reduce_threads];
  constexpr int step = reduce_threads * vector_bytes, slots = Kind::slots;
  const int t = static_cast<int>(threadIdx.x), rows = 8 >> p.vectors_shift, elements = step >> p.terms.shift;
  const std::int64_t begin = static_cast<std::int64_t>(block_number()) * rows;
  if (begin >= p.rows) return;  // the whole block
  const auto at = place_of_vectors(p, begin, 0, 1, t * vector_bytes, step);
  word16 raw[8];
  load_row_vectors(raw, p, at, p.packed && begin + rows <= p.rows);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    value set[slots], next[slots];
    const int i = 4 * half;
    combine_pair<Kind>(set, raw[i], raw[i + 1], at.byte(i) >> p.terms.shift, elements, p.terms);
    combine_pair<Kind>(next, raw[i + 2], raw[i + 3], at.byte(i + 2) >> p.terms.shift, elements, p.terms);
    if (rows == 2) {
#pragma unroll
      for (int s = 0; s < slots; ++s) set[s] = Kind::combine(set[s], next[s], p.terms);
    } else {
      combine_neighbours<Kind>(next, p.terms);
      shared[2 * half + 1][t] = next[0];
    }
    combine_neighbours<Kind>(set, p.terms);
    shared[rows == 2 ? half : 2 * half][t] = set[0];
  }
  __syncthreads();
  const int row = t / reduce_lanes;
  if (row >= rows) return;
  value parts[reduce_parts];
#pragma unroll
  for (int i = 0; i < reduce_parts; ++i) parts[i] = shared[row][i * reduce_lanes + t % reduce_lanes];
  combine_neighbours<Kind>(parts, p.terms);
  const value all = combine_lanes<Kind>(parts[0], p.terms);
  if (t % reduce_lanes == 0 && row <= at.last) store_result(p.finish, begin + row, all);
}

}  // namespace twill::TWILL_BACKEND::kernels
