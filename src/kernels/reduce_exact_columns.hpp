#pragma once

// Kinds for columns whose order does not matter, in whole vectors: a value for each element.

#include "kernels/reduce_kinds.hpp"

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

  /// Of 8 vectors of bytes, two bytes at a time: 8 of them cannot fill 16 bits.
  static __device__ void eight_of_bytes(value (&to)[slots], const word16 (&raw)[8], const reduce_terms& terms) {
    const auto flip = static_cast<std::uint32_t>(terms.flip);
    std::uint32_t even[4]{}, odd[4]{};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const auto words = bits_as<elements_of<std::uint32_t>>(raw[i]);
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const std::uint32_t word = words.element[w] ^ flip * 0x01010101u;
        even[w] += word & 0xff00ffu;
        odd[w] += word >> 8 & 0xff00ffu;
      }
    }
#pragma unroll
    for (int i = 0; i < slots; ++i) {
      const std::uint32_t pair = i % 2 == 0 ? even[i / 4] : odd[i / 4];
      to[i] = value{i % 4 < 2 ? pair & 0xffffu : pair >> 16} - 8 * flip;
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
    const auto all = bits_as<elements_of<Unit>>(raw);
#pragma unroll
    for (int i = 0; i < slots; ++i) to[i] = order_key(all.element[i], top_bit<Unit>, terms);
  }
};

}  // namespace twill::TWILL_BACKEND::kernels
