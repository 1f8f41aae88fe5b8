#pragma once

// R x R blocks of elements in the registers of a thread, R = 16 / element bytes: a row is one 16-byte vector.

#include <cstdint>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

// The columns of 4 / Bytes rows of a word each, w[0], w[4] ...: a word for each column, to[0], to[Step] ...
template <int Bytes, int Step>
__device__ void transpose_words(std::uint32_t* to, const std::uint32_t* w) {
  if constexpr (Bytes == 4) {
    to[0] = w[0];
  } else if constexpr (Bytes == 2) {
    to[0] = byte_permute(w[0], w[4], 0x5410);
    to[Step] = byte_permute(w[0], w[4], 0x7632);
  } else {
    const std::uint32_t a = byte_permute(w[0], w[4], 0x5140), b = byte_permute(w[8], w[12], 0x5140);
    const std::uint32_t c = byte_permute(w[0], w[4], 0x7362), d = byte_permute(w[8], w[12], 0x7362);
    to[0] = byte_permute(a, b, 0x5410);
    to[Step] = byte_permute(a, b, 0x7632);
    to[2 * Step] = byte_permute(c, d, 0x5410);
    to[3 * Step] = byte_permute(c, d, 0x7632);
  }
}

// In place: w[y] becomes column y of the block whose row y is w[y].
template <int Bytes>
struct register_block {
  static constexpr int edge = 16 / Bytes, per_word = 4 / Bytes;
  static __device__ void transpose(std::uint32_t (&w)[edge][4]) {
    std::uint32_t t[edge][4];
#pragma unroll
    for (int x = 0; x < 4; ++x) {
#pragma unroll
      for (int y = 0; y < 4; ++y) transpose_words<Bytes, 4>(&t[x * per_word][y], &w[y * per_word][x]);
    }
#pragma unroll
    for (int y = 0; y < edge; ++y) {
#pragma unroll
      for (int x = 0; x < 4; ++x) w[y][x] = t[y][x];
    }
  }
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
struct register_block<16> {
  static __device__ void transpose(std::uint32_t (&)[1][4]) {}
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

/// Words `at` to `at` + 3.
template <int Words>
__device__ void unpack_words(std::uint32_t (&w)[Words], const word16& v, int at = 0) {
  w[at] = word<0>(v);
  w[at + 1] = word<1>(v);
  w[at + 2] = word<2>(v);
  w[at + 3] = word<3>(v);
}
template <int Words>
__device__ word16 pack_words(const std::uint32_t (&w)[Words], int at = 0) {
  return make_word16(w[at], w[at + 1], w[at + 2], w[at + 3]);
}

}  // namespace twill::TWILL_BACKEND::kernels
