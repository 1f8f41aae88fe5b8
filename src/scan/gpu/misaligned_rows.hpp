#pragma once

// Tiles of misaligned rows: the partial vectors at both ends of a row are moved element by element; the vectors of a
// row whose output has another alignment modulo 16 than its input are realigned.

#include <cstdint>

#include "device.hpp"
#include "realigned_store.hpp"
#include "tile.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// The part of a row that a tile covers. Tiles start at multiples of 16 bytes of the input, so the first tile may start
/// before the row and the last may end past it: positions `low` to `high` - 1 of the tile are elements of the row.
struct tile_span {
  std::uint32_t row, part;  ///< which row, and which tile of it
  std::int64_t first;       ///< the element of the row at position 0
  int low, high;
  bool full;  ///< all positions are elements
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
  at.full = at.low == 0 && at.high == tile_elements<Kind>;
  return at;
}

template <class Kind>
struct misaligned_rows {
  /// Issues the loads of the full vectors of a tile; load_partial adds the others.
  __device__ static void load(const scan_problem& p, std::uint32_t tile, word16 (&held)[scan_vectors<Kind>]) {
    constexpr int count = vector_elements<Kind>;
    const tile_span at = span_of<Kind>(p, tile);
    const auto* from = static_cast<const typename Kind::element*>(p.in) + at.row * p.in_ld + at.first;
    if (at.full) {
#pragma unroll
      for (int v = 0; v < scan_vectors<Kind>; ++v)
        held[v] = *reinterpret_cast<const word16*>(from + index_in_tile<Kind>(this_thread(), v));
    } else {
#pragma unroll
      for (int v = 0; v < scan_vectors<Kind>; ++v) {
        const int index = index_in_tile<Kind>(this_thread(), v);
        const bool inside = index >= at.low && index + count <= at.high;
        held[v] = inside ? *reinterpret_cast<const word16*>(from + index) : make_word16(0, 0, 0, 0);
      }
    }
  }

  /// Vector v of a thread.
  __device__ static word16 load_vector(const Kind& kind, const scan_problem& p, std::uint32_t tile, int thread, int v) {
    const tile_span at = span_of<Kind>(p, tile);
    const int index = index_in_tile<Kind>(thread, v);
    const auto* from = static_cast<const typename Kind::element*>(p.in) + at.row * p.in_ld + at.first + index;
    return load_elements(kind, from, at.low - index, at.high - index);
  }

  /// Loads the partial vectors at the ends of a row.
  __device__ static void load_partial(const Kind& kind, const scan_problem& p, std::uint32_t tile,
                                      word16 (&held)[scan_vectors<Kind>]) {
    constexpr int count = vector_elements<Kind>;
    const tile_span at = span_of<Kind>(p, tile);
    if (at.full) return;
    const auto* from = static_cast<const typename Kind::element*>(p.in) + at.row * p.in_ld + at.first;
#pragma unroll 1
    for (int v = 0; v < scan_vectors<Kind>; ++v) {
      const int index = index_in_tile<Kind>(this_thread(), v);
      const bool inside = index >= at.low && index + count <= at.high;
      if (inside || index + count <= at.low || index >= at.high) continue;
      const word16 words = load_elements(kind, from + index, at.low - index, at.high - index);
#pragma unroll
      for (int u = 0; u < scan_vectors<Kind>; ++u) {
        if constexpr (keeps_arrays_in_registers) {
          if (u == v) held[u] = words;
        } else {
          assign_if(u == v, held[u], words);
        }
      }
    }
  }

  /// Vector `v` of the pending tile, where `v` is no constant.
  __device__ static word16 scanned_vector(const Kind& kind, const scan_problem& p, const pending_tile<Kind>& pending,
                                          const word16* staged, typename Kind::value before, int v) {
    auto own = pending.before[0];  // not before[v]: dynamic indexing would move the array to local memory
#pragma unroll
    for (int u = 1; u < scan_vectors<Kind>; ++u) {
      if constexpr (keeps_arrays_in_registers) {
        if (u == v) own = pending.before[u];
      } else {
        assign_if(u == v, own, pending.before[u]);
      }
    }
    return scanned(kind, staged[v * scan_threads], heads_of<Kind>(p, pending.tile, this_thread(), v),
                   kind.combine(before, own), p.exclusive);
  }

  /// Stores the pending tile that is staged at `staged`. Partial vectors are stored element by element, through local
  /// memory.
  __device__ static void store(const Kind& kind, const scan_problem& p, const pending_tile<Kind>& pending,
                               const word16* staged, typename Kind::value before) {
    using element = typename Kind::element;
    constexpr int count = vector_elements<Kind>;
    const tile_span at = span_of<Kind>(p, pending.tile);
    element* to = static_cast<element*>(p.out) + at.row * p.out_ld + at.first;
    const bool aligned = reinterpret_cast<std::uintptr_t>(to) % 16 == 0;
    if (aligned && at.full) {  // __builtin_assume_aligned: otherwise nvcc splits the vector store
#pragma unroll
      for (int v = 0; v < scan_vectors<Kind>; ++v) {
        static_cast<word16*>(__builtin_assume_aligned(to, 16))[index_in_tile<Kind>(this_thread(), v) / count] =
            scanned(kind, staged[v * scan_threads], heads_of<Kind>(p, pending.tile, this_thread(), v),
                    kind.combine(before, pending.before[v]), p.exclusive);
        if constexpr (count == 16) keep_in_order();
      }
      return;
    }
    if (!aligned) {  // uniform in the block: the shuffles need all lanes
      realigned_store<Kind> realigned(static_cast<int>(threadIdx.x % 32), 32);
#pragma unroll 1
      for (int v = 0; v < scan_vectors<Kind>; ++v) {
        realigned.store(to, at.low, at.high, index_in_tile<Kind>(this_thread(), v),
                        scanned_vector(kind, p, pending, staged, before, v), v == 0, v + 1 == scan_vectors<Kind>);
      }
      return;
    }
#pragma unroll 1
    for (int v = 0; v < scan_vectors<Kind>; ++v) {
      const int index = index_in_tile<Kind>(this_thread(), v);
      if (index + count <= at.low || index >= at.high) continue;
      const word16 words = scanned_vector(kind, p, pending, staged, before, v);
      if (index >= at.low && index + count <= at.high) {
        static_cast<word16*>(__builtin_assume_aligned(to, 16))[index / count] = words;
      } else {
        store_elements<Kind>(to + index, words, at.low - index, at.high - index);
      }
    }
  }
};

}  // namespace twill::TWILL_BACKEND::kernels
