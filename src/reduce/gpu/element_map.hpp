#pragma once

// The policies of the reduction kernels (`Kind`): how a 16-byte vector of elements becomes values.
//   value, combine   the accumulator type and the binary operation
//   slots, vector    the values of a vector whose first element has number `index`: one per element where the result
//                    depends on the order of combination, else one per vector
//   exact            combine is associative and commutative, bit for bit
//   packs_eight      if true, eight_packed combines 8 vectors before unpacking; their first elements (in column
//                    kernels: their rows) have numbers index, index + step, ...
//   edge             loads the partial vector at `at`, of which `left` >= 1 bytes are valid, element by element

#include "values.hpp"

namespace twill::TWILL_BACKEND::kernels {

template <class Kind, class = void>
inline constexpr bool combines_eight_packed = false;
template <class Kind>
inline constexpr bool combines_eight_packed<Kind, std::enable_if_t<(Kind::packs_eight)>> = true;

template <class Unit>
struct elements_of {
  static constexpr int count = 16 / static_cast<int>(sizeof(Unit));
  Unit element[count];
};

template <class Unit>
struct units_of {
  static constexpr int unit_count = elements_of<Unit>::count, unit_bytes = static_cast<int>(sizeof(Unit));
  static __device__ word16 edge(const unsigned char* at, int from, int to, word16 pad, const op_params&) {
    auto all = bits_as<elements_of<Unit>>(pad);
#pragma unroll
    for (int i = 0; i < unit_count; ++i) {
      if (i * unit_bytes >= from && (i + 1) * unit_bytes <= to) {
        all.element[i] = reinterpret_cast<const Unit*>(at)[i];
      }
    }
    return bits_as<word16>(all);
  }
};

/// Sums, or products, of f32, f64, c64, c128.
template <class T, bool Product>
struct floats : units_of<T> {
  using value = T;
  static constexpr int slots = units_of<T>::unit_count;
  static constexpr bool exact = false;
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const op_params&) {
    const auto all = bits_as<elements_of<T>>(raw);
#pragma unroll
    for (int i = 0; i < slots; ++i) to[i] = all.element[i];
  }
  static __device__ value combine(value a, value b, const op_params&) {
    return Product ? product_of(a, b) : sum_of(a, b);
  }
};

/// Sums, or products, of f16 and bf16, in float.
template <bool Product>
struct halves : units_of<std::uint16_t> {
  using value = float;
  static constexpr int slots = 8;
  static constexpr bool exact = false;
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const op_params& params) {
    const auto all = bits_as<elements_of<std::uint16_t>>(raw);
#pragma unroll
    for (int i = 0; i < slots; ++i) {
      const std::uint32_t bits = all.element[i];
      to[i] = params.is_bfloat16 ? bits_as<float>(bits << 16) : float_from_half(all.element[i]);
    }
  }
  static __device__ value combine(value a, value b, const op_params&) {
    return Product ? product_of(a, b) : sum_of(a, b);
  }
};

/// Sums of integers, modulo 2^64. params.flip: their sign bit when they are signed, else 0; flipped they are unsigned
/// and too large by as much.
template <class Unit>
struct integer_sums : units_of<Unit> {
  using value = std::uint64_t;
  static constexpr int slots = 1;
  static constexpr bool exact = true;
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const op_params& params) {
    const auto flip = static_cast<Unit>(params.flip);
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
  static __device__ value combine(value a, value b, const op_params&) { return a + b; }

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

/// What holds an element as an unsigned number.
template <class Unit>
using key_for = std::conditional_t<sizeof(Unit) == 8, std::uint64_t, std::uint32_t>;

/// One kernel for the rarely used integer operations (products, logical, bitwise), for elements of 1 to 16 bytes. The
/// halves of a c128 are ORed: only whether a bit is set matters.
struct mapped_elements {
  using value = std::uint64_t;
  static constexpr int slots = 1, unit_bytes = 1;  // at least
  static constexpr bool exact = true;
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const op_params& params) {
    const auto halves = bits_as<elements_of<std::uint64_t>>(raw);
    if (params.bytes == 16) {
      to[0] = mapped(halves.element[0] | halves.element[1], params);
      return;
    }
    to[0] = combined(half(halves.element[0], params), half(halves.element[1], params), params.combine);
  }
  static __device__ value combine(value a, value b, const op_params& params) { return combined(a, b, params.combine); }
  static __device__ word16 edge(const unsigned char* at, int from, int to, word16 pad, const op_params& params) {
    switch (params.bytes) {
      case 1:
        return units_of<std::uint8_t>::edge(at, from, to, pad, params);
      case 2:
        return units_of<std::uint16_t>::edge(at, from, to, pad, params);
      case 4:
        return units_of<std::uint32_t>::edge(at, from, to, pad, params);
      default:
        return units_of<std::uint64_t>::edge(at, from, to, pad, params);
    }
  }

 private:
  static __device__ value half(std::uint64_t bits, const op_params& params) {
    const int width = 8 * params.bytes;
    const std::uint64_t ones = ~std::uint64_t{0} >> (64 - width);
    value all = mapped(bits & ones, params);
#pragma unroll 1
    for (int at = width; at < 64; at += width) all = combined(all, mapped(bits >> at & ones, params), params.combine);
    return all;
  }
};

}  // namespace twill::TWILL_BACKEND::kernels
