#pragma once

// Sums of bytes, SIMD within a register: two 16-bit additions a 32-bit register, for even and for odd bytes.

#include <cstdint>

#include "device.hpp"
#include "operators.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// The even and the odd bytes of a word, widened to 16 bits.
struct byte_pairs {
  std::uint32_t even, odd;
};

__device__ inline byte_pairs pairs_of(std::uint32_t word) {
  return {byte_permute(word, 0, 0x4240), byte_permute(word, 0, 0x4341)};
}

/// The sum of a vector.
__device__ inline std::uint32_t sum_of(const integer_sum<std::uint8_t>&, word16 words, std::uint32_t) {
  const byte_pairs a = pairs_of(word<0>(words)), b = pairs_of(word<1>(words));
  const byte_pairs c = pairs_of(word<2>(words)), d = pairs_of(word<3>(words));
  const std::uint32_t sums = a.even + a.odd + b.even + b.odd + c.even + c.odd + d.even + d.odd;
  return (sums & 0xffffu) + (sums >> 16);
}

/// Scans four bytes; `before` holds the prefix twice, in 16 bits each, and is advanced.
__device__ inline std::uint32_t scanned_bytes(std::uint32_t word, std::uint32_t& before, bool exclusive) {
  const byte_pairs x = pairs_of(word);
  const std::uint32_t both = x.even + x.odd, first = before + (both << 16), second = first + x.even,
                      third = first + both;
  before = byte_permute(third, 0, 0x4242);
  return exclusive ? byte_permute(first, second, 0x6240) : byte_permute(second, third, 0x6240);
}

/// Scans a vector; `before` is its exclusive prefix.
__device__ inline word16 scanned(const integer_sum<std::uint8_t>&, word16 words, std::uint32_t, std::uint32_t before,
                                 bool exclusive) {
  std::uint32_t twice = byte_permute(before, 0, 0x4040);
  const std::uint32_t a = scanned_bytes(word<0>(words), twice, exclusive);
  const std::uint32_t b = scanned_bytes(word<1>(words), twice, exclusive);
  const std::uint32_t c = scanned_bytes(word<2>(words), twice, exclusive);
  const std::uint32_t d = scanned_bytes(word<3>(words), twice, exclusive);
  return make_word16(a, b, c, d);
}

}  // namespace twill::TWILL_BACKEND::kernels
