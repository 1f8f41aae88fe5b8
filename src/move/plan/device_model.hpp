#pragma once

// What the costs of candidates are counted with: the limits of a device, and the constants of one table.

#include <cstdint>

#include <twill/device.hpp>

namespace twill::detail {

/// A device as plans see it. Times are in microseconds.
struct device_model {
  std::int64_t shared_bytes;  // of a block
  int multiprocessors;
  double bytes_per_us;   // that a copy reaches, read and written bytes together
  double clocks_per_us;  // of all multiprocessors together
};

/// Constants of the cost of a gathering block: clocks of a multiprocessor for what a warp does, and latencies. Fitted
/// to 1,841 timings on an H200, of those tiles of 480 random permutations that were within 8 % of the best one
/// (docs/decisions.md, "The planner"); the launch is that of the tables of transposes.
struct gather_costs {
  double launch = 5.15;                             // us
  double in_segments = 4.5, out_segments = 0.5;     // clocks to fill 32 entries of a table
  double units = 25.2;                              // the same for units, and as much again for each 8 of a vector
  double store = 1, unit = 2.58;                    // clocks of a store of 32 vectors, and for each unit of one
  double edge = 19.5;                               // clocks of 32 units at the ends of segments
  double block = 1.03, load = 0.49, round = 0.118;  // us of a block, of 1,024 vectors loaded, of 256 stored
  double tail = 1.45;                               // blocks that the last ones run alone
  double sector = 2.37;                             // sectors of traffic for a segment of misaligned output
  double fetch = 0.58;                              // share of the bytes read around segments that no neighbour needs
};

device_model model_of(const device_properties& device);

}  // namespace twill::detail
