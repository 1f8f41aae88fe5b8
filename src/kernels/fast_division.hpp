#pragma once

// Division of small numbers by a divisor that the host knows: a multiplication and a shift.

#include <cstdint>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// Right for numbers and divisors whose product is below 2^32: magic * divisor exceeds 2^32 by at most the divisor.
struct fast_divisor {
  std::uint32_t divisor, magic;  // magic = 0 stands for 2^32, of the divisor 1
};

inline fast_divisor make_divisor(std::int64_t divisor) {
  const auto d = static_cast<std::uint64_t>(divisor);
  return {static_cast<std::uint32_t>(d), d == 1 ? 0u : static_cast<std::uint32_t>((std::uint64_t{1} << 32) / d + 1)};
}

__device__ inline int quotient(int number, const fast_divisor& by) {
  const auto n = static_cast<std::uint32_t>(number);
  return by.magic == 0 ? number : static_cast<int>(static_cast<std::uint64_t>(n) * by.magic >> 32);
}

}  // namespace twill::TWILL_BACKEND::kernels
