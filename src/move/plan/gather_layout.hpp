#pragma once

// Where a gathering block's tile lies in shared memory.

#include <algorithm>
#include <cstdint>

#include "gather.hpp"

namespace twill::detail {

constexpr std::int64_t most_linear_bytes = 61440;  // of input segments; with pads of 4 bytes, offsets have 16 bits
constexpr int max_resident_blocks = 6;             // the registers of as many fit

/// Resident blocks per multiprocessor, each with so much shared memory.
inline std::int64_t resident_blocks(std::int64_t shared_bytes, const device_model& device) {
  return std::clamp<std::int64_t>(divided(device.shared_bytes, shared_bytes + reserved_shared_bytes), 1,
                                  max_resident_blocks);
}

/// Sets pitch and pad, and the bytes of shared memory; false where the tile is too large. `vectors` and what concerns
/// the output are known.
bool lay_out(gather_plan& p, const device_model& device);

/// Widens the pitch or the pads where lanes of a warp would read different words of one bank. Accepts fewer resident
/// blocks only where that halves the degree of conflict.
void avoid_bank_conflicts(gather_plan& p, const device_model& device);

}  // namespace twill::detail
