#pragma once

// The scan: one pass over the data. A block takes a tile, loads it, publishes its sum, and only a whole tile later asks
// for what comes before it: the sums of all tiles before, which are there by then. In between the tile waits in shared
// memory and the loads of the next are on their way. Merrill and Garland's look-back waits for prefixes that other
// blocks complete; here blocks wait for sums alone, which depend on nothing, and each block carries its own prefix from
// tile to tile. Tiles are claimed in order by a ticket: whoever has one has a running block for every tile before it.
//
// Order of additions: tiles go in groups of 32. A group's sum is a butterfly over its tiles; whole groups are added
// from left to right; then comes the butterfly over the tiles before this one in its own group. It does not depend on
// which block did what, or when.

#include <cstdint>

#include "aligned_rows.hpp"
#include "device.hpp"
#include "misaligned_rows.hpp"
#include "tile.hpp"
#include "tile_state.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// What all tiles before some group of a row sum up to.
template <class Value>
struct scan_carry {
  Value sum;
  std::uint32_t row, group;
};

/// Waits for the sums of two tiles at once; the identity from `end` on.
template <class Kind>
__device__ inline void await_sums(const Kind& kind, const std::uint64_t* states, std::uint32_t first,
                                  std::uint32_t second, std::uint32_t end, typename Kind::value& a,
                                  typename Kind::value& b) {
  constexpr int words = state_words<typename Kind::value>::count;
  a = b = kind.identity();
  bool has_a = first >= end, has_b = second >= end;
  do {
    if (!has_a) has_a = read_published(states + static_cast<std::int64_t>(first) * words, a);
    if (!has_b) has_b = read_published(states + static_cast<std::int64_t>(second) * words, b);
  } while (!has_a || !has_b);
}

/// The sum of all tiles of the row before `tile`, for the whole block, which takes part. Moves `carry` up to the tile's
/// group. `groups`: shared memory for a sum a warp.
template <class Kind>
__device__ inline typename Kind::value sum_before(const Kind& kind, const scan_problem& p, std::uint32_t tile,
                                                  scan_carry<typename Kind::value>& carry,
                                                  typename Kind::value (&groups)[2 * scan_warps]) {
  constexpr std::uint32_t round = 2 * scan_warps;  // groups that the block looks at in one go
  const tile_number at = number_of(p, tile);
  if (carry.row != at.row) carry = {kind.identity(), at.row, 0};
  const std::uint64_t* states =
      p.states + static_cast<std::int64_t>(at.row) * p.tiles_in_row * state_words<typename Kind::value>::count;
  const std::uint32_t own = at.part / 32, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (std::uint32_t first = carry.group;; first += round) {
    typename Kind::value a, b;
    await_sums(kind, states, (first + warp) * 32 + lane, (first + warp + scan_warps) * 32 + lane, at.part, a, b);
    if (first + warp <= own) {
      const auto sum = lanes_summed(kind, a);
      if (lane == 0) groups[warp] = sum;
    }
    if (first + warp + scan_warps <= own) {
      const auto sum = lanes_summed(kind, b);
      if (lane == 0) groups[warp + scan_warps] = sum;
    }
    __syncthreads();
    const std::uint32_t whole = own - first < round ? own - first : round;
    for (std::uint32_t k = 0; k < whole; ++k) carry.sum = kind.combine(carry.sum, groups[k]);
    if (whole < round) {
      carry.group = own;
      return kind.combine(carry.sum, groups[whole]);
    }
    __syncthreads();
  }
}

template <class Kind>
__device__ inline void park(const word16 (&held)[scan_vectors<Kind>], word16* parked) {
#pragma unroll
  for (int v = 0; v < scan_vectors<Kind>; ++v) parked[v * scan_threads] = held[v];
}

/// Claims the first tile of the block; `place` is shared memory.
__device__ inline std::uint32_t first_tile(const scan_problem& p, std::uint32_t& place) {
  if (threadIdx.x == 0) place = atomic_add(p.ticket, 1u);
  __syncthreads();
  return place;
}

