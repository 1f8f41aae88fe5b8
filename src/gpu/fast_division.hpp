#pragma once

// Division by a launch-invariant divisor: a multiplication, an addition and a shift.

#include <cstdint>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// For numbers and divisors below 2^31 (Granlund and Montgomery, 1994, Division by Invariant Integers).
struct fast_divisor {
  std::uint32_t magic = 1;
  int shift = 0, divisor = 1;
};

inline fast_divisor make_divisor(std::int64_t divisor) {
  int shift = 0;
  while ((std::int64_t{1} << shift) < divisor) ++shift;
  const auto d = static_cast<std::uint64_t>(divisor);
  const std::uint64_t magic = ((std::uint64_t{1} << 32) * ((std::uint64_t{1} << shift) - d)) / d + 1;
  return {static_cast<std::uint32_t>(magic), shift, static_cast<int>(divisor)};
}

__device__ inline int quotient(int number, const fast_divisor& by) {
  const auto n = static_cast<std::uint32_t>(number);
  const auto high = static_cast<std::uint32_t>(static_cast<std::uint64_t>(n) * by.magic >> 32);
  return static_cast<int>((high + n) >> by.shift);
}

}  // namespace twill::TWILL_BACKEND::kernels
