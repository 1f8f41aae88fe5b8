#pragma once

// What the rules of several families are made of.

#include <cstdint>
#include <vector>

#include "backends/simt/access_rules.hpp"

namespace twill::simt::rules {

/// A set of lanes, as a mask.
using lane_mask = std::uint64_t;

/// Lanes `first` to `first + count - 1`.
constexpr lane_mask lanes(unsigned first, unsigned count) {
  return (count == 64 ? ~lane_mask{0} : (lane_mask{1} << count) - 1) << first;
}

inline unsigned lane_count(lane_mask mask) {
  return static_cast<unsigned>(__builtin_popcountll(mask));
}

/// Calls f(lane) for each lane of `mask`, ascending.
template <class F>
void for_each_lane(lane_mask mask, F&& f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<unsigned>(__builtin_ctzll(mask)));
}

/// Bytes that the active lanes of `group` ask for, each byte once.
unsigned distinct_bytes(const warp_access& access, lane_mask group = ~lane_mask{0});

/// Adds a transaction for each aligned block of `block_bytes` that `group` touches, ascending. Returns how many.
unsigned move_blocks(const warp_access& access, lane_mask group, unsigned block_bytes, global_cost& cost);

/// Aligned blocks of `block_bytes` that `group` touches.
unsigned distinct_blocks(const warp_access& access, lane_mask group, unsigned block_bytes);

/// Blocks of `block_bytes` that `bytes` fill when they lie side by side.
inline unsigned blocks_for(unsigned bytes, unsigned block_bytes) {
  return (bytes + block_bytes - 1) / block_bytes;
}

/// Banks of 4 bytes. Words of one bank in one aligned row of `row_bytes` are served together.
struct bank_layout {
  unsigned banks;
  unsigned row_bytes;
};

/// Adds the wavefronts that the banks need for the words that `group` touches: the most rows that one bank has to open.
void add_bank_wavefronts(const warp_access& access, lane_mask group, bank_layout layout, shared_cost& cost);

/// Adds up the wavefronts of `count` groups; a group in which no lane is active costs none.
shared_cost wavefronts_of_groups(const warp_access& access, const lane_mask* groups, unsigned count,
                                 bank_layout layout);

/// The same for groups of `lanes_each` consecutive lanes of a warp of `warp_lanes`.
shared_cost wavefronts_of_runs(const warp_access& access, unsigned warp_lanes, unsigned lanes_each, bank_layout layout);

}  // namespace twill::simt::rules
