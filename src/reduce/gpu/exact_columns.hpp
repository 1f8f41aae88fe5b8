#pragma once

// Policies for columns of exact operations: a vector of columns a lane, one value per element. Those of 1 and 2 bytes
// combine 8 rows while the elements are packed in 32-bit words (SIMD within a register).

#include "epilogue.hpp"
#include "order_keys.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// Sums of integers, modulo 2^64.
template <class Unit>
struct column_sums : units_of<Unit> {
  using value = std::uint64_t;
  static constexpr int slots = units_of<Unit>::unit_count;
  static constexpr bool exact = true, packs_eight = sizeof(Unit) <= 2;
  static constexpr int blocks = sizeof(Unit) <= 2 ? 3 : 4;
  static __device__ value combine(value a, value b, const op_params&) { return a + b; }
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const op_params& params) {
    const auto all = bits_as<elements_of<Unit>>(raw);
    const auto flip = static_cast<Unit>(params.flip);
#pragma unroll
    for (int i = 0; i < slots; ++i) to[i] = value{static_cast<Unit>(all.element[i] ^ flip)} - flip;
  }

  /// 8 vectors of u8 (u16) summed in 16-bit (32-bit) fields, which 8 addends cannot overflow.
  static __device__ void eight_packed(value (&to)[slots], const word16 (&raw)[8], std::int64_t, int,
                                      const op_params& params) {
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
  static constexpr bool exact = true, packs_eight = sizeof(Unit) <= 2;
  static __device__ value combine(value a, value b, const op_params&) { return b < a ? b : a; }
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const op_params& params) {
    const auto keys = bits_as<elements_of<Unit>>(keys_of_vector<Unit>(raw, params));
#pragma unroll
    for (int i = 0; i < slots; ++i) to[i] = keys.element[i];
  }
  static __device__ void eight_packed(value (&to)[slots], const word16 (&raw)[8], std::int64_t, int,
                                      const op_params& params) {
    const auto minima = minima_of_eight<Unit, false>(raw, params);
#pragma unroll
    for (int i = 0; i < slots; ++i) to[i] = minima.key(minima.of_element(i));
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

/// A key of `Bits` bits above the number of its row: ordered like the keys, the lowest row first among equals.
template <int Bits>
struct key_above_row {
  std::uint64_t word;
};
template <int Bits>
__device__ inline void store_result(const epilogue_params& f, std::int64_t at, key_above_row<Bits> value) {
  static_cast<std::int64_t*>(f.out)[at] = static_cast<std::int64_t>(value.word << Bits >> Bits);
}

template <int Bits>
__device__ inline key_above_row<Bits> unfolded(key_above_row<Bits> value, int fold, int row) {
  const std::uint64_t key = value.word >> (64 - Bits) << (64 - Bits);
  return {key | ((value.word << Bits >> Bits) * fold + row)};
}

/// Argmin and argmax of elements of 1 and 2 bytes.
template <class Unit>
struct narrow_column_argmin : units_of<Unit> {
  static constexpr int bits = 8 * static_cast<int>(sizeof(Unit));
  using value = key_above_row<bits>;
  static constexpr int slots = units_of<Unit>::unit_count;
  static constexpr bool exact = true, packs_eight = true;
  static constexpr int blocks = sizeof(Unit) == 1 && !has_packed_min ? 2 : 3;  // more spill (sm_70: 60 bytes)
  static __device__ value combine(value a, value b, const op_params&) { return {b.word < a.word ? b.word : a.word}; }
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t row, const op_params& params) {
    const auto keys = bits_as<elements_of<Unit>>(keys_of_vector<Unit>(raw, params));
#pragma unroll
    for (int i = 0; i < slots; ++i) to[i] = joined(keys.element[i], row);
  }

  static __device__ void eight_packed(value (&to)[slots], const word16 (&raw)[8], std::int64_t row, int step,
                                      const op_params& params) {
    const auto minima = minima_of_eight<Unit, true>(raw, params);
#pragma unroll
    for (int i = 0; i < slots; ++i) {
      const std::uint32_t smallest = minima.of_element(i);
      to[i] = joined(minima.key(smallest), row + std::int64_t{minima.vector(smallest)} * step);
    }
  }

 private:
  static __device__ value joined(std::uint64_t key, std::int64_t row) {
    return {key << (64 - bits) | (static_cast<std::uint64_t>(row) << bits >> bits)};
  }
};

