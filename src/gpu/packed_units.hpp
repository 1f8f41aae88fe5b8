#pragma once

// A few units of 1 to 16 bytes as one word or vector of 4, 8 or 16 bytes.

#include <cstdint>

#include "device.hpp"
#include "gpu/realign.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// The word or vector that units make.
template <class Unit, int Count>
__device__ auto pack(const Unit (&u)[Count]) {
  constexpr int size = static_cast<int>(sizeof(Unit)), words = Count * size / 4;
  if constexpr (Count == 1) {
    return u[0];
  } else if constexpr (size == 8) {
    return make_word16(static_cast<std::uint32_t>(u[0]), static_cast<std::uint32_t>(u[0] >> 32),
                       static_cast<std::uint32_t>(u[1]), static_cast<std::uint32_t>(u[1] >> 32));
  } else {
    std::uint32_t w[words];
#pragma unroll
    for (int i = 0; i < words; ++i) {
      if constexpr (size == 1) {
        const std::uint32_t low = byte_permute(u[4 * i], u[4 * i + 1], 0x0040);
        w[i] = byte_permute(low, byte_permute(u[4 * i + 2], u[4 * i + 3], 0x0040), 0x5410);
      } else {
        w[i] = size == 2 ? byte_permute(u[2 * i], u[2 * i + 1], 0x5410) : u[i];
      }
    }
    if constexpr (words == 4) {
      return make_word16(w[0], w[1], w[2], w[3]);
    } else if constexpr (words == 2) {
      return w[0] | static_cast<std::uint64_t>(w[1]) << 32;
    } else {
      return w[0];
    }
  }
}

/// The vector that `Count` units make.
template <class Unit, int Count>
using packed_units = decltype(pack(*static_cast<const Unit (*)[Count]>(nullptr)));

// A word or vector as an array of units.
template <class Unit, class Chunk = word16, bool Small = (sizeof(Unit) < 4 && sizeof(Chunk) >= 4)>
struct unit_chunk {
  union {
    Chunk chunk;
    Unit unit[static_cast<int>(sizeof(Chunk)) / static_cast<int>(sizeof(Unit))];
  };
  __device__ void load(const Chunk& from) { chunk = from; }
  __device__ Chunk packed() const { return chunk; }
};

// 1- and 2-byte units are packed in registers: clang 15 spills a union of them to scratch memory.
template <class Unit, class Chunk>
struct unit_chunk<Unit, Chunk, true> {
  static constexpr int size = static_cast<int>(sizeof(Unit)), count = static_cast<int>(sizeof(Chunk)) / size;
  Unit unit[count];

  __device__ void load(const Chunk& from) {
    if constexpr (sizeof(Chunk) == 16) {
      const std::uint32_t w[4] = {word<0>(from), word<1>(from), word<2>(from), word<3>(from)};
#pragma unroll
      for (int u = 0; u < count; ++u) unit[u] = static_cast<Unit>(w[u * size / 4] >> (u * size % 4 * 8));
    } else {
#pragma unroll
      for (int u = 0; u < count; ++u) unit[u] = static_cast<Unit>(from >> (u * size * 8));
    }
  }
  __device__ Chunk packed() const { return pack(unit); }
};

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
  using all = typename unit_of_bytes<2 * Count>::type;
  *reinterpret_cast<all*>(to) = static_cast<all>(pack(pairs));
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
