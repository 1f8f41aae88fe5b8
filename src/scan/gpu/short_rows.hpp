#pragma once

// Scan of rows that fit in the registers of a block: some warps share a row, or some lanes of a warp, and a thread may
// have vectors of several rows. Access: each element is read and written once, in vectors of 16 bytes; the lanes of a
// row load consecutive ones, and adjacent groups of lanes have adjacent rows. No block waits for another, and nothing
// needs scratch.
//
// Order of additions: within vectors, a scan over the lanes, the vectors of a lane from left to right, then a butterfly
// over the preceding warps of the row.

#include <cstdint>

#include "device.hpp"
#include "gpu/dependent_launch.hpp"
#include "gpu/grid.hpp"
#include "gpu/realign.hpp"
#include "realigned_store.hpp"
#include "tile.hpp"

namespace twill::TWILL_BACKEND::kernels {

inline constexpr int short_row_threads = 512, short_row_warps = short_row_threads / 32;  // of a block, at most

/// Vectors a thread, limited by registers.
constexpr int short_row_vectors_for(int value_bytes) {
  return value_bytes > 8 ? 4 : 6;
}

template <class Kind>
inline constexpr int short_row_vectors = short_row_vectors_for(static_cast<int>(sizeof(typename Kind::value)));

/// Rows, and how threads share them. `vectors * rows_each` is at most short_row_vectors.
struct short_rows {
  const void* in;
  void* out;
  std::int64_t rows, cols, in_ld, out_ld;
  std::int64_t readable_bytes;  ///< of `in` that any thread may read: all of packed rows, 0 with gaps or in place
  int lanes_shift;              ///< 2^this lanes of a warp share a row
  int warps_shift;              ///< 2^this warps: one, unless all lanes of a warp do
  int vectors;                  ///< of a row in a thread
  int rows_each;                ///< rows in a thread
  bool has_partial_vectors;     ///< some rows begin or end inside of vectors
  bool exclusive;
};

/// A row as vectors that are aligned in the input: it may begin inside of the first one, and end inside of the last.
template <class Kind>
struct short_row {
  using element = typename Kind::element;
  static constexpr int count = vector_elements<Kind>;
  const element* in;  ///< element 0 of the first vector
  element* out;
  int low, high;  ///< elements of the row, counted from there

  __device__ short_row(const short_rows& p, std::int64_t row) {
    const bool exists = row < p.rows;
    in = static_cast<const element*>(p.in) + (exists ? row * p.in_ld : 0);
    low = static_cast<int>(reinterpret_cast<std::uintptr_t>(in) % 16 / sizeof(element));
    high = exists ? low + static_cast<int>(p.cols) : 0;
    in -= low;
    out = static_cast<element*>(p.out) + (exists ? row * p.out_ld : 0) - low;
  }

  __device__ bool has_all(int index) const { return index >= low && index + count <= high; }
  __device__ bool has_some(int index) const { return index + count > low && index < high; }

  /// Whether a vector of which the row has a part may be loaded completely.
  __device__ bool is_readable(const short_rows& p, int index) const {
    const auto at = reinterpret_cast<const unsigned char*>(in + index) - static_cast<const unsigned char*>(p.in);
    return at >= 0 && at + 16 <= p.readable_bytes;
  }

  __device__ word16 load(int index) const { return *reinterpret_cast<const word16*>(in + index); }
  __device__ void store(int index, word16 words) const {  // assumed aligned: otherwise nvcc splits it
    static_cast<word16*>(__builtin_assume_aligned(out, 16))[index / count] = words;
  }

  /// The row's elements of a vector, one by one; the identity for the others.
  __device__ word16 load_partial(const Kind& kind, int index) const {
    return load_elements(kind, in + index, low - index, high - index);
  }
  __device__ void store_partial(int index, word16 words) const {
    store_elements<Kind>(out + index, words, low - index, high - index);
  }

  /// A vector with the identity where elements lie before the row. Those behind it precede no other.
  __device__ word16 without_preceding(const Kind& kind, int index, word16 words) const {
    element x[count];
#pragma unroll
    for (int i = 0; i < count; ++i) x[i] = kind.store(kind.identity());
    return joined(vector_of<Kind>(x), words, (low - index) * static_cast<int>(sizeof(element)));
  }
};

/// Which vectors of which rows a thread has.
struct short_row_place {
  std::int64_t row;  ///< the first one
  int step;          ///< rows from one to the next
  int lane, part;    ///< of the lanes, and of the warps, that share a row
  int vector;        ///< the first one of each row

  __device__ short_row_place(const short_rows& p, std::int64_t block) {
    const int thread = static_cast<int>(threadIdx.x), shift = p.lanes_shift + p.warps_shift;
    lane = thread & ((1 << p.lanes_shift) - 1);
    part = thread / 32 & ((1 << p.warps_shift) - 1);
    step = static_cast<int>(blockDim.x) >> shift;
    row = block * step * p.rows_each + (thread >> shift);
    vector = part * 32 * p.vectors + lane;
  }

