#pragma once

// Single-pass scan with decoupled look-back over tile sums (Merrill and Garland, 2016). Access: each element is read
// and written once, 512 consecutive bytes a warp. Blocks wait for the sums of earlier tiles, which depend on no other
// block, never for prefixes.
//
// scan_tiles: a block claims tiles in order by an atomic ticket, so that every earlier tile belongs to a running block.
// It publishes a tile's sum one tile before it needs that tile's prefix: meanwhile the tile is staged in shared memory
// and the loads of the next tile are in flight. Each block carries its own prefix from tile to tile.
//
// scan_one_tile, of short arrays: a tile a block, by the block's index, which saves the ticket's latency. Nothing
// promises that blocks start in the order of their index, so tiles that are not published within a spin limit are
// recomputed.
//
// Order of additions, independent of scheduling: groups of 32 tiles; a butterfly inside a group, full groups from left
// to right, then the butterfly over the preceding tiles of the own group.

#include <cstdint>

#include "aligned_rows.hpp"
#include "device.hpp"
#include "gpu/dependent_launch.hpp"
#include "misaligned_rows.hpp"
#include "tile.hpp"
#include "tile_state.hpp"
#include "unpublished_tile.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// The sum of all tiles of a row before a group.
template <class Value>
struct scan_carry {
  Value sum;
  std::uint32_t row, group;
};

/// Does nothing. Tests delay blocks here, and set another spin limit.
struct steady_pace {
  static constexpr bool by_index = prefers_index_to_ticket;
  static constexpr int most_polls = 256;  // about 0.2 ms, for each tile that is not published
  __device__ static void before_tile(const scan_problem&, std::uint32_t) {}
};

/// Where the sum of a tile is published.
template <class Value>
__device__ inline std::uint64_t* state_of(const scan_problem& p, std::uint32_t tile) {
  return p.states + static_cast<std::int64_t>(tile) * state_words<Value>::count;
}

/// Polls the sums of tiles `first` and `second` of a row that begins with tile `row_tile`, in each lane; the identity
/// from `end` on. After MostPolls, unless that is 0, the warp recomputes the first unpublished tile and publishes it.
template <class Rows, int MostPolls, class Kind>
__device__ inline void await_sums(const Kind& kind, const scan_problem& p, std::uint32_t row_tile, std::uint32_t first,
                                  std::uint32_t second, std::uint32_t end, typename Kind::value& a,
                                  typename Kind::value& b) {
  using value = typename Kind::value;
  a = b = kind.identity();
  bool has_a = first >= end, has_b = second >= end;
  while (true) {
    int polls = 0;
    do {
      if (!has_a) has_a = read_published(state_of<value>(p, row_tile + first), a, p.tag);
      if (!has_b) has_b = read_published(state_of<value>(p, row_tile + second), b, p.tag);
    } while (!(has_a && has_b) && (MostPolls == 0 || ++polls < MostPolls));
    if constexpr (MostPolls == 0) {
      return;
    } else {
      if (!any_lane(!has_a || !has_b)) return;
      const std::uint32_t unpublished = least_of_lanes(!has_a ? first : !has_b ? second : end);
      const auto sum = sum_of_tile<Kind, Rows>(kind, p, row_tile + unpublished);
      if (threadIdx.x % 32 == 0) publish(state_of<value>(p, row_tile + unpublished), sum, p.tag);
    }
  }
}

