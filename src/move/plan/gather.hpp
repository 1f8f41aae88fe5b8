#pragma once

// Candidates of the gathering kernel (move/gpu/gather.hpp).

#include <optional>

#include "device_model.hpp"
#include "tile.hpp"

namespace twill::detail {

struct gather_plan {
  composite_tile tile;
  std::int64_t blocks;
  int pitch;          // bytes of shared memory between input segments
  int vectors;        // of 16 bytes that hold an input segment
  int stores;         // vectors of an output segment
  int units;          // of an output segment
  bool edges;         // output segments have ends that are no whole vector
  int segment_bytes;  // shared memory of the input segments, pads included
  int table_pitch;    // entries of one of the tables of unit offsets
  std::int64_t shared_bytes;
  double microseconds;
};

/// Units of an output vector.
constexpr int units_of_vector(std::int64_t unit) {
  return unit <= 2 ? 8 : unit <= 16 ? static_cast<int>(16 / unit) : 1;
}

constexpr std::int64_t gather_place_bytes = 32;  // of shared memory, for where a block's tile lies

/// 4 bytes, or a unit if that is larger, are left free after each 128 bytes of shared memory.
constexpr std::int64_t padded_bytes(std::int64_t bytes, std::int64_t unit) {
  return bytes + (bytes >> 7) * (unit < 4 ? 4 : unit);
}

/// The cheapest plan below `most_us` that fits the device, if any does. `untiled`: of `args`, in units of
/// unit_of(args).
std::optional<gather_plan> plan_gather(const permute_args& args, const composite_tile& untiled,
                                       const device_model& device, double most_us);

}  // namespace twill::detail
