#pragma once

// Packing of elements of `Bytes` bytes in registers: a group of them is full vectors of 16 bytes (vec3.hpp). A thread
// packs one part of a group: the group itself, or half of it where all would take too many registers. Half a group is
// full words of 8 bytes.

#include <cstdint>
#include <type_traits>

#include "device.hpp"
#include "gpu/realign.hpp"
#include "move/plan/vec3.hpp"

namespace twill::TWILL_BACKEND::kernels {

template <int Bytes>
struct packed_element {
  static constexpr int alignment = Bytes & -Bytes;
  static constexpr detail::vec3_block block = detail::vec3_block_of(Bytes);
  static constexpr int group = block.group, part = block.part, chunks = Bytes / alignment;
  using part_word = std::conditional_t<part == group, word16, std::uint64_t>;
  static constexpr int part_words = part * Bytes / static_cast<int>(sizeof(part_word));
  // Of each four bytes, but the last word begins where two words of memory hold it, whatever the alignment.
  static constexpr int words = (Bytes + 3) / 4, last_begin = Bytes % 4 == 3 ? Bytes - 3 : Bytes - 4;
};

// What selects, of two consecutive words, the four bytes from `byte` on.
__device__ inline std::uint32_t bytes_from(std::uint32_t byte) {
  return 0x3210 + 0x1111 * byte;
}

// One element's words: `at` is the place of its first byte, `selector` cuts a word that begins there from two.
template <int Bytes>
__device__ void fetch_element(std::uint32_t (&w)[packed_element<Bytes>::words], const unsigned char* word_place,
                              std::uint32_t selector) {
  using element = packed_element<Bytes>;
  const auto* from = reinterpret_cast<const std::uint32_t*>(word_place);
  if constexpr (element::alignment == 8) {
#pragma unroll
    for (int i = 0; i < element::words; i += 2) {
      const std::uint64_t both = *reinterpret_cast<const std::uint64_t*>(word_place + 4 * i);
      w[i] = static_cast<std::uint32_t>(both);
      w[i + 1] = static_cast<std::uint32_t>(both >> 32);
    }
  } else if constexpr (element::alignment == 4) {
#pragma unroll
    for (int i = 0; i < element::words; ++i) w[i] = from[i];
  } else {
    constexpr int last = element::words - 1, pair = element::last_begin / 4, beyond = element::last_begin % 4;
    std::uint32_t low = from[0];
#pragma unroll
    for (int i = 0; i <= pair; ++i) {
      const std::uint32_t high = from[i + 1];
      if (i < last) w[i] = byte_permute(low, high, selector);
      if (i == pair) w[last] = byte_permute(low, high, selector + 0x1111 * beyond);
      low = high;
    }
  }
}

// Where byte `at` of a part lies: which word of its element, and which byte of that.
template <int Bytes>
struct packed_byte {
  int element, word, byte;

  __device__ explicit packed_byte(int at, int first) : element(at / Bytes) {
    using all = packed_element<Bytes>;
    const int in_element = at % Bytes, begin = first / Bytes == element ? first % Bytes : 0;
    const bool in_last = begin >= all::last_begin || in_element / 4 >= all::words - 1;
    word = in_last ? all::words - 1 : in_element / 4;
    byte = in_element - (in_last ? all::last_begin : 4 * word);
  }
};

// The words of a part's elements.
template <int Bytes>
using element_words = std::uint32_t[packed_element<Bytes>::part][packed_element<Bytes>::words];

// Word `j` of a packed part, from one word or two.
template <int Bytes>
__device__ std::uint32_t packed_word(const element_words<Bytes>& w, int j) {
  const packed_byte<Bytes> first(4 * j, 4 * j), last(4 * j + 3, 4 * j);
  std::uint32_t selector = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const packed_byte<Bytes> at(4 * j + i, 4 * j);
    const bool in_first = at.element == first.element && at.word == first.word;
    selector |= static_cast<std::uint32_t>(in_first ? at.byte : 4 + at.byte) << (4 * i);
  }
  const std::uint32_t low = w[first.element][first.word];
  return selector == 0x3210 ? low : byte_permute(low, w[last.element][last.word], selector);
}

// A packed part, and where it goes: nowhere in a thread that has none.
template <int Bytes>
struct packed_part {
  using word = typename packed_element<Bytes>::part_word;
  word* to = nullptr;
  word words[packed_element<Bytes>::part_words];

  __device__ void pack(const element_words<Bytes>& w) {
#pragma unroll
    for (int n = 0; n < packed_element<Bytes>::part_words; ++n) {
      if constexpr (sizeof(word) == 16) {
        words[n] = make_word16(packed_word<Bytes>(w, 4 * n), packed_word<Bytes>(w, 4 * n + 1),
                               packed_word<Bytes>(w, 4 * n + 2), packed_word<Bytes>(w, 4 * n + 3));
      } else {
        words[n] = packed_word<Bytes>(w, 2 * n) | static_cast<std::uint64_t>(packed_word<Bytes>(w, 2 * n + 1)) << 32;
      }
    }
  }

  __device__ void stage() const {
    if (to == nullptr) return;
#pragma unroll
    for (int n = 0; n < packed_element<Bytes>::part_words; ++n) to[n] = words[n];
  }
};

// How many rows above row0 a column's groups begin in the tile; `address` is that of its row0.
template <int Bytes>
__device__ int rows_above(std::uintptr_t address) {
  using element = packed_element<Bytes>;
  constexpr unsigned odd = Bytes / element::alignment, inverse = odd * odd * odd;  // odd^4 is 1 modulo 16
  return static_cast<int>(static_cast<unsigned>(address) / element::alignment * inverse & (element::group - 1));
}

// The element that begins at byte `at` of shared memory.
template <int Bytes>
__device__ void fetch_at(std::uint32_t (&w)[packed_element<Bytes>::words], const unsigned char* shared, int at) {
  fetch_element<Bytes>(w, shared + (packed_element<Bytes>::alignment >= 4 ? at : at & ~3), bytes_from(at & 3));
}
}  // namespace twill::TWILL_BACKEND::kernels
