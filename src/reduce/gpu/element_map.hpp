#pragma once

// Kinds of reductions: what a kernel does with the 16-byte vectors that it reads.
//   value, combine   what it calculates with, and how two become one
//   slots, vector    the values of a vector that begins with element `place`: one for each element where the order of
//                    combining decides the bits of the result, else one for all
//   exact            the order does not matter
//   edge             the vector at `at`, of which `left` bytes (at least 1) are there, element by element

#include "values.hpp"

namespace twill::TWILL_BACKEND::kernels {

template <class Unit>
struct elements_of {
  static constexpr int count = 16 / static_cast<int>(sizeof(Unit));
  Unit element[count];
};

template <class Unit>
struct units_of {
  static constexpr int unit_count = elements_of<Unit>::count;
  static __device__ word16 edge(const unsigned char* at, std::int64_t left, word16 pad, const reduce_terms&) {
    auto all = bits_as<elements_of<Unit>>(pad);
#pragma unroll
    for (int i = 0; i < unit_count; ++i) {
      if (static_cast<std::int64_t>((i + 1) * sizeof(Unit)) <= left) {
        all.element[i] = reinterpret_cast<const Unit*>(at)[i];
      }
    }
    return bits_as<word16>(all);
  }
};

/// Sums, or products, of f32, f64, c64, c128.
template <class T, bool Product>
struct numbers : units_of<T> {
  using value = T;
  static constexpr int slots = units_of<T>::unit_count;
  static constexpr bool exact = false;
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const reduce_terms&) {
    const auto all = bits_as<elements_of<T>>(raw);
#pragma unroll
    for (int i = 0; i < slots; ++i) to[i] = all.element[i];
  }
  static __device__ value combine(value a, value b, const reduce_terms&) {
    return Product ? product_of(a, b) : sum_of(a, b);
  }
};

/// Sums, or products, of f16 and bf16, in float.
template <bool Product>
struct halves : units_of<std::uint16_t> {
  using value = float;
  static constexpr int slots = 8;
  static constexpr bool exact = false;
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const reduce_terms& terms) {
    const auto all = bits_as<elements_of<std::uint16_t>>(raw);
#pragma unroll
    for (int i = 0; i < slots; ++i) {
      const std::uint32_t bits = all.element[i];
      to[i] = terms.is_brain ? bits_as<float>(bits << 16) : float_from_half(all.element[i]);
    }
  }
  static __device__ value combine(value a, value b, const reduce_terms&) {
    return Product ? product_of(a, b) : sum_of(a, b);
  }
};

/// Sums of integers, modulo 2^64. terms.flip: their sign bit when they are signed, else 0; flipped they are unsigned
/// and too large by as much.
template <class Unit>
struct integer_sums : units_of<Unit> {
  using value = std::uint64_t;
  static constexpr int slots = 1;
  static constexpr bool exact = true;
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const reduce_terms& terms) {
    const auto flip = static_cast<Unit>(terms.flip);
    constexpr int count = units_of<Unit>::unit_count;
    if constexpr (sizeof(Unit) <= 2) {
      to[0] = narrow_sum(bits_as<elements_of<std::uint32_t>>(raw), flip * (sizeof(Unit) == 1 ? 0x01010101u : 0x10001u));
    } else {
      const auto all = bits_as<elements_of<Unit>>(raw);
      to[0] = 0;
#pragma unroll
      for (int i = 0; i < count; ++i) to[0] += static_cast<Unit>(all.element[i] ^ flip);
    }
    to[0] -= static_cast<std::uint64_t>(count) * flip;
  }
  static __device__ value combine(value a, value b, const reduce_terms&) { return a + b; }

 private:
  // Pairs of bytes or halves in one word: 8 bytes, or 2 halves, cannot fill 16 or 32 bits.
  static __device__ std::uint32_t narrow_sum(const elements_of<std::uint32_t>& words, std::uint32_t flip) {
    std::uint32_t sum = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t word = words.element[i] ^ flip;
      if (sizeof(Unit) == 1) {
        sum += (word & 0xff00ffu) + (word >> 8 & 0xff00ffu);
      } else {
        sum += (word & 0xffffu) + (word >> 16);
      }
    }
    return sizeof(Unit) == 1 ? (sum & 0xffffu) + (sum >> 16) : sum;
  }
};

template <class Unit>
using key_for = std::conditional_t<sizeof(Unit) == 8, std::uint64_t, std::uint32_t>;
template <class Unit>
inline constexpr Unit top_bit = static_cast<Unit>(Unit{1} << (8 * sizeof(Unit) - 1));

