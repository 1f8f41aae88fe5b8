#pragma once

// Tiles of rows that begin anywhere: the vectors that a row's ends cut, and all of a row whose output is not aligned as
// its input is, move by elements.

#include <cstdint>
#include <cstring>

#include "device.hpp"
#include "tile.hpp"

namespace twill::TWILL_BACKEND::kernels {

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
  const tile_number number = number_of(p, tile);
  tile_span at{number.row, number.part, 0, 0, tile_elements<Kind>, false};
  const auto address = reinterpret_cast<std::uintptr_t>(static_cast<const element*>(p.in) + at.row * p.in_ld);
  const int lead = static_cast<int>(address % 16 / sizeof(element));
  at.first = static_cast<std::int64_t>(at.part) * tile_elements<Kind> - lead;
  if (at.part == 0) at.low = lead;
  if (p.cols - at.first < tile_elements<Kind>) at.high = p.cols > at.first ? static_cast<int>(p.cols - at.first) : 0;
  at.whole = at.low == 0 && at.high == tile_elements<Kind> && address % sizeof(element) == 0;
  return at;
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

template <class Kind>
struct any_rows {
  /// Starts to load what whole vectors a tile has; mend adds the others.
  __device__ static void load(const scan_problem& p, std::uint32_t tile, word16 (&held)[scan_vectors<Kind>]) {
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

  /// Loads the vectors of a tile that its row's ends cut. Only complex numbers may lie apart from the multiples of
  /// their size; then it loads all.
  __device__ static void mend(const Kind& kind, const scan_problem& p, std::uint32_t tile,
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

  /// Stores a tile that has waited at `parked`. What the row's ends cut, and all where `out` is not aligned as `in` is,
  /// goes by elements, through memory of the thread.
  __device__ static void store(const Kind& kind, const scan_problem& p, const waiting_tile<Kind>& waiting,
                               const word16* parked, typename Kind::value before) {
    using element = typename Kind::element;
    constexpr int count = vector_elements<Kind>;
    const tile_span at = span_of<Kind>(p, waiting.tile);
    element* to = static_cast<element*>(p.out) + at.row * p.out_ld + at.first;
    const bool aligned = reinterpret_cast<std::uintptr_t>(to) % 16 == 0;
    if (aligned && at.whole) {  // assume_aligned: without it nvcc stores the elements of a vector one by one
#pragma unroll
      for (int v = 0; v < scan_vectors<Kind>; ++v) {
        static_cast<word16*>(__builtin_assume_aligned(to, 16))[place_of<Kind>(v) / count] =
            scanned(kind, parked[v * scan_threads], heads_of<Kind>(p, waiting.tile, v),
                    kind.combine(before, waiting.before[v]), p.exclusive);
      }
      return;
    }
#pragma unroll 1
    for (int v = 0; v < scan_vectors<Kind>; ++v) {
      const int place = place_of<Kind>(v);
      if (place + count <= at.low || place >= at.high) continue;
      auto own = waiting.before[0];  // not before[v]: an array that is indexed so leaves the registers
#pragma unroll
      for (int u = 1; u < scan_vectors<Kind>; ++u) {
        if (u == v) own = waiting.before[u];
      }
      const word16 words = scanned(kind, parked[v * scan_threads], heads_of<Kind>(p, waiting.tile, v),
                                   kind.combine(before, own), p.exclusive);
      if (aligned && place >= at.low && place + count <= at.high) {
        static_cast<word16*>(__builtin_assume_aligned(to, 16))[place / count] = words;
        continue;
      }
      element x[count];
      memcpy(x, &words, sizeof x);
#pragma unroll
      for (int i = 0; i < count; ++i) {
        if (place + i >= at.low && place + i < at.high) to[place + i] = x[i];
      }
    }
  }
};

}  // namespace twill::TWILL_BACKEND::kernels
