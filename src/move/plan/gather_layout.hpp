#pragma once

// Where a gathering block's tile lies in shared memory.

#include <algorithm>
#include <cstdint>

#include "gather.hpp"

namespace twill::detail {

constexpr std::int64_t most_linear_bytes = 61440;  // of input segments; with pads of 4 bytes, offsets have 16 bits
constexpr int most_blocks_at_once = 6;             // the registers of as many fit

/// Blocks that a multiprocessor runs at once, each with so much shared memory.
inline std::int64_t blocks_at_once(std::int64_t shared_bytes, const device_model& device) {
  constexpr std::int64_t reserved = 1024;  // of each
  return std::clamp<std::int64_t>(divided(device.shared_bytes, shared_bytes + reserved), 1, most_blocks_at_once);
}

/// Sets pitch and pad, and the bytes of shared memory; false where the tile is too large. `vectors` and what concerns
/// the output are known.
bool lay_out(gather_plan& p, const device_model& device);

/// Moves segments apart or widens pads where lanes of a warp would read different words of one bank. Fewer blocks at
/// once only where that halves these words.
void avoid_bank_conflicts(gather_plan& p, const device_model& device);

}  // namespace twill::detail