/// Does nothing. Tests delay blocks here.
struct steady_pace {
  __device__ static void before_tile(const scan_problem&, std::uint32_t) {}
};

/// Blocks of scan_threads, as many as can run at once; dynamic shared memory for one parked tile or two.
template <class Kind, class Rows, class Pace = steady_pace>
__global__ void __launch_bounds__(scan_threads, 2) scan_tiles(Kind kind, scan_problem p) {
  using value = typename Kind::value;
  __shared__ value warp_sums[2][scan_warps], groups[2][2 * scan_warps];
  __shared__ std::uint32_t tickets[2];
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  word16* const parking = dynamic_shared<word16>() + threadIdx.x;
  const bool two_parked = may_park_two<Kind> && p.two_parked;
  constexpr int slot_words = scan_vectors<Kind> * scan_threads;

  std::uint32_t claimed = 0;  // of thread 0: the tile after the next
  std::uint32_t tile = first_tile(p, tickets[1]);
  if (tile >= p.tiles) return;  // the whole block
  if (threadIdx.x == 0) claimed = p.tiles > gridDim.x ? atomic_add(p.ticket, 1u) : p.tiles;
  word16 held[scan_vectors<Kind>];
  Rows::load(p, tile, held);

  waiting_tile<Kind> waiting{p.tiles, {}};
  scan_carry<value> carry{kind.identity(), 0, 0};
  for (int turn = 0;; turn ^= 1) {
    Pace::before_tile(p, tile);
    Rows::mend(kind, p, tile, held);
    value before[scan_vectors<Kind>];
    const value own = warp_scan(kind, p, tile, held, before);
    if (lane == 0) warp_sums[turn][warp] = own;
    if (threadIdx.x == 0) tickets[turn] = claimed;
    __syncthreads();
    const std::uint32_t next = tickets[turn];
    const value upto = lanes_scanned(kind, warp_sums[turn][lane % scan_warps], scan_warps);
    value warp_before = from_one_lane(upto, warp == 0 ? 0 : warp - 1);
    if (warp == 0) warp_before = kind.identity();
    if (threadIdx.x == scan_warps - 1)
      publish(p.states + static_cast<std::int64_t>(tile) * state_words<value>::count, upto);

    if (two_parked) {
      park<Kind>(held, parking + turn * slot_words);
      if (next < p.tiles) Rows::load(p, next, held);
    }
    if (waiting.tile < p.tiles && !p.sums_only) {
      const value all_before = sum_before(kind, p, waiting.tile, carry, groups[turn]);
      Rows::store(kind, p, waiting, parking + (two_parked ? (turn ^ 1) * slot_words : 0), all_before);
    }
    if (threadIdx.x == 0 && next < p.tiles) claimed = atomic_add(p.ticket, 1u);
    if (!two_parked) {
      park<Kind>(held, parking);
      if (next < p.tiles) Rows::load(p, next, held);
    }
    waiting.tile = tile;
#pragma unroll
    for (int v = 0; v < scan_vectors<Kind>; ++v) waiting.before[v] = kind.combine(warp_before, before[v]);
    if (next >= p.tiles) {
      if (p.sums_only) return;
      const value all_before = sum_before(kind, p, tile, carry, groups[turn ^ 1]);
      Rows::store(kind, p, waiting, parking + (two_parked ? turn * slot_words : 0), all_before);
      return;
    }
    tile = next;
  }
}

/// Marks where segments begin: at the offsets, or from `first` on every `step` elements where `offsets` is null. The
/// bit of element 0 is bit `lead`.
template <int X>
__global__ void __launch_bounds__(X)
    mark_heads(std::uint32_t* heads, int lead, std::int64_t count, const std::int64_t* offsets, std::int64_t first,
               std::int64_t step, std::int64_t segments) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * X + threadIdx.x;
  if (i >= segments) return;
  const std::int64_t at = offsets != nullptr ? offsets[i] : first + i * step;
  if (at >= 0 && at < count) atomic_or(heads + (at + lead) / 32, 1u << ((at + lead) % 32));
}

}  // namespace twill::TWILL_BACKEND::kernels
