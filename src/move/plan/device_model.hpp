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
/// to 3,812 timings of tiles of 480 random permutations on an H200 (docs/decisions.md, "The planner"); the launch is
/// that of the tables of transposes.
struct gather_costs {
  double launch = 5.15;                             // us
  double in_segments = 2.5, out_segments = 1.6;     // clocks to fill 32 entries of a table
  double units = 29.3;                              // the same for units, and as much again for each 8 of a vector
  double store = 1, unit = 2.26;                    // clocks of a store of 32 vectors, and for each unit of one
  double edge = 21.5;                               // clocks of 32 units at the ends of segments
  double block = 1.49, load = 0.64, round = 0.142;  // us of a block, of 1,024 vectors loaded, of 256 stored
  double tail = 1.09;                               // blocks that the last ones run alone
  double sector = 2.9;                              // sectors of traffic for a segment of misaligned output
  double fetch = 0.54;                              // share of the bytes read around segments that no neighbour needs
};

device_model model_of(const device_properties& device);

}  // namespace twill::detail
