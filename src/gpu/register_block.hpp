#pragma once

// R x R blocks of elements in the registers of a thread, R = 16 / element bytes: a row is one 16-byte vector.

#include <cstdint>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

// In place: w[y] becomes column y of the block whose row y is w[y]. One overload an element size.
template <int Bytes>
struct register_block;

template <>
struct register_block<16> {
  static __device__ void transpose(std::uint32_t (&)[1][4]) {}
};

template <>
struct register_block<8> {
  static __device__ void transpose(std::uint32_t (&w)[2][4]) {
    for (int i = 0; i < 2; ++i) {
      const std::uint32_t held = w[0][2 + i];
      w[0][2 + i] = w[1][i];
      w[1][i] = held;
    }
  }
};

template <>
struct register_block<4> {
  static __device__ void transpose(std::uint32_t (&w)[4][4]) {
#pragma unroll
    for (int y = 0; y < 4; ++y) {
#pragma unroll
      for (int x = 0; x < y; ++x) {
        const std::uint32_t held = w[y][x];
        w[y][x] = w[x][y];
        w[x][y] = held;
      }
    }
  }
};

template <>
struct register_block<2> {
  static __device__ void transpose(std::uint32_t (&w)[8][4]) {
    std::uint32_t t[8][4];
#pragma unroll
    for (int x = 0; x < 4; ++x) {
#pragma unroll
      for (int y = 0; y < 4; ++y) {
        t[2 * x][y] = byte_permute(w[2 * y][x], w[2 * y + 1][x], 0x5410);
        t[2 * x + 1][y] = byte_permute(w[2 * y][x], w[2 * y + 1][x], 0x7632);
      }
    }
#pragma unroll
    for (int y = 0; y < 8; ++y) {
#pragma unroll
      for (int x = 0; x < 4; ++x) w[y][x] = t[y][x];
    }
  }
};

template <>
struct register_block<1> {
  static __device__ void transpose(std::uint32_t (&w)[16][4]) {
    std::uint32_t t[16][4];
#pragma unroll
    for (int x = 0; x < 4; ++x) {
#pragma unroll
      for (int y = 0; y < 4; ++y) {
        const std::uint32_t a = byte_permute(w[4 * y][x], w[4 * y + 1][x], 0x5140);
        const std::uint32_t b = byte_permute(w[4 * y + 2][x], w[4 * y + 3][x], 0x5140);
        const std::uint32_t c = byte_permute(w[4 * y][x], w[4 * y + 1][x], 0x7362);
        const std::uint32_t d = byte_permute(w[4 * y + 2][x], w[4 * y + 3][x], 0x7362);
        t[4 * x][y] = byte_permute(a, b, 0x5410);
        t[4 * x + 1][y] = byte_permute(a, b, 0x7632);
        t[4 * x + 2][y] = byte_permute(c, d, 0x5410);
        t[4 * x + 3][y] = byte_permute(c, d, 0x7632);
      }
    }
#pragma unroll
    for (int y = 0; y < 16; ++y) {
#pragma unroll
      for (int x = 0; x < 4; ++x) w[y][x] = t[y][x];
    }
  }
};

// Loads a vector of a row. Around: with the L2 prefetch size hint, for rows not aligned to 256 bytes, whose other part
// the neighbouring tile reads next.
template <bool Around>
__device__ word16 load_chunk(const unsigned char* from) {
  const auto* chunk = reinterpret_cast<const word16*>(from);
  if constexpr (Around) {
    return load_prefetch_l2<256>(chunk);
  } else {
    return *chunk;
  }
}

__device__ inline void unpack_words(std::uint32_t (&w)[4], const word16& v) {
  w[0] = word<0>(v);
  w[1] = word<1>(v);
  w[2] = word<2>(v);
  w[3] = word<3>(v);
}

}  // namespace twill::TWILL_BACKEND::kernels