  /// Calls f(slot, row, index of the vector's first element) for each vector of the thread.
  template <class Kind, class F>
  __device__ void each_vector(const short_rows& p, F&& f) const {
    std::int64_t r = row;
    short_row<Kind> of(p, r);
    int v = 0;
#pragma unroll
    for (int slot = 0; slot < short_row_vectors<Kind>; ++slot) {
      if (slot >= p.vectors * p.rows_each) continue;  // no break: the loop must unroll
      if (v == p.vectors) {                           // the next row
        v = 0;
        r += step;
        of = short_row<Kind>(p, r);
      }
      f(slot, of, (vector + (v << p.lanes_shift)) * vector_elements<Kind>);
      ++v;
    }
  }
};

/// The exclusive prefix of each vector within the warp's part of its row; returns the sum of the last row's part.
template <class Kind>
__device__ inline typename Kind::value scan_parts(const Kind& kind, const short_rows& p, const short_row_place& at,
                                                  word16 (&held)[short_row_vectors<Kind>],
                                                  typename Kind::value (&before)[short_row_vectors<Kind>]) {
  using value = typename Kind::value;
  const int lanes = 1 << p.lanes_shift, last_lane = static_cast<int>(threadIdx.x % 32) | (lanes - 1);
#pragma unroll
  for (int s = 0; s < short_row_vectors<Kind>; ++s) {
    before[s] = sum_of(kind, held[s], 0);
    recompute_from(held[s]);
    if constexpr (vector_elements<Kind> == 16) keep_in_order();
  }
  for (int d = 1; d < lanes; d *= 2) {
#pragma unroll
    for (int s = 0; s < short_row_vectors<Kind>; ++s) {
      const auto below = from_lane_below(before[s], d);
      if (at.lane >= d) before[s] = kind.combine(below, before[s]);
    }
  }
  value run = kind.identity();
  int v = 0;
#pragma unroll
  for (int s = 0; s < short_row_vectors<Kind>; ++s) {
    if (s >= p.vectors * p.rows_each) continue;  // no break: the loop must unroll
    if (v == p.vectors) {                        // the next row
      v = 0;
      run = kind.identity();
    }
    const value last = from_one_lane(before[s], last_lane);
    value below = from_lane_below(before[s], 1);
    if (at.lane == 0) below = kind.identity();
    before[s] = kind.combine(run, below);
    run = kind.combine(run, last);
    ++v;
  }
  return run;
}

/// The sum of the warps of the row before this one; called by all threads of the block. The last of `sums` becomes the
/// identity.
template <class Kind>
__device__ inline typename Kind::value sum_of_warps_before(const Kind& kind, const short_row_place& at,
                                                           typename Kind::value own,
                                                           typename Kind::value (&sums)[short_row_warps + 1]) {
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  if (lane == 0) sums[warp] = own;
  if (threadIdx.x == 0) sums[short_row_warps] = kind.identity();
  __syncthreads();
  return lanes_summed(kind, sums[lane < at.part ? warp - at.part + lane : short_row_warps]);
}

template <class Kind>
__device__ inline void load_rows(const Kind& kind, const short_rows& p, const short_row_place& at,
                                 word16 (&held)[short_row_vectors<Kind>]) {
#pragma unroll
  for (int s = 0; s < short_row_vectors<Kind>; ++s) held[s] = make_word16(0, 0, 0, 0);
  at.template each_vector<Kind>(p, [&](int s, const short_row<Kind>& row, int index) {
    if (row.has_all(index)) held[s] = row.load(index);
  });
  if (!p.has_partial_vectors) return;
  at.template each_vector<Kind>(p, [&](int s, const short_row<Kind>& row, int index) {
    if (row.has_all(index) || !row.has_some(index)) return;
    if (!row.is_readable(p, index)) {
      held[s] = row.load_partial(kind, index);
    } else {
      held[s] = row.load(index);
      if (index < row.low) held[s] = row.without_preceding(kind, index, held[s]);
    }
  });
}

/// Realigned: some rows have another alignment modulo 16 in the output than in the input.
template <class Kind, bool Realigned>
__global__ void __launch_bounds__(short_row_threads, blocks_of_accumulators(short_row_threads, 2))
    scan_short_rows(Kind kind, short_rows p) {
  using value = typename Kind::value;
  __shared__ value warp_sums[short_row_warps + 1];
  const std::int64_t block = block_index();
  const short_row_place at(p, block);
  wait_then_trigger_dependents();
  word16 held[short_row_vectors<Kind>];
  load_rows(kind, p, at, held);
  value before[short_row_vectors<Kind>], warps_before = kind.identity();
  const value own = scan_parts(kind, p, at, held, before);
  if (p.warps_shift > 0) warps_before = sum_of_warps_before(kind, at, own, warp_sums);
  [[maybe_unused]] realigned_store<Kind> realigned(at.lane, 1 << p.lanes_shift);
  at.template each_vector<Kind>(p, [&](int s, const short_row<Kind>& row, int index) {
    const word16 words = scanned(kind, held[s], 0, kind.combine(warps_before, before[s]), p.exclusive);
    if constexpr (Realigned) {
      const int v = (index / vector_elements<Kind> - at.vector) >> p.lanes_shift;
      realigned.store(row.out, row.low, row.high, index, words, v == 0, v == p.vectors - 1);
    } else if (row.has_all(index)) {
      row.store(index, words);
    } else if (row.has_some(index)) {
      row.store_partial(index, words);
    }
    if constexpr (vector_elements<Kind> == 16) keep_in_order();
  });
}

}  // namespace twill::TWILL_BACKEND::kernels
