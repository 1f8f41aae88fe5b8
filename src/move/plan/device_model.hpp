#pragma once

// What the costs of candidates are counted with: the limits of a device, the constants of gather, cubes and cube roots.

#include <cstdint>
#include <cstring>

#include <twill/device.hpp>

namespace twill::detail {

/// A device as plans see it. Times are in microseconds.
struct device_model {
  std::int64_t shared_bytes;  // of a block
  int multiprocessors;
  double bytes_per_us;       // that a copy reaches, read and written bytes together
  double clocks_per_us;      // of all multiprocessors together
  std::int64_t cache_bytes;  // of the last level
  std::int64_t l1_bytes;     // of a multiprocessor
  bool overlaps;             // launches are programmatic dependents

  /// Bytes that a copy moves in a clock, squared, over those of the H200 on which costs were measured.
  double balance_squared() const {
    constexpr double measured = 4.2e6 / (132 * 1755);
    const double balance = bytes_per_us / clocks_per_us / measured;
    return balance * balance;
  }
};

constexpr std::int64_t reserved_shared_bytes = 1024;  // of each block, beside its own

/// Index into the cost tables by element size: 1, 2, 4, 8, and 16 or others.
constexpr int place_of(std::int64_t bytes) {
  return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : 4;
}

/// Microseconds of a launch; `factor`: its time in copies if memory is busy for one; `memory`: for how many it is busy.
struct cost_of_launch {
  double launch, factor, memory = 1;
};

/// Constants of the cost of a gathering block: clocks of a multiprocessor for what a warp does, and latencies. Memory,
/// instructions and latency overlap: their cubes add up. Fitted to 18,776 timings of the tiles of 500 random
/// permutations on an H200, none of which may cost less than a copy; `units`, `store`, `edge`, `tail` and the copy of 2
/// bytes were adjusted after the fit, and `unfilled` comes from a later fit (docs/planner.md).
struct gather_costs {
  double in_segments = 57.2, out_segments = 42.2;    // clocks to fill 32 entries of a table
  double units = 16;                                 // the same for units, and as much again for each 8 of a vector
  double store = 7.2, unit = 1.43;                   // clocks of a store of 32 vectors, and for each unit of one
  double edge = 18;                                  // clocks of 32 units at the ends of segments
  double block = 1.85, load = 0.601, round = 0.193;  // us of a block, of 1,024 vectors loaded, of 256 stored
  double tail = 0.78;                                // of a block's latency: the last blocks run alone
  double copy[5] = {1.057, 1.04, 1.011, 1, 1};       // of a copy's time, for units of 1, 2, 4, 8 and 16 bytes
  double sector = 2.63;                              // extra sectors of traffic per segment with unaligned ends
  double fetch = 0.45;                               // share of the bytes read around segments that no neighbour needs
  double shared = 0.309, free = 0.527;               // more memory time where tiles take more than a share of what
                                                     // cache and tiles have in common
  double wave = 0.336;                               // of the blocks that are missing in the last wave
  double unfilled = 0.231;                           // of memory time, for the missing part of a single wave
  double uneven = 1.37;                              // of the blocks that are missing on some multiprocessors (fitted;
                                                     // why it is above 1 is not known)
};

inline double cube(double value) {
  return value * value * value;
}

/// Of a positive, normal, finite number, to about 1e-14, faster than std::cbrt: the seed, with a third of the exponent,
/// is within 3.3 %, and each of Halley's steps leaves 2/3 of the cubed error.
inline double cube_root(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  bits = bits / 3 + 0x2a9f789300000000;
  double root = 0;
  std::memcpy(&root, &bits, sizeof root);
  for (int step = 0; step < 2; ++step) {
    const double cubed = cube(root);
    root *= (cubed + 2 * value) / (2 * cubed + value);
  }
  return root;
}

device_model model_of(const device_properties& device);

}  // namespace twill::detail
