#pragma once

// Division by a launch-invariant divisor: a multiplication and a shift, for dividends of 0 to 2^31 - 1.

#include <cstdint>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

struct divider {
  std::uint32_t divisor, factor;
  int shift;
};

/// `divisor`: 1 to 2^31 - 1. The factor is 2^(31 + shift) / divisor, rounded up: with 2^shift >= divisor it is too
/// large by less than 2^shift, which adds less than 1 / divisor to the quotient.
inline divider make_divider(std::int64_t divisor) {
  int shift = 0;
  while (std::int64_t{1} << shift < divisor) ++shift;
  const auto d = static_cast<std::uint64_t>(divisor);
  return {static_cast<std::uint32_t>(d), static_cast<std::uint32_t>(((std::uint64_t{1} << (31 + shift)) + d - 1) / d),
          shift};
}

__device__ inline std::uint32_t divide(std::uint32_t number, const divider& by) {
  return static_cast<std::uint32_t>(std::uint64_t{2 * number} * by.factor >> 32) >> by.shift;
}

}  // namespace twill::TWILL_BACKEND::kernels
