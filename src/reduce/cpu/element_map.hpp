#pragma once

// What the CPU's reductions calculate with. A kind has:
//   in, value       types of an element and of what it becomes
//   load(element, index), combine(a, b), store(out, at, value)
//   exact           any order of combining gives the same bits; then none(), the value of no elements
//   pad, empty      otherwise: an element that changes nothing, and one that is the result of none

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <twill/element.hpp>

#include "reduce/operations.hpp"

namespace twill::cpu {

template <class T>
inline constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

/// What sums and products are calculated in.
template <class T>
using calculated = std::conditional_t<is_half<T>, float, T>;

template <class T>
T same_nan(T value) {
  return value == value ? value : std::numeric_limits<T>::quiet_NaN();
}
template <class T>
std::complex<T> same_nan(std::complex<T> value) {
  return {same_nan(value.real()), same_nan(value.imag())};
}

/// The float that a half stands for, without a branch that keeps loops from being vectorised.
inline float number(float16 half) {
  const std::uint32_t magnitude = half.bits & 0x7fffu, sign = static_cast<std::uint32_t>(half.bits & 0x8000u) << 16;
  const std::uint32_t shifted = magnitude << 13;
  float value;
  std::memcpy(&value, &shifted, sizeof value);
  value *= 0x1p112f;  // exact: the exponents' biases differ by 112
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits |= sign | (magnitude >= 0x7c00u ? 0x7f800000u : 0u);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline float number(bfloat16 half) {
  const std::uint32_t bits = static_cast<std::uint32_t>(half.bits) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
calculated<T> calculated_from(T element) {
  if constexpr (is_half<T>) {
    return number(element);
  } else {
    return element;
  }
}

/// Numbers leave as what they came as, but halves also as float.
template <class T>
void store_number(void* out, std::int64_t at, T value, element_type) {
  static_cast<T*>(out)[at] = same_nan(value);
}
inline void store_number(void* out, std::int64_t at, float value, element_type type) {
  value = same_nan(value);
  if (type == element_type::f16) {
    static_cast<float16*>(out)[at] = float16(value);
  } else if (type == element_type::bf16) {
    static_cast<bfloat16*>(out)[at] = bfloat16(value);
  } else {
    static_cast<float*>(out)[at] = value;
  }
}
inline void store_bits(void* out, std::int64_t at, std::uint64_t value, element_type type) {
  switch (element_bytes(type)) {
    case 1:
      static_cast<std::uint8_t*>(out)[at] = static_cast<std::uint8_t>(value);
      break;
    case 2:
      static_cast<std::uint16_t*>(out)[at] = static_cast<std::uint16_t>(value);
      break;
    case 4:
      static_cast<std::uint32_t*>(out)[at] = static_cast<std::uint32_t>(value);
      break;
    default:
      static_cast<std::uint64_t*>(out)[at] = value;
  }
}

template <class T>
T minus_zero() {
  if constexpr (is_half<T>) {
    return T(-0.0f);
  } else if constexpr (std::is_floating_point_v<T>) {
    return T(-0.0);
  } else {
    return {typename T::value_type(-0.0), typename T::value_type(-0.0)};
  }
}
template <class T>
T one() {
  if constexpr (is_half<T>) {
    return T(1.0f);
  } else {
    return T(1);
  }
}

template <class T>
T product_of(T a, T b) {
  return a * b;
}
/// The rule of schoolbooks, as on GPUs; but 1 changes nothing.
template <class T>
std::complex<T> product_of(std::complex<T> a, std::complex<T> b) {
  if (b.real() == 1 && b.imag() == 0) return a;
  if (a.real() == 1 && a.imag() == 0) return b;
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Sums and products of floating-point and complex numbers, in the tree.
template <class T, bool Product>
struct number_kind {
  using in = T;
  using value = calculated<T>;
  static constexpr bool exact = false;
  element_type out_type;
  T pad = Product ? one<T>() : minus_zero<T>();
  T empty = Product ? one<T>() : T();

  explicit number_kind(const detail::reduce_args& a) : out_type(a.out_type) {}
  static value load(T element, std::int64_t) { return calculated_from(element); }
  static value combine(value a, value b) {
    if constexpr (Product) {
      return product_of(a, b);
    } else {
      return a + b;
    }
  }
  void store(void* out, std::int64_t at, value v) const { store_number(out, at, v, out_type); }
};

// The others give the same bits in any order. Their elements are words of bits.

inline bool is_signed_integer(element_type type) {
  return type <= element_type::i64;
}

/// Sums of integers, modulo 2^64.
template <class Bits>
struct integer_sum_kind {
  using in = Bits;
  using value = std::uint64_t;
  static constexpr bool exact = true;
  Bits flip;  ///< the sign bit of signed ones: flipped, they are unsigned and too large by as much
  element_type out_type;

  explicit integer_sum_kind(const detail::reduce_args& a)
      : flip(is_signed_integer(a.in_type) ? static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1)) : Bits{0}),
        out_type(a.out_type) {}
  value none() const { return 0; }
  value load(Bits element, std::int64_t) const { return static_cast<value>(static_cast<Bits>(element ^ flip)) - flip; }
  static value combine(value a, value b) { return a + b; }
  void store(void* out, std::int64_t at, value v) const { store_bits(out, at, v, out_type); }
};

/// Bits of an element that order as unsigned numbers: NaN first of all, -0 before +0.
template <class Bits>
struct order_key {
  static constexpr Bits top = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1)), all = static_cast<Bits>(~Bits{0});
  bool is_float;
  Bits flip;      ///< bits that are inverted
  Bits infinity;  ///< all ones of integers

