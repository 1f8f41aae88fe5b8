#pragma once

// Realignment: a misaligned 16-byte vector from two aligned ones. Where aligned places are.

#include <cstdint>
#include <type_traits>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// How far behind a multiple of `of`, a power of two, the address is.
__device__ inline int misalignment(const unsigned char* address, int of = 16) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(address) & (of - 1));
}

/// How far it is to the next multiple.
__device__ inline int until_aligned(const unsigned char* address, int of = 16) {
  return static_cast<int>(-reinterpret_cast<std::uintptr_t>(address) & (of - 1));
}

// The 16 bytes at offset `skip` of two consecutive aligned vectors (funnel shift).
template <int UnitBytes>
__device__ word16 realigned(const word16& low, const word16& high, int skip) {
  std::uint32_t w[8] = {word<0>(low),  word<1>(low),  word<2>(low),  word<3>(low),
                        word<0>(high), word<1>(high), word<2>(high), word<3>(high)};
  if (skip & 8) {
#pragma unroll
    for (int i = 0; i < 6; ++i) w[i] = w[i + 2];
  }
  if (UnitBytes < 8 && skip & 4) {
#pragma unroll
    for (int i = 0; i < 5; ++i) w[i] = w[i + 1];
  }
  if (UnitBytes < 4) {
#pragma unroll
    for (int i = 0; i < 4; ++i) w[i] = funnel_shift(w[i], w[i + 1], static_cast<std::uint32_t>(skip));
  }
  return make_word16(w[0], w[1], w[2], w[3]);
}

// The 16 bytes from byte `at` modulo 4 of `v` on; `next` is the word behind it.
__device__ inline word16 realigned(const word16& v, std::uint32_t next, std::uint32_t at) {
  return make_word16(funnel_shift(word<0>(v), word<1>(v), at), funnel_shift(word<1>(v), word<2>(v), at),
                     funnel_shift(word<2>(v), word<3>(v), at), funnel_shift(word<3>(v), next, at));
}

// The first `count` bytes of `a`, then those of `b`.
__device__ inline word16 joined(const word16& a, const word16& b, int count) {
  const std::uint32_t from[8] = {word<0>(a), word<1>(a), word<2>(a), word<3>(a),
                                 word<0>(b), word<1>(b), word<2>(b), word<3>(b)};
  std::uint32_t w[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int bytes = count - 4 * i;
    const std::uint32_t mask = bytes <= 0 ? 0 : bytes >= 4 ? 0xffffffffu : (1u << (8 * bytes)) - 1;
    w[i] = (from[i] & mask) | (from[4 + i] & ~mask);
  }
  return make_word16(w[0], w[1], w[2], w[3]);
}

// The unsigned type of so many bytes.
template <int Bytes>
struct unit_of_bytes {
  static_assert(Bytes == 1 || Bytes == 2 || Bytes == 4 || Bytes == 8 || Bytes == 16);
  using small = std::conditional_t<Bytes == 1, std::uint8_t, std::uint16_t>;
  using large = std::conditional_t<Bytes == 8, std::uint64_t, word16>;
  using type = std::conditional_t<Bytes <= 2, small, std::conditional_t<Bytes == 4, std::uint32_t, large>>;
};

// Stores 16 bytes in words as wide as Unit, of 4 bytes at least.
template <class Unit>
__device__ void store_words(unsigned char* to, const word16& v) {
  if constexpr (sizeof(Unit) == 16) {
    *reinterpret_cast<word16*>(to) = v;
  } else if constexpr (sizeof(Unit) == 8) {
    auto* words = reinterpret_cast<std::uint64_t*>(to);
    words[0] = word<0>(v) | static_cast<std::uint64_t>(word<1>(v)) << 32;
    words[1] = word<2>(v) | static_cast<std::uint64_t>(word<3>(v)) << 32;
  } else {
    auto* words = reinterpret_cast<std::uint32_t*>(to);
    words[0] = word<0>(v);
    words[1] = word<1>(v);
    words[2] = word<2>(v);
    words[3] = word<3>(v);
  }
}

}  // namespace twill::TWILL_BACKEND::kernels

namespace twill::TWILL_BACKEND {

/// Calls f with a value of the unsigned type of `bytes` bytes: 1, 2, 4 ..., else `Most`.
template <int Most = 16, int Bytes = 1, class F>
auto with_unit(std::int64_t bytes, F&& f) {
  if constexpr (Bytes < Most) {
    if (bytes != Bytes) return with_unit<Most, 2 * Bytes>(bytes, f);
  }
  return f(typename kernels::unit_of_bytes<Bytes>::type{});
}

}  // namespace twill::TWILL_BACKEND
