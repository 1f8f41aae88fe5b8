#pragma once

// A tile: 16-byte vectors of a row in the registers of a block. Vector v of a lane is vector 32 v + lane of the warp's
// part of the tile, so that every access of a warp is 512 consecutive bytes.

#include <cstdint>
#include <cstring>

#include "bytes.hpp"
#include "device.hpp"
#include "operators.hpp"
#include "registers.hpp"

namespace twill::TWILL_BACKEND::kernels {

inline constexpr int scan_threads = 256, scan_warps = scan_threads / 32;

/// Vectors a thread, limited by registers. Part of the documented order of additions: another number changes the bits
/// of the result. (But not of bytes, which are integers: 11 vectors of them are 176 values, which AMD's compilers keep
/// one a register.)
constexpr int scan_vectors_for(int element_bytes, int value_bytes, bool segments) {
  if (element_bytes == 1 && !keeps_arrays_in_registers) return 4;
  if (value_bytes == 4) return segments ? 8 : 11;
  if (value_bytes == 8) return segments ? 5 : 10;
  return segments ? 3 : 4;
}

template <class Kind>
inline constexpr int scan_vectors = scan_vectors_for(static_cast<int>(sizeof(typename Kind::element)),
                                                     static_cast<int>(sizeof(typename Kind::value)), false);
template <class Kind>
inline constexpr int scan_vectors<in_segments<Kind>> = scan_vectors_for(
    static_cast<int>(sizeof(typename Kind::element)), static_cast<int>(sizeof(typename Kind::value)), true);

/// A kind for short arrays, where the latency of each step counts: smaller tiles keep more multiprocessors busy.
template <class Kind>
struct in_small_tiles : Kind {};
template <class Kind>
inline constexpr bool has_small_tiles = false;
template <class Kind>
inline constexpr bool has_small_tiles<in_small_tiles<Kind>> = true;

/// Whether blocks may take tiles by index (scan_one_tile). Not on AMD GPUs: not measured there, and recomputing tiles
/// (unpublished_tile.hpp) would spill up to 10 scalar registers.
template <class Kind>
inline constexpr bool may_take_tiles_by_index = has_small_tiles<Kind> && keeps_arrays_in_registers;

inline constexpr int small_tile_vectors = 8;
template <class Kind>
inline constexpr int scan_vectors<in_small_tiles<Kind>> = small_tile_vectors;

template <class Kind>
inline constexpr int vector_elements = 16 / static_cast<int>(sizeof(typename Kind::element));

template <class Kind>
inline constexpr int tile_vectors = scan_threads * scan_vectors<Kind>;
template <class Kind>
inline constexpr int tile_elements = tile_vectors<Kind> * vector_elements<Kind>;

/// Two staged tiles pay off for large values.
template <class Kind>
inline constexpr bool may_stage_two = sizeof(typename Kind::value) >= 8;

/// What a launch scans: tiles of rows, numbered row by row.
struct scan_problem {
  const void* in;
  void* out;
  std::int64_t cols, in_ld, out_ld;
  std::uint32_t tiles, tiles_in_row;
  std::uint32_t* ticket;       ///< the next tile to be claimed; 0 at first (not used by scan_one_tile)
  std::uint64_t* states;       ///< the state of each tile (tile_state.hpp)
  std::uint64_t tag;           ///< of this launch, for the states
  const std::uint32_t* heads;  ///< head flags of segments, a bit an element, from the first tile's first position on
  bool exclusive;
  bool two_staged;  ///< double-buffered: the next loads are issued before the previous tile is stored
  bool sums_only;   ///< publish the tiles' sums and write nothing: the first of two passes
};

/// Which row a tile is of, and which of the row's tiles it is.
struct tile_number {
  std::uint32_t row, part;
};

__device__ inline tile_number number_of(const scan_problem& p, std::uint32_t tile) {
  if (p.tiles == p.tiles_in_row) return {0, tile};
  const std::uint32_t row = tile / p.tiles_in_row;
  return {row, tile - row * p.tiles_in_row};
}

/// The position in the tile of vector v of a thread.
template <class Kind>
__device__ inline int index_in_tile(int thread, int v) {
  const int vector = thread / 32 * scan_vectors<Kind> * 32 + thread % 32;
  return (vector + 32 * v) * vector_elements<Kind>;
}

__device__ inline int this_thread() {
  return static_cast<int>(threadIdx.x);
}

/// The head flags of the elements of one vector.
template <class Kind>
__device__ inline std::uint32_t heads_of(const scan_problem& p, std::uint32_t tile, int thread, int v) {
  if constexpr (has_segments<Kind>) {
    constexpr std::uint32_t mask = (1u << vector_elements<Kind>)-1;
    const std::int64_t bit = static_cast<std::int64_t>(tile) * tile_elements<Kind> + index_in_tile<Kind>(thread, v);
    return p.heads[bit / 32] >> (bit % 32) & mask;
  } else {
    return 0;
  }
}

template <class Kind>
__device__ inline typename Kind::value entered(const Kind& kind, typename Kind::value before, bool head) {
  if constexpr (has_segments<Kind>) {
    return kind.enter(before, head);
  } else {
    return before;
  }
}

template <class Kind>
__device__ inline void elements_of(typename Kind::element (&x)[vector_elements<Kind>], const word16& words) {
  if constexpr (keeps_arrays_in_registers) {
    memcpy(x, &words, sizeof x);
  } else {
    copy_bits(x, words);
  }
}

template <class Kind>
__device__ inline word16 vector_of(const typename Kind::element (&x)[vector_elements<Kind>]) {
  word16 words;
  if constexpr (keeps_arrays_in_registers) {
    memcpy(&words, x, sizeof words);
  } else {
    copy_bits(words, x);
  }
  return words;
}

/// Elements `low` to `high` - 1 of a vector, one by one; the identity for the others.
template <class Kind>
__device__ inline word16 load_elements(const Kind& kind, const typename Kind::element* from, int low, int high) {
  typename Kind::element x[vector_elements<Kind>];
#pragma unroll
  for (int i = 0; i < vector_elements<Kind>; ++i) {
    x[i] = i >= low && i < high ? from[i] : kind.store(kind.identity());
  }
  return vector_of<Kind>(x);
}

/// Stores elements `low` to `high` - 1 of a vector, one by one.
template <class Kind>
__device__ inline void store_elements(typename Kind::element* to, const word16& words, int low, int high) {
  typename Kind::element x[vector_elements<Kind>];
  elements_of<Kind>(x, words);
#pragma unroll
  for (int i = 0; i < vector_elements<Kind>; ++i) {
    if (i >= low && i < high) to[i] = x[i];
  }
}

/// The sum of a vector.
template <class Kind>
__device__ inline typename Kind::value sum_of(const Kind& kind, word16 words, std::uint32_t heads) {
  typename Kind::element x[vector_elements<Kind>];
  elements_of<Kind>(x, words);
  typename Kind::value sum = kind.load(x[0]);
  if constexpr (has_segments<Kind>) sum.head = heads & 1;
#pragma unroll
  for (int i = 1; i < vector_elements<Kind>; ++i) {
    sum = kind.combine(entered(kind, sum, heads >> i & 1), kind.load(x[i]));
  }
  return sum;
}

/// Scans a vector; `before` is its exclusive prefix.
template <class Kind>
__device__ inline word16 scanned(const Kind& kind, word16 words, std::uint32_t heads, typename Kind::value before,
                                 bool exclusive) {
  typename Kind::element x[vector_elements<Kind>];
  elements_of<Kind>(x, words);
#pragma unroll
  for (int i = 0; i < vector_elements<Kind>; ++i) {
    before = entered(kind, before, heads >> i & 1);
    const auto with = kind.combine(before, kind.load(x[i]));
    x[i] = kind.store(exclusive ? before : with);
    before = with;
  }
  return vector_of<Kind>(x);
}

/// Scans over the lanes of the warp: lane i gets the sum of lanes 0 ... i.
template <class Kind>
__device__ inline typename Kind::value lanes_scanned(const Kind& kind, typename Kind::value v, int lanes = 32) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int d = 1; d < lanes; d *= 2) {
    const auto below = from_lane_below(v, d);
    if (lane >= d) v = kind.combine(below, v);
  }
  return v;
}

