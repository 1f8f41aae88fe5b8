#pragma once

// Vectors of elements as keys, unsigned numbers that order like them, and minima of packed keys.

#include "element_map.hpp"

namespace twill::TWILL_BACKEND::kernels {

template <class Unit>
inline constexpr Unit top_bit = static_cast<Unit>(Unit{1} << (8 * sizeof(Unit) - 1));

/// order_key of the two 16-bit floating-point numbers packed in a word.
__device__ inline std::uint32_t keys_of_halves(std::uint32_t word, const op_params& params) {
  constexpr std::uint32_t ones = 0x10001u, tops = 0x80008000u;
  const auto flip = static_cast<std::uint32_t>(params.flip & 0xffffu), limit = static_cast<std::uint32_t>(params.limit);
  const std::uint32_t negative = (word >> 15 & ones) * 0x7fffu;
  const std::uint32_t nan = (((word & ~tops) + (0x7fffu - limit) * ones) >> 15 & ones) * 0xffffu;
  return (word ^ negative ^ tops ^ flip * ones) & ~nan;
}

/// The keys of a vector's elements, packed like the elements.
template <class Unit>
__device__ inline word16 keys_of_vector(word16 raw, const op_params& params) {
  if constexpr (sizeof(Unit) >= 4) {
    auto all = bits_as<elements_of<Unit>>(raw);
#pragma unroll
    for (int i = 0; i < units_of<Unit>::unit_count; ++i) {
      all.element[i] = order_key(all.element[i], top_bit<Unit>, params);
    }
    return bits_as<word16>(all);
  } else {
    const auto flip = static_cast<Unit>(params.flip) * (sizeof(Unit) == 1 ? 0x01010101u : 0x10001u);
    auto words = bits_as<elements_of<std::uint32_t>>(raw);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const bool is_float = sizeof(Unit) == 2 && params.is_float;
      words.element[i] = is_float ? keys_of_halves(words.element[i], params) : words.element[i] ^ flip;
    }
    return bits_as<word16>(words);
  }
}

/// Width of a field: 16 bits where the device has a packed minimum and key and numbers fit, else 32.
template <class Unit, bool Numbered>
inline constexpr int field_bits = has_packed_min && sizeof(Unit) + (Numbered ? 1 : 0) <= 2 ? 16 : 32;

/// Elementwise minima of keys of 1 and 2 bytes over up to 8 vectors. A key is the most significant part of a field of
/// 16 or 32 bits. The bits below it are arbitrary (those of a neighbouring key) or, if `Numbered`, the number of the
/// vector and, in the lowest 4 bits, that of the element, so that the first of equal keys is the smallest field.
template <class Unit, bool Numbered, int Bits = field_bits<Unit, Numbered>>
class packed_minima {
 public:
  /// Adds vector `i`, 0 to 7. Vector 0 must be added first: it initialises the fields.
  __device__ void add(int i, word16 vector) {
    const auto words = bits_as<elements_of<std::uint32_t>>(vector);
#pragma unroll
    for (int at = 0; at < register_count; ++at) {
      std::uint32_t fields = words.element[at / spread] << (spread - 1 - at % spread) * key_bits;
      if (Numbered) fields = (fields & key_mask) | static_cast<std::uint32_t>(i << 4) * ones;
      fields_[at] = i == 0 ? fields : minimum(fields_[at], fields);
    }
  }

  /// The smallest field of element `e` of all vectors.
  __device__ std::uint32_t of_element(int e) const {
    return fields_[e / keys_per_word * spread + e % spread] >> (e % keys_per_word / spread * Bits) & field_mask;
  }

  /// The smallest field of all elements.
  __device__ std::uint32_t overall() const {
    std::uint32_t all = 0;
#pragma unroll
    for (int at = 0; at < register_count; ++at) {
      const int first = at / spread * keys_per_word + at % spread;
      const auto elements = static_cast<std::uint32_t>(Bits == 16 ? (first + spread) << 16 | first : first);
      const std::uint32_t fields = Numbered ? fields_[at] | elements : fields_[at];
      all = at == 0 ? fields : minimum(all, fields);
    }
    if (Bits == 32) return all;
    return (all & 0xffffu) < all >> 16 ? all & 0xffffu : all >> 16;
  }

  static __device__ std::uint32_t key(std::uint32_t field) { return field >> (Bits - key_bits); }
  static __device__ int vector(std::uint32_t field) { return static_cast<int>(field >> 4 & 7); }
  static __device__ int element(std::uint32_t field) { return static_cast<int>(field & 15); }

 private:
  static constexpr int key_bits = 8 * static_cast<int>(sizeof(Unit)), keys_per_word = 32 / key_bits;
  static constexpr int spread = Bits / key_bits;  // registers that the keys of a word are spread over
  static constexpr int register_count = 4 * spread;
  static constexpr std::uint32_t ones = Bits == 16 ? 0x10001u : 1u, field_mask = Bits == 16 ? 0xffffu : ~0u;
  static constexpr std::uint32_t key_mask = (~0u << (32 - key_bits) >> (32 - Bits) & field_mask) * ones;

  static __device__ std::uint32_t minimum(std::uint32_t a, std::uint32_t b) {
    if constexpr (Bits == 16) return packed_min(a, b);
    return b < a ? b : a;
  }

  std::uint32_t fields_[register_count];
};

/// The minima of the keys of eight vectors.
template <class Unit, bool Numbered>
__device__ inline packed_minima<Unit, Numbered> minima_of_eight(const word16 (&raw)[8], const op_params& params) {
  packed_minima<Unit, Numbered> minima;
#pragma unroll
  for (int i = 0; i < 8; ++i) minima.add(i, keys_of_vector<Unit>(raw[i], params));
  return minima;
}

}  // namespace twill::TWILL_BACKEND::kernels
