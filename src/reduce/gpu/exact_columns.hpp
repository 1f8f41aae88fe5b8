#pragma once

// Kinds for columns whose order does not matter, in whole vectors: a value for each element.

#include "element_map.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// Sums of integers, modulo 2^64.
template <class Unit>
struct column_sums : units_of<Unit> {
  using value = std::uint64_t;
  static constexpr int slots = units_of<Unit>::unit_count;
  static constexpr bool exact = true;
  static __device__ value combine(value a, value b, const reduce_terms&) { return a + b; }
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const reduce_terms& terms) {
    const auto all = bits_as<elements_of<Unit>>(raw);
    const auto flip = static_cast<Unit>(terms.flip);
#pragma unroll
    for (int i = 0; i < slots; ++i) to[i] = value{static_cast<Unit>(all.element[i] ^ flip)} - flip;
  }

  /// Of 8 vectors of bytes, in pairs, or of halves: 8 of them cannot fill 16 and 32 bits.
  static __device__ void eight_narrow(value (&to)[slots], const word16 (&raw)[8], const reduce_terms& terms) {
    constexpr bool bytes = sizeof(Unit) == 1;
    constexpr std::uint32_t mask = bytes ? 0xff00ffu : 0xffffu;
    constexpr int width = 8 * static_cast<int>(sizeof(Unit)), a_word = slots / 4;
    const auto flip = static_cast<std::uint32_t>(terms.flip);
    std::uint32_t even[4]{}, odd[4]{};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const auto words = bits_as<elements_of<std::uint32_t>>(raw[i]);
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const std::uint32_t word = words.element[w] ^ flip * (bytes ? 0x01010101u : 0x10001u);
        even[w] += word & mask;
        odd[w] += word >> width & mask;
      }
    }
#pragma unroll
    for (int i = 0; i < slots; ++i) {
      std::uint32_t sum = i % 2 == 0 ? even[i / a_word] : odd[i / a_word];
      if (bytes) sum = i % 4 < 2 ? sum & 0xffffu : sum >> 16;
      to[i] = value{sum} - 8 * flip;
    }
  }
};

/// Minima and maxima: the least key.
template <class Unit>
struct column_least : units_of<Unit> {
  using value = key_for<Unit>;
  static constexpr int slots = units_of<Unit>::unit_count;
  static constexpr bool exact = true;
  static __device__ value combine(value a, value b, const reduce_terms&) { return b < a ? b : a; }
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const reduce_terms& terms) {
    const auto keys = bits_as<elements_of<Unit>>(keys_of_vector<Unit>(raw, terms));
#pragma unroll
    for (int i = 0; i < slots; ++i) to[i] = keys.element[i];
  }
};

/// The places of minima and maxima: the rows of the least keys.
template <class Unit>
struct column_places : units_of<Unit> {
  using value = placed_key;
  static constexpr int slots = units_of<Unit>::unit_count;
  static constexpr bool exact = true;
  static __device__ value combine(value a, value b, const reduce_terms&) { return first_least(a, b); }
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t row, const reduce_terms& terms) {
    const auto keys = bits_as<elements_of<Unit>>(keys_of_vector<Unit>(raw, terms));
#pragma unroll
    for (int i = 0; i < slots; ++i) to[i] = {keys.element[i], row};
  }
};

}  // namespace twill::TWILL_BACKEND::kernels