/// The sum of all tiles of the row before `tile`, in all threads; called by all threads of the block. Advances `carry`
/// to the tile's group. `groups`: shared memory, a sum a warp.
template <class Rows, int MostPolls = 0, class Kind>
__device__ inline typename Kind::value sum_before(const Kind& kind, const scan_problem& p, std::uint32_t tile,
                                                  scan_carry<typename Kind::value>& carry,
                                                  typename Kind::value (&groups)[2 * scan_warps]) {
  constexpr std::uint32_t round = 2 * scan_warps;  // groups that the block polls per iteration
  const tile_number at = number_of(p, tile);
  if (carry.row != at.row) carry = {kind.identity(), at.row, 0};
  const std::uint32_t row_tile = tile - at.part;
  const std::uint32_t own = at.part / 32, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (std::uint32_t first = carry.group;; first += round) {
    typename Kind::value a, b;
    await_sums<Rows, MostPolls>(kind, p, row_tile, (first + warp) * 32 + lane, (first + warp + scan_warps) * 32 + lane,
                                at.part, a, b);
    if (first + warp <= own) {
      const auto sum = lanes_summed(kind, a);
      if (lane == 0) groups[warp] = sum;
    }
    if (first + warp + scan_warps <= own) {
      const auto sum = lanes_summed(kind, b);
      if (lane == 0) groups[warp + scan_warps] = sum;
    }
    __syncthreads();
    const std::uint32_t complete = own - first < round ? own - first : round;
    for (std::uint32_t k = 0; k < complete; ++k) carry.sum = kind.combine(carry.sum, groups[k]);
    if (complete < round) {
      carry.group = own;
      return kind.combine(carry.sum, groups[complete]);
    }
    __syncthreads();
  }
}

template <class Kind>
__device__ inline void stage(const word16 (&held)[scan_vectors<Kind>], word16* staged) {
#pragma unroll
  for (int v = 0; v < scan_vectors<Kind>; ++v) staged[v * scan_threads] = held[v];
}

/// Publishes the tile's sum; returns that of the tile before this warp's part. Called by all threads of the block.
/// `before`: the sums of vectors, which become their exclusive prefixes within the warp's part, unless that is done
/// after publishing (publishes_before_scan).
template <class Kind>
__device__ inline typename Kind::value publish_tile(const Kind& kind, const scan_problem& p, std::uint32_t tile,
                                                    typename Kind::value (&before)[scan_vectors<Kind>],
                                                    typename Kind::value (&warp_sums)[scan_warps]) {
  using value = typename Kind::value;
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const value own = publishes_before_scan<Kind> ? warp_sum(kind, before) : warp_scan(kind, before);
  if (lane == 0) warp_sums[warp] = own;
  __syncthreads();
  const value upto = lanes_scanned(kind, warp_sums[lane % scan_warps], scan_warps);
  const value warp_before = from_one_lane(upto, warp == 0 ? 0 : warp - 1);
  if (threadIdx.x == scan_warps - 1) publish(state_of<value>(p, tile), upto, p.tag);
  return warp == 0 ? kind.identity() : warp_before;
}

/// The tile with its vectors' prefixes within it: ready to be stored once the sum of all tiles before it is known.
template <class Kind>
__device__ inline pending_tile<Kind> pending_of(const Kind& kind, std::uint32_t tile,
                                                const typename Kind::value (&before)[scan_vectors<Kind>],
                                                typename Kind::value warp_before) {
  pending_tile<Kind> pending{tile, {}};
#pragma unroll
  for (int v = 0; v < scan_vectors<Kind>; ++v) pending.before[v] = kind.combine(warp_before, before[v]);
  return pending;
}