/// The sum over all lanes, in each of them.
template <class Kind>
__device__ inline typename Kind::value lanes_summed(const Kind& kind, typename Kind::value v) {
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const auto other = from_lane_across(v, d);
    v = (threadIdx.x & d) != 0 ? kind.combine(other, v) : kind.combine(v, other);
  }
  return v;
}

/// The sum of each vector of this thread.
template <class Kind>
__device__ inline void sum_vectors(const Kind& kind, const scan_problem& p, std::uint32_t tile,
                                   const word16 (&held)[scan_vectors<Kind>],
                                   typename Kind::value (&sums)[scan_vectors<Kind>]) {
#pragma unroll
  for (int v = 0; v < scan_vectors<Kind>; ++v) {
    sums[v] = sum_of(kind, held[v], heads_of<Kind>(p, tile, this_thread(), v));
    if constexpr (vector_elements<Kind> == 16) keep_in_order();
  }
}

/// Whether the sum of a tile is computed and published before the prefixes of its vectors: large values take many
/// shuffles for these, and other blocks wait. Changes the order of additions.
template <class Kind>
inline constexpr bool publishes_before_scan = has_small_tiles<Kind> && sizeof(typename Kind::value) >= 8;

/// The sum of the warp's part of the tile, by lane and then over the lanes.
template <class Kind>
__device__ inline typename Kind::value warp_sum(const Kind& kind,
                                                const typename Kind::value (&sums)[scan_vectors<Kind>]) {
  typename Kind::value sum = sums[0];
#pragma unroll
  for (int v = 1; v < scan_vectors<Kind>; ++v) sum = kind.combine(sum, sums[v]);
  return lanes_summed(kind, sum);
}

/// Turns the sums of vectors into their exclusive prefixes within the warp's part of the tile; returns its sum.
template <class Kind>
__device__ inline typename Kind::value warp_scan(const Kind& kind, typename Kind::value (&before)[scan_vectors<Kind>]) {
  using value = typename Kind::value;
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {  // all vectors interleaved: independent shuffles
#pragma unroll
    for (int v = 0; v < scan_vectors<Kind>; ++v) {
      const auto below = from_lane_below(before[v], d);
      if (lane >= d) before[v] = kind.combine(below, before[v]);
    }
  }
  value run = kind.identity();
#pragma unroll
  for (int v = 0; v < scan_vectors<Kind>; ++v) {
    const value last = from_one_lane(before[v], 31);
    value below = from_lane_below(before[v], 1);
    if (lane == 0) below = kind.identity();
    before[v] = v == 0 ? below : kind.combine(run, below);
    run = v == 0 ? last : kind.combine(run, last);
  }
  return run;
}

/// A tile whose sum is published and whose output is not stored yet.
template <class Kind>
struct pending_tile {
  std::uint32_t tile;
  typename Kind::value before[scan_vectors<Kind>];  ///< the exclusive prefix of each vector within the tile
};

}  // namespace twill::TWILL_BACKEND::kernels
