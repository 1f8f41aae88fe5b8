#pragma once

// A tile of a scan: 16-byte vectors of a row in the registers of a block. Vector v of a warp's lane is vector
// 32 v + lane of the warp's part of the tile, so that every access of a warp is 512 consecutive bytes.

#include <cstdint>
#include <cstring>

#include "device.hpp"
#include "kernels/scan_kinds.hpp"

namespace twill::TWILL_BACKEND::kernels {

inline constexpr int scan_threads = 256, scan_warps = scan_threads / 32;

/// Vectors of a thread: what its registers hold, with two values for each. A part of what is documented as the tree of
/// additions: another number gives other bits.
constexpr int scan_vectors_for(int value_bytes, bool segments) {
  if (value_bytes == 4) return segments ? 8 : 11;
  if (value_bytes == 8) return segments ? 5 : 10;
  return segments ? 3 : 4;
}

template <class Kind>
inline constexpr int scan_vectors = scan_vectors_for(static_cast<int>(sizeof(typename Kind::value)), false);
template <class Kind>
inline constexpr int scan_vectors<in_segments<Kind>> =
    scan_vectors_for(static_cast<int>(sizeof(typename Kind::value)), true);

template <class Kind>
inline constexpr int vector_elements = 16 / static_cast<int>(sizeof(typename Kind::element));

template <class Kind>
inline constexpr int tile_elements = scan_threads * scan_vectors<Kind> * vector_elements<Kind>;

/// What a launch scans: tiles of rows, numbered row by row.
struct scan_problem {
  const void* in;
  void* out;
  std::int64_t cols, in_ld, out_ld;
  std::uint32_t tiles, tiles_in_row;
  std::uint32_t* ticket;       ///< the next tile to be claimed; 0 at first
  std::uint64_t* states;       ///< what scan_state.hpp keeps for each tile; 0 at first
  const std::uint32_t* heads;  ///< a bit an element, where segments begin, from the first tile's first place on
  bool exclusive;
  bool two_parked;  ///< shared memory holds two tiles: the next loads begin before the tile before is stored
  bool sums_only;   ///< publish the tiles' sums and write nothing: the first of two passes
};

/// Where a tile lies. Tiles begin at multiples of 16 bytes of the input, so the first of a row may begin before the
/// row, and the last end behind it: of a tile's places, those from `low` to `high` - 1 are elements of the row.
struct tile_span {
  std::uint32_t row, part;  ///< which row, and which tile of it
  std::int64_t first;       ///< the element of the row that place 0 stands for
  int low, high;
  bool whole;  ///< all places are elements, and vectors are aligned
};

template <class Kind>
__device__ inline tile_span span_of(const scan_problem& p, std::uint32_t tile) {
  using element = typename Kind::element;
  tile_span at{0, tile, 0, 0, tile_elements<Kind>, false};
  if (p.tiles != p.tiles_in_row) {
    at.row = tile / p.tiles_in_row;
    at.part = tile - at.row * p.tiles_in_row;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(static_cast<const element*>(p.in) + at.row * p.in_ld);
  const int lead = static_cast<int>(address % 16 / sizeof(element));
  at.first = static_cast<std::int64_t>(at.part) * tile_elements<Kind> - lead;
  if (at.part == 0) at.low = lead;
  if (p.cols - at.first < tile_elements<Kind>) at.high = p.cols > at.first ? static_cast<int>(p.cols - at.first) : 0;
  at.whole = at.low == 0 && at.high == tile_elements<Kind> && address % sizeof(element) == 0;
  return at;
}

/// The place in its tile of this thread's vector v.
template <class Kind>
__device__ inline int place_of(int v) {
  const int vector = static_cast<int>(threadIdx.x / 32) * scan_vectors<Kind> * 32 + static_cast<int>(threadIdx.x % 32);
  return (vector + 32 * v) * vector_elements<Kind>;
}

// A vector that the row's beginning or end cuts moves by elements.
template <class Kind>
__device__ inline word16 load_cut(const Kind& kind, const typename Kind::element* from, int place,
                                  const tile_span& at) {
  typename Kind::element x[vector_elements<Kind>];
#pragma unroll
  for (int i = 0; i < vector_elements<Kind>; ++i) {
    const bool inside = place + i >= at.low && place + i < at.high;
    x[i] = inside ? from[place + i] : kind.store(kind.identity());
  }
  word16 words;
  memcpy(&words, x, sizeof words);
  return words;
}

/// Starts to load what whole vectors a tile has; mend_tile adds the others.
template <class Kind>
__device__ inline void load_tile(const scan_problem& p, std::uint32_t tile, word16 (&held)[scan_vectors<Kind>]) {
  constexpr int count = vector_elements<Kind>;
  const tile_span at = span_of<Kind>(p, tile);
  const auto* from = static_cast<const typename Kind::element*>(p.in) + at.row * p.in_ld + at.first;
  if (at.whole) {
#pragma unroll
    for (int v = 0; v < scan_vectors<Kind>; ++v) held[v] = *reinterpret_cast<const word16*>(from + place_of<Kind>(v));
  } else {
    const bool aligned = reinterpret_cast<std::uintptr_t>(from) % 16 == 0;
#pragma unroll
    for (int v = 0; v < scan_vectors<Kind>; ++v) {
      const int place = place_of<Kind>(v);
      const bool inside = aligned && place >= at.low && place + count <= at.high;
      held[v] = inside ? *reinterpret_cast<const word16*>(from + place) : make_word16(0, 0, 0, 0);
    }
  }
}

/// Loads the vectors of a tile that its row's ends cut. Only complex numbers may lie apart from the multiples of their
/// size; then it loads all.
template <class Kind>
__device__ inline void mend_tile(const Kind& kind, const scan_problem& p, std::uint32_t tile,
                                 word16 (&held)[scan_vectors<Kind>]) {
  constexpr int count = vector_elements<Kind>;
  const tile_span at = span_of<Kind>(p, tile);
  if (at.whole) return;
  const auto* from = static_cast<const typename Kind::element*>(p.in) + at.row * p.in_ld + at.first;
  const bool aligned = reinterpret_cast<std::uintptr_t>(from) % 16 == 0;
#pragma unroll 1
  for (int v = 0; v < scan_vectors<Kind>; ++v) {
    const int place = place_of<Kind>(v);
    const bool inside = aligned && place >= at.low && place + count <= at.high;
    if (inside || place + count <= at.low || place >= at.high) continue;
    const word16 words = load_cut(kind, from, place, at);
#pragma unroll
    for (int u = 0; u < scan_vectors<Kind>; ++u) {
      if (u == v) held[u] = words;
    }
  }
}

/// The bits of the elements of one vector that begin segments.
template <class Kind>
__device__ inline std::uint32_t heads_of(const scan_problem& p, std::uint32_t tile, int v) {
  if constexpr (has_segments<Kind>) {
    constexpr std::uint32_t mask = (1u << vector_elements<Kind>)-1;
    const std::int64_t bit = static_cast<std::int64_t>(tile) * tile_elements<Kind> + place_of<Kind>(v);
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

/// The sum of a vector.
template <class Kind>
__device__ inline typename Kind::value sum_of(const Kind& kind, word16 words, std::uint32_t heads) {
  typename Kind::element x[vector_elements<Kind>];
  memcpy(x, &words, sizeof x);
  typename Kind::value sum = kind.load(x[0]);
  if constexpr (has_segments<Kind>) sum.head = heads & 1;
#pragma unroll
  for (int i = 1; i < vector_elements<Kind>; ++i) {
    sum = kind.combine(entered(kind, sum, heads >> i & 1), kind.load(x[i]));
  }
  return sum;
}

/// A vector scanned, `before` being what comes before it.
template <class Kind>
__device__ inline word16 scanned(const Kind& kind, word16 words, std::uint32_t heads, typename Kind::value before,
                                 bool exclusive) {
  typename Kind::element x[vector_elements<Kind>];
  memcpy(x, &words, sizeof x);
#pragma unroll
  for (int i = 0; i < vector_elements<Kind>; ++i) {
    before = entered(kind, before, heads >> i & 1);
    const auto with = kind.combine(before, kind.load(x[i]));
    x[i] = kind.store(exclusive ? before : with);
    before = with;
  }
  memcpy(&words, x, sizeof words);
  return words;
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

/// For each vector of the thread, the sum of what comes before it in the warp's part of the tile; returns the sum of
/// the whole part.
template <class Kind>
__device__ inline typename Kind::value warp_scan(const Kind& kind, const scan_problem& p, std::uint32_t tile,
                                                 const word16 (&held)[scan_vectors<Kind>],
                                                 typename Kind::value (&before)[scan_vectors<Kind>]) {
  using value = typename Kind::value;
#pragma unroll
  for (int v = 0; v < scan_vectors<Kind>; ++v) before[v] = sum_of(kind, held[v], heads_of<Kind>(p, tile, v));
  value run = kind.identity();
#pragma unroll
  for (int v = 0; v < scan_vectors<Kind>; ++v) {
    const value upto = lanes_scanned(kind, before[v]);
    const value last = from_one_lane(upto, 31);
    value below = from_lane_below(upto, 1);
    if (threadIdx.x % 32 == 0) below = kind.identity();
    before[v] = v == 0 ? below : kind.combine(run, below);
    run = v == 0 ? last : kind.combine(run, last);
  }
  return run;
}

}  // namespace twill::TWILL_BACKEND::kernels