/// order_key of the two floating-point numbers in a word, each where its number was.
__device__ inline std::uint32_t keys_of_halves(std::uint32_t word, const reduce_terms& terms) {
  constexpr std::uint32_t ones = 0x10001u, tops = 0x80008000u;
  const auto flip = static_cast<std::uint32_t>(terms.flip & 0xffffu), limit = static_cast<std::uint32_t>(terms.limit);
  const std::uint32_t negative = (word >> 15 & ones) * 0x7fffu;
  const std::uint32_t nan = (((word & ~tops) + (0x7fffu - limit) * ones) >> 15 & ones) * 0xffffu;
  return (word ^ negative ^ tops ^ flip * ones) & ~nan;
}

/// The keys of a vector's elements, each where its element was.
template <class Unit>
__device__ inline word16 keys_of_vector(word16 raw, const reduce_terms& terms) {
  if constexpr (sizeof(Unit) >= 4) {
    auto all = bits_as<elements_of<Unit>>(raw);
#pragma unroll
    for (int i = 0; i < units_of<Unit>::unit_count; ++i) {
      all.element[i] = order_key(all.element[i], top_bit<Unit>, terms);
    }
    return bits_as<word16>(all);
  } else {
    const auto flip = static_cast<Unit>(terms.flip) * (sizeof(Unit) == 1 ? 0x01010101u : 0x10001u);
    auto words = bits_as<elements_of<std::uint32_t>>(raw);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const bool is_float = sizeof(Unit) == 2 && terms.is_float;
      words.element[i] = is_float ? keys_of_halves(words.element[i], terms) : words.element[i] ^ flip;
    }
    return bits_as<word16>(words);
  }
}

/// Minima and maxima: the least key.
template <class Unit>
struct least_keys : units_of<Unit> {
  using value = key_for<Unit>;
  static constexpr int slots = 1;
  static constexpr bool exact = true;
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const reduce_terms& terms) {
    const auto keys = bits_as<elements_of<word>>(keys_of_vector<Unit>(raw, terms));
    to[0] = ~value{0};
#pragma unroll
    for (int i = 0; i < elements_of<word>::count; ++i) {
      // An element at the top of a word is compared as well with others below it.
#pragma unroll
      for (int bits = 0; bits < width; bits += 8 * static_cast<int>(sizeof(Unit))) {
        const word other = keys.element[i] << bits;
        to[0] = other < to[0] ? other : to[0];
      }
    }
    to[0] >>= width - 8 * static_cast<int>(sizeof(Unit));
  }
  static __device__ value combine(value a, value b, const reduce_terms&) { return b < a ? b : a; }

 private:
  using word = value;
  static constexpr int width = 8 * static_cast<int>(sizeof(word));
};

/// The places of minima and maxima.
template <class Unit>
struct first_places : units_of<Unit> {
  using value = placed_key;
  static constexpr int slots = 1;
  static constexpr bool exact = true;
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t place, const reduce_terms& terms) {
    const auto keys = bits_as<elements_of<Unit>>(keys_of_vector<Unit>(raw, terms));
    int best = 0;
    key_for<Unit> key = keys.element[0];
#pragma unroll
    for (int i = 1; i < units_of<Unit>::unit_count; ++i) {
      const key_for<Unit> other = keys.element[i];
      if (other < key) best = i;
      key = other < key ? other : key;
    }
    to[0] = {key, place + best};
  }
  static __device__ value combine(value a, value b, const reduce_terms&) { return first_least(a, b); }
};

/// Whatever integers can be made of an element of 1 to 16 bytes: the operations that are asked for less often. The 16
/// bytes of a c128 count as 8, any bit of which may be set.
struct viewed_elements {
  using value = std::uint64_t;
  static constexpr int slots = 1;
  static constexpr bool exact = true;
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const reduce_terms& terms) {
    const auto halves = bits_as<elements_of<std::uint64_t>>(raw);
    if (terms.bytes == 16) {
      to[0] = viewed(halves.element[0] | halves.element[1], terms);
      return;
    }
    to[0] = calculated(half(halves.element[0], terms), half(halves.element[1], terms), terms.rule);
  }
  static __device__ value combine(value a, value b, const reduce_terms& terms) { return calculated(a, b, terms.rule); }
  static __device__ word16 edge(const unsigned char* at, std::int64_t left, word16 pad, const reduce_terms& terms) {
    switch (terms.bytes) {
      case 1:
        return units_of<std::uint8_t>::edge(at, left, pad, terms);
      case 2:
        return units_of<std::uint16_t>::edge(at, left, pad, terms);
      case 4:
        return units_of<std::uint32_t>::edge(at, left, pad, terms);
      default:
        return units_of<std::uint64_t>::edge(at, left, pad, terms);
    }
  }

 private:
  static __device__ value half(std::uint64_t bits, const reduce_terms& terms) {
    const int width = 8 * terms.bytes;
    const std::uint64_t ones = ~std::uint64_t{0} >> (64 - width);
    value all = viewed(bits & ones, terms);
#pragma unroll 1
    for (int at = width; at < 64; at += width) all = calculated(all, viewed(bits >> at & ones, terms), terms.rule);
    return all;
  }
};

}  // namespace twill::TWILL_BACKEND::kernels
