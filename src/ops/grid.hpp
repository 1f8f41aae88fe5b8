#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "backends/launch_config.hpp"
#include "core/check.hpp"

namespace twill::TWILL_BACKEND {

/// A line of `blocks` blocks, as a rectangle where grid x is too short: the kernel's number of a block is
/// blockIdx.y * gridDim.x + blockIdx.x, and numbers of `blocks` and more have nothing to do.
inline detail::launch_config line_grid(std::int64_t blocks, int threads, std::int64_t shared_bytes) {
  constexpr std::int64_t x_limit = (std::int64_t{1} << 22) - 1;  // times 1024 threads: below AMD's 2^32
  const std::int64_t x = std::min(blocks, x_limit), y = (blocks + x - 1) / x;
  if (y > 65535) {
    detail::fail(errc::unsupported, "the array needs too large a grid", std::to_string(blocks) + " blocks", "split it");
  }
  return {{static_cast<unsigned>(x), static_cast<unsigned>(y), 1},
          {static_cast<unsigned>(threads), 1, 1},
          static_cast<std::size_t>(shared_bytes)};
}

}  // namespace twill::TWILL_BACKEND
