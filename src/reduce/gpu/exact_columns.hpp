#pragma once

// Policies for columns of exact operations: a vector of columns a lane, one value per element.

#include "element_map.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// Sums of integers, modulo 2^64.
template <class Unit>
struct column_sums : units_of<Unit> {
  using value = std::uint64_t;
  static constexpr int slots = units_of<Unit>::unit_count;
  static constexpr bool exact = true;
  static __device__ value combine(value a, value b, const op_params&) { return a + b; }
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const op_params& params) {
    const auto all = bits_as<elements_of<Unit>>(raw);
    const auto flip = static_cast<Unit>(params.flip);
#pragma unroll
    for (int i = 0; i < slots; ++i) to[i] = value{static_cast<Unit>(all.element[i] ^ flip)} - flip;
  }

  /// SIMD within a register: 8 vectors of u8 (u16) summed in 16-bit (32-bit) fields, which 8 addends cannot overflow.
  static __device__ void eight_narrow(value (&to)[slots], const word16 (&raw)[8], const op_params& params) {
    constexpr bool bytes = sizeof(Unit) == 1;
    constexpr std::uint32_t mask = bytes ? 0xff00ffu : 0xffffu;
    constexpr int width = 8 * static_cast<int>(sizeof(Unit)), a_word = slots / 4;
    const auto flip = static_cast<std::uint32_t>(params.flip);
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

/// Minimum and maximum: the smallest key.
template <class Unit>
struct column_min : units_of<Unit> {
  using value = key_for<Unit>;
  static constexpr int slots = units_of<Unit>::unit_count;
  static constexpr bool exact = true;
  static __device__ value combine(value a, value b, const op_params&) { return b < a ? b : a; }
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const op_params& params) {
    const auto keys = bits_as<elements_of<Unit>>(keys_of_vector<Unit>(raw, params));
#pragma unroll
    for (int i = 0; i < slots; ++i) to[i] = keys.element[i];
  }
};

/// Argmin and argmax: the rows of the smallest keys.
template <class Unit>
struct column_argmin : units_of<Unit> {
  using value = indexed_key;
  static constexpr int slots = units_of<Unit>::unit_count;
  static constexpr bool exact = true;
  static __device__ value combine(value a, value b, const op_params&) { return argmin(a, b); }
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t row, const op_params& params) {
    const auto keys = bits_as<elements_of<Unit>>(keys_of_vector<Unit>(raw, params));
#pragma unroll
    for (int i = 0; i < slots; ++i) to[i] = {keys.element[i], row};
  }
};

}  // namespace twill::TWILL_BACKEND::kernels