/// Bitwise and logical operations.
template <class Unit>
struct column_bits : units_of<Unit> {
  using value = key_for<Unit>;
  static constexpr int slots = units_of<Unit>::unit_count;
  static constexpr bool exact = true, packs_eight = sizeof(Unit) <= 2;
  static constexpr int blocks = sizeof(Unit) == 1 ? 2 : sizeof(Unit) == 2 ? 3 : 4;
  static __device__ value combine(value a, value b, const op_params& params) {
    return params.combine == combine_op::bits_xor ? a ^ b : a | b;
  }
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const op_params& params) {
    const auto all = bits_as<elements_of<Unit>>(raw);
#pragma unroll
    for (int i = 0; i < slots; ++i) to[i] = static_cast<value>(mapped(all.element[i], params));
  }

  static __device__ void eight_packed(value (&to)[slots], const word16 (&raw)[8], std::int64_t, int,
                                      const op_params& params) {
    std::uint32_t all[4];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const auto words = bits_as<elements_of<std::uint32_t>>(raw[i]);
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const std::uint32_t next = mapped_word(words.element[w], params);
        all[w] = i == 0 ? next : combine(all[w], next, params);
      }
    }
    const auto elements = bits_as<elements_of<Unit>>(all);
#pragma unroll
    for (int i = 0; i < slots; ++i) to[i] = elements.element[i];
  }

 private:
  static constexpr std::uint32_t ones = sizeof(Unit) == 1 ? 0x01010101u : 0x10001u;
  static constexpr int top = 8 * static_cast<int>(sizeof(Unit)) - 1;

  /// mapped() of each element of a word.
  static __device__ std::uint32_t mapped_word(std::uint32_t word, const op_params& params) {
    const std::uint32_t flip = static_cast<Unit>(params.flip) * ones, below_top = (ones << top) - ones;
    if (params.map == element_map::bits) return word ^ flip;
    word &= flip;
    const std::uint32_t nonzero = (((word & below_top) + below_top) | word) >> top & ones;
    return nonzero ^ static_cast<std::uint32_t>(params.limit) * ones;
  }
};

/// Products of integers, modulo 2^64.
template <class Unit>
struct column_products : units_of<Unit> {
  using value = std::uint64_t;
  static constexpr int slots = units_of<Unit>::unit_count;
  static constexpr bool exact = true, packs_eight = sizeof(Unit) <= 2;
  static constexpr int blocks = sizeof(Unit) == 1 ? 2 : sizeof(Unit) == 2 ? 2 : 3;
  static __device__ value combine(value a, value b, const op_params&) { return a * b; }
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const op_params& params) {
    const auto all = bits_as<elements_of<Unit>>(raw);
#pragma unroll
    for (int i = 0; i < slots; ++i) to[i] = mapped(all.element[i], params);
  }

  /// Two 32-bit products of 4 bytes each, or four of 2 halves, which fit, signed or not; their product in 64 bits.
  static __device__ void eight_packed(value (&to)[slots], const word16 (&raw)[8], std::int64_t, int,
                                      const op_params& params) {
    constexpr int together = sizeof(Unit) == 1 ? 4 : 2;
    const auto flip = static_cast<std::uint32_t>(params.flip);
#pragma unroll
    for (int first = 0; first < 8; first += together) {
      std::uint32_t product[slots];
#pragma unroll
      for (int i = 0; i < together; ++i) {
        const auto all = bits_as<elements_of<Unit>>(raw[first + i]);
#pragma unroll
        for (int s = 0; s < slots; ++s) {
          const std::uint32_t factor = (all.element[s] ^ flip) - flip;
          product[s] = i == 0 ? factor : product[s] * factor;
        }
      }
#pragma unroll
      for (int s = 0; s < slots; ++s) {
        const value wide =
            flip == 0 ? product[s] : static_cast<value>(std::int64_t{static_cast<std::int32_t>(product[s])});
        to[s] = first == 0 ? wide : to[s] * wide;
      }
    }
  }
};

}  // namespace twill::TWILL_BACKEND::kernels
