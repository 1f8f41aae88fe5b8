#pragma once

// Tiles of aligned rows: precondition, every row of input and output starts at a multiple of 16 bytes, so only a row's
// last vector may be partial. Access: 512 consecutive bytes a warp, one predicate a vector, no branch.

#include <cstdint>
#include <cstring>

#include "device.hpp"
#include "tile.hpp"

namespace twill::TWILL_BACKEND::kernels {

template <class Kind>
struct aligned_rows {
  using element = typename Kind::element;
  using value = typename Kind::value;
  static constexpr int count = vector_elements<Kind>;

  /// The first vector of a thread in a tile: its position in the row, and how many of the tile's full vectors begin
  /// there; at most those of the warp.
  struct part_of_row {
    std::int64_t row, vector;
    int left;
  };
  __device__ static part_of_row part_of(const scan_problem& p, std::uint32_t tile, int thread = this_thread()) {
    const tile_number number = number_of(p, tile);
    const std::int64_t vector =
        (static_cast<std::int64_t>(number.part) * tile_elements<Kind> + index_in_tile<Kind>(thread, 0)) / count;
    const std::int64_t left = p.cols / count - vector;
    constexpr int all = 32 * scan_vectors<Kind>;
    return {number.row, vector, left < 0 ? -1 : left < all ? static_cast<int>(left) : all};
  }

  /// Elements past the last full vector are loaded as zero: they precede no other.
  __device__ static void load(const scan_problem& p, std::uint32_t tile, word16 (&held)[scan_vectors<Kind>]) {
    const part_of_row part = part_of(p, tile);
    const auto* from = static_cast<const word16*>(p.in) + part.row * (p.in_ld / count) + part.vector;
#pragma unroll
    for (int v = 0; v < scan_vectors<Kind>; ++v) {
      held[v] = 32 * v < part.left ? from[32 * v] : make_word16(0, 0, 0, 0);
    }
  }

  /// Vector v of a thread.
  __device__ static word16 load_vector(const Kind&, const scan_problem& p, std::uint32_t tile, int thread, int v) {
    const part_of_row part = part_of(p, tile, thread);
    const auto* from = static_cast<const word16*>(p.in) + part.row * (p.in_ld / count) + part.vector;
    return 32 * v < part.left ? from[32 * v] : make_word16(0, 0, 0, 0);
  }

  __device__ static void load_partial(const Kind&, const scan_problem&, std::uint32_t, word16 (&)[scan_vectors<Kind>]) {
  }

  __device__ static void store(const Kind& kind, const scan_problem& p, const pending_tile<Kind>& pending,
                               const word16* staged, value before) {
    const part_of_row part = part_of(p, pending.tile);
    auto* to = static_cast<word16*>(p.out) + part.row * (p.out_ld / count) + part.vector;
#pragma unroll
    for (int v = 0; v < scan_vectors<Kind>; ++v) {
      const value own = kind.combine(before, pending.before[v]);
      const word16 words =
          scanned(kind, staged[v * scan_threads], heads_of<Kind>(p, pending.tile, this_thread(), v), own, p.exclusive);
      if (32 * v < part.left) to[32 * v] = words;
      if constexpr (count == 16) keep_in_order();
    }
    if (p.cols % count != 0 && part.left < 32 * scan_vectors<Kind>)
      store_partial_vector(kind, p, part, pending, before);
  }

  /// The partial vector at the end of the row, by the thread that owns its position.
  __device__ static void store_partial_vector(const Kind& kind, const scan_problem& p, const part_of_row& part,
                                              const pending_tile<Kind>& pending, value before) {
    if (part.left < 0 || part.left % 32 != 0) return;
    value own = pending.before[0];
#pragma unroll
    for (int v = 1; v < scan_vectors<Kind>;
         ++v) {  // not before[left / 32]: dynamic indexing would move it to local memory
      if constexpr (keeps_arrays_in_registers) {
        if (32 * v == part.left) own = pending.before[v];
      } else {
        assign_if(32 * v == part.left, own, pending.before[v]);
      }
    }
    own = kind.combine(before, own);
    const std::int64_t first = (part.vector + part.left) * count;
    const element* from = static_cast<const element*>(p.in) + part.row * p.in_ld + first;
    element* to = static_cast<element*>(p.out) + part.row * p.out_ld + first;
    const int elements = static_cast<int>(p.cols % count);
    const std::uint32_t heads = heads_of<Kind>(p, pending.tile, this_thread(), part.left / 32);
#pragma unroll 1
    for (int i = 0; i < elements; ++i) {
      own = entered(kind, own, heads >> i & 1);
      const value with = kind.combine(own, kind.load(from[i]));
      to[i] = kind.store(p.exclusive ? own : with);
      own = with;
    }
  }
};

}  // namespace twill::TWILL_BACKEND::kernels
