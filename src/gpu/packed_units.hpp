#pragma once

// A few units of 1 to 16 bytes as one vector of 8 or 16 bytes.

#include <cstdint>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

__device__ inline std::uint32_t join_bytes(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  return byte_permute(byte_permute(a, b, 0x0040), byte_permute(c, d, 0x0040), 0x5410);
}
__device__ inline std::uint32_t join_halves(std::uint16_t a, std::uint16_t b) {
  return byte_permute(a, b, 0x5410);
}

__device__ inline std::uint64_t pack(const std::uint8_t (&u)[8]) {
  return join_bytes(u[0], u[1], u[2], u[3]) | std::uint64_t{join_bytes(u[4], u[5], u[6], u[7])} << 32;
}
__device__ inline word16 pack(const std::uint8_t (&u)[16]) {
  return make_word16(join_bytes(u[0], u[1], u[2], u[3]), join_bytes(u[4], u[5], u[6], u[7]),
                     join_bytes(u[8], u[9], u[10], u[11]), join_bytes(u[12], u[13], u[14], u[15]));
}
__device__ inline word16 pack(const std::uint16_t (&u)[8]) {
  return make_word16(join_halves(u[0], u[1]), join_halves(u[2], u[3]), join_halves(u[4], u[5]),
                     join_halves(u[6], u[7]));
}
__device__ inline word16 pack(const std::uint32_t (&u)[4]) {
  return make_word16(u[0], u[1], u[2], u[3]);
}
__device__ inline word16 pack(const std::uint64_t (&u)[2]) {
  return make_word16(static_cast<std::uint32_t>(u[0]), static_cast<std::uint32_t>(u[0] >> 32),
                     static_cast<std::uint32_t>(u[1]), static_cast<std::uint32_t>(u[1] >> 32));
}
__device__ inline word16 pack(const word16 (&u)[1]) {
  return u[0];
}

/// The vector that `Count` units make.
template <class Unit, int Count>
using packed_units = decltype(pack(*static_cast<const Unit (*)[Count]>(nullptr)));

/// Loads `Count` numbers of 16 bits, two to a word, aligned at their size in all.
template <int Count>
__device__ void load_pairs(std::uint32_t (&pairs)[(Count + 1) / 2], const unsigned char* from) {
  if constexpr (Count == 8) {
    const word16 v = *reinterpret_cast<const word16*>(from);
    pairs[0] = word<0>(v), pairs[1] = word<1>(v), pairs[2] = word<2>(v), pairs[3] = word<3>(v);
  } else if constexpr (Count == 4) {
    const auto v = *reinterpret_cast<const std::uint64_t*>(from);
    pairs[0] = static_cast<std::uint32_t>(v), pairs[1] = static_cast<std::uint32_t>(v >> 32);
  } else if constexpr (Count == 2) {
    pairs[0] = *reinterpret_cast<const std::uint32_t*>(from);
  } else {
    static_assert(Count == 1);
    pairs[0] = *reinterpret_cast<const std::uint16_t*>(from);
  }
}

/// Stores them.
template <int Count>
__device__ void store_pairs(unsigned char* to, const std::uint32_t (&pairs)[(Count + 1) / 2]) {
  if constexpr (Count == 8) {
    *reinterpret_cast<word16*>(to) = make_word16(pairs[0], pairs[1], pairs[2], pairs[3]);
  } else if constexpr (Count == 4) {
    *reinterpret_cast<std::uint64_t*>(to) = pairs[0] | std::uint64_t{pairs[1]} << 32;
  } else if constexpr (Count == 2) {
    *reinterpret_cast<std::uint32_t*>(to) = pairs[0];
  } else {
    static_assert(Count == 1);
    *reinterpret_cast<std::uint16_t*>(to) = static_cast<std::uint16_t>(pairs[0]);
  }
}

/// Elements of `from` in another order: element i of the result is element source(i).
template <int Bytes, int Words, class Source>
__device__ void reorder(std::uint32_t (&to)[Words], const std::uint32_t (&from)[Words], Source source) {
#pragma unroll
  for (int j = 0; j < Words; ++j) {
    if (Bytes >= 4) {
      constexpr int words = Bytes >= 4 ? Bytes / 4 : 1;
      to[j] = from[source(j / words) * words + j % words];
    } else if (Bytes == 2) {
      const int a = source(2 * j), b = source(2 * j + 1);
      to[j] = byte_permute(from[a / 2], from[b / 2], (a % 2 ? 0x32 : 0x10) | (b % 2 ? 0x7600 : 0x5400));
    } else {
      const int a = source(4 * j), b = source(4 * j + 1), c = source(4 * j + 2), d = source(4 * j + 3);
      const std::uint32_t low = byte_permute(from[a / 4], from[b / 4], (a % 4) | (4 + b % 4) << 4);
      const std::uint32_t high = byte_permute(from[c / 4], from[d / 4], (c % 4) | (4 + d % 4) << 4);
      to[j] = byte_permute(low, high, 0x5410);
    }
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