  explicit order_key(const detail::reduce_args& a) : is_float(a.in_type >= element_type::f16) {
    const bool largest = a.op == reduce_op::max || a.op == reduce_op::argmax;
    flip = static_cast<Bits>((largest ? all : Bits{0}) ^ (is_signed_integer(a.in_type) ? top : Bits{0}));
    infinity = !is_float                         ? all
               : a.in_type == element_type::f16  ? static_cast<Bits>(0x7c00)
               : a.in_type == element_type::bf16 ? static_cast<Bits>(0x7f80)
               : sizeof(Bits) == 4               ? static_cast<Bits>(0x7f800000)
                                                 : static_cast<Bits>(0x7ff0000000000000);
  }
  Bits of(Bits bits) const {
    const Bits flipped = static_cast<Bits>((bits & top) != 0 ? ~bits : bits | top);
    const Bits key = static_cast<Bits>((is_float ? flipped : bits) ^ flip);
    return static_cast<Bits>(bits & (all ^ top)) > infinity ? Bits{0} : key;
  }
  Bits back(Bits key) const {
    const Bits bits = static_cast<Bits>(key ^ flip);
    if (!is_float) return bits;
    return key == 0 ? nan() : static_cast<Bits>((bits & top) != 0 ? bits ^ top : ~bits);
  }
  /// The quiet NaN without a sign.
  Bits nan() const { return static_cast<Bits>(infinity | (infinity & -infinity) >> 1); }
  /// Of the number that every other comes before.
  Bits last() const { return is_float ? of(static_cast<Bits>(flip == 0 ? infinity : infinity | top)) : all; }
};

template <class Bits>
struct min_kind {
  using in = Bits;
  using value = Bits;
  static constexpr bool exact = true;
  order_key<Bits> key;

  explicit min_kind(const detail::reduce_args& a) : key(a) {}
  value none() const { return key.last(); }
  value load(Bits element, std::int64_t) const { return key.of(element); }
  static value combine(value a, value b) { return b < a ? b : a; }
  void store(void* out, std::int64_t at, value v) const { static_cast<Bits*>(out)[at] = key.back(v); }
};

template <class Bits>
struct indexed_key {
  Bits key;
  std::int64_t index;
};

template <class Bits>
struct argmin_kind {
  using in = Bits;
  using value = indexed_key<Bits>;
  static constexpr bool exact = true;
  order_key<Bits> key;

  explicit argmin_kind(const detail::reduce_args& a) : key(a) {}
  value none() const { return {order_key<Bits>::all, -1}; }
  value load(Bits element, std::int64_t index) const { return {key.of(element), index}; }
  /// `b` comes later unless nothing came before.
  static value combine(value a, value b) { return b.index >= 0 && (a.index < 0 || b.key < a.key) ? b : a; }
  void store(void* out, std::int64_t at, value v) const { static_cast<std::int64_t*>(out)[at] = v.index; }
};

/// Both halves of a c128.
struct two_words {
  std::uint64_t a, b;
};

/// Products of integers, logical and bitwise operations.
template <class Bits>
struct bits_kind {
  using in = Bits;
  using value = std::uint64_t;
  static constexpr bool exact = true;
  reduce_op op;
  element_type out_type;
  std::uint64_t mask = ~std::uint64_t{0};  ///< of logical operations: the bits that count, for -0 is 0
  std::uint64_t sign = 0;                  ///< of products of signed integers

  explicit bits_kind(const detail::reduce_args& a) : op(a.op), out_type(a.out_type) {
    constexpr std::uint64_t top = std::uint64_t{1} << (8 * (sizeof(Bits) > 8 ? 8 : sizeof(Bits)) - 1);
    if (is_signed_integer(a.in_type)) sign = top;
    if (a.in_type >= element_type::f16) mask = ~top;
    if (a.in_type == element_type::c64) mask = 0x7fffffff7fffffff;
  }
  value none() const { return op == reduce_op::product ? 1 : op == reduce_op::bitwise_and ? ~std::uint64_t{0} : 0; }
  value load(Bits element, std::int64_t) const {
    if (op == reduce_op::product) return (word(element) ^ sign) - sign;
    if (op >= reduce_op::bitwise_and) return word(element);
    // The number of elements that are not zero; of those that are for `and`.
    return ((word(element) & mask) == 0) == (op == reduce_op::logical_and) ? 1 : 0;
  }
  value combine(value a, value b) const {
    switch (op) {
      case reduce_op::product:
        return a * b;
      case reduce_op::bitwise_and:
        return a & b;
      case reduce_op::bitwise_or:
        return a | b;
      case reduce_op::bitwise_xor:
        return a ^ b;
      default:
        return a + b;
    }
  }
  void store(void* out, std::int64_t at, value v) const {
    if (op == reduce_op::logical_and) v = v == 0 ? 1 : 0;
    if (op == reduce_op::logical_or) v = v != 0 ? 1 : 0;
    if (op == reduce_op::logical_xor) v &= 1;
    store_bits(out, at, v, out_type);
  }

 private:
  static std::uint64_t word(std::uint64_t bits) { return bits; }
  static std::uint64_t word(two_words bits) { return bits.a | bits.b; }
};

}  // namespace twill::cpu