/// Launched with at most as many blocks as are resident; dynamic shared memory for one or two staged tiles.
template <class Kind, class Rows, class Pace = steady_pace>
__global__ void __launch_bounds__(scan_threads, blocks_of_accumulators(scan_threads, 2))
    scan_tiles(Kind kind, scan_problem p) {
  using value = typename Kind::value;
  __shared__ value warp_sums[2][scan_warps], groups[2][2 * scan_warps];
  __shared__ std::uint32_t tickets[2];
  word16* const staging = dynamic_shared<word16>() + threadIdx.x;
  const bool two_staged = may_stage_two<Kind> && p.two_staged;

  wait_then_trigger_dependents();
  std::uint32_t claimed = 0;  // of thread 0: the tile after the next
  if (threadIdx.x == 0) tickets[1] = atomic_add(p.ticket, 1u);
  __syncthreads();
  std::uint32_t tile = tickets[1];
  if (tile >= p.tiles) return;  // uniform exit: padding block
  if (threadIdx.x == 0) claimed = p.tiles > gridDim.x ? atomic_add(p.ticket, 1u) : p.tiles;
  word16 held[scan_vectors<Kind>];
  Rows::load(p, tile, held);

  pending_tile<Kind> pending{p.tiles, {}};
  scan_carry<value> carry{kind.identity(), 0, 0};
  for (int buffer = 0;; buffer ^= 1) {
    Pace::before_tile(p, tile);
    Rows::load_partial(kind, p, tile, held);
    value before[scan_vectors<Kind>];
    sum_vectors(kind, p, tile, held, before);
    if (threadIdx.x == 0) tickets[buffer] = claimed;
    const value warp_before = publish_tile(kind, p, tile, before, warp_sums[buffer]);
    const std::uint32_t next = tickets[buffer];

    if (two_staged) {
      stage<Kind>(held, staging + buffer * tile_vectors<Kind>);
      if (next < p.tiles) Rows::load(p, next, held);
    }
    if constexpr (publishes_before_scan<Kind>) warp_scan(kind, before);
    if (pending.tile < p.tiles && !p.sums_only) {
      const value all_before = sum_before<Rows>(kind, p, pending.tile, carry, groups[buffer]);
      Rows::store(kind, p, pending, staging + (two_staged ? (buffer ^ 1) * tile_vectors<Kind> : 0), all_before);
    }
    if (threadIdx.x == 0 && next < p.tiles) claimed = atomic_add(p.ticket, 1u);
    if (!two_staged) {
      stage<Kind>(held, staging);
      if (next < p.tiles) Rows::load(p, next, held);
    }
    pending = pending_of(kind, tile, before, warp_before);
    if (next >= p.tiles) {
      if (p.sums_only) return;
      const value all_before = sum_before<Rows>(kind, p, tile, carry, groups[buffer ^ 1]);
      Rows::store(kind, p, pending, staging + (two_staged ? buffer * tile_vectors<Kind> : 0), all_before);
      return;
    }
    tile = next;
  }
}

/// Blocks of scan_one_tile that a multiprocessor has registers for.
constexpr int one_tile_blocks = 4;

/// A block for each tile, out of place; dynamic shared memory for a tile.
template <class Kind, class Rows, class Pace = steady_pace>
__global__ void __launch_bounds__(scan_threads, blocks_of_accumulators(scan_threads, one_tile_blocks))
    scan_one_tile(Kind kind, scan_problem p) {
  using value = typename Kind::value;
  __shared__ value warp_sums[scan_warps], groups[2 * scan_warps];
  word16* const staging = dynamic_shared<word16>() + threadIdx.x;
  wait_then_trigger_dependents();
  const std::uint32_t tile = blockIdx.x;
  word16 held[scan_vectors<Kind>];
  Rows::load(p, tile, held);
  Pace::before_tile(p, tile);
  Rows::load_partial(kind, p, tile, held);
  value before[scan_vectors<Kind>];
  sum_vectors(kind, p, tile, held, before);
  stage<Kind>(held, staging);
  const value warp_before = publish_tile(kind, p, tile, before, warp_sums);
  if constexpr (publishes_before_scan<Kind>) warp_scan(kind, before);
  const auto pending = pending_of(kind, tile, before, warp_before);
  scan_carry<value> carry{kind.identity(), 0, 0};
  Rows::store(kind, p, pending, staging, sum_before<Rows, Pace::most_polls>(kind, p, tile, carry, groups));
}

/// Sets the head flags of segments at their offsets. The bit of element 0 is bit `lead`.
template <int X>
__global__ void __launch_bounds__(X)
    mark_heads(std::uint32_t* heads, int lead, std::int64_t count, const std::int64_t* offsets, std::int64_t segments) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * X + threadIdx.x;
  if (i >= segments) return;
  const std::int64_t at = offsets[i];
  if (at >= 0 && at < count) atomic_or(heads + (at + lead) / 32, 1u << ((at + lead) % 32));
}

}  // namespace twill::TWILL_BACKEND::kernels
