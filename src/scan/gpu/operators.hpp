#pragma once

// The policies of the scan kernel (`Kind`), passed by value: conversion between elements in memory and values in
// registers, and the binary operation, whose left operand comes first.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

template <class To, class From>
__device__ inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

/// Sums of integers, modulo 2^bits: signed and unsigned alike.
template <class Word>
struct integer_sum {
  using element = Word;
  using value = std::conditional_t<sizeof(Word) == 8, std::uint64_t, std::uint32_t>;
  __device__ value identity() const { return 0; }
  __device__ value load(element x) const { return x; }
  __device__ element store(value v) const { return static_cast<element>(v); }
  __device__ value combine(value a, value b) const { return a + b; }
};

template <class Real>
struct float_sum {
  using element = Real;
  using value = Real;
  __device__ value identity() const { return 0; }
  __device__ value load(element x) const { return x; }
  __device__ element store(value v) const { return v; }
  __device__ value combine(value a, value b) const { return a + b; }
};

/// 16-bit floating point, accumulated in float.
struct half_sum {
  using element = std::uint16_t;
  using value = float;
  __device__ value identity() const { return 0; }
  __device__ value load(element x) const { return float_from_half(x); }
  __device__ element store(value v) const { return half_from_float(v); }
  __device__ value combine(value a, value b) const { return a + b; }
};

struct bfloat_sum {
  using element = std::uint16_t;
  using value = float;
  __device__ value identity() const { return 0; }
  __device__ value load(element x) const { return bits_as<float>(static_cast<std::uint32_t>(x) << 16); }
  /// To the nearest, ties to even. The bits of a NaN must not carry into infinity.
  __device__ element store(value v) const {
    const auto bits = bits_as<std::uint32_t>(v);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<element>(bits >> 16 | 0x40u);
    return static_cast<element>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
  }
  __device__ value combine(value a, value b) const { return a + b; }
};

template <class Real>
struct complex_value {
  Real real, imaginary;
};

template <class Real>
struct complex_sum {
  using element = complex_value<Real>;
  using value = complex_value<Real>;
  __device__ value identity() const { return {0, 0}; }
  __device__ value load(element x) const { return x; }
  __device__ element store(value v) const { return v; }
  __device__ value combine(value a, value b) const { return {a.real + b.real, a.imaginary + b.imaginary}; }
};

/// Min and max of all real types, as the minimum of unsigned keys. Integers: bits XOR flip. Floating point: a key in
/// the order of the numbers, -0 below +0; NaN is key 0, below everything. No element of 1 byte is floating point.
template <class Word>
struct extreme {
  using element = Word;
  using value = std::conditional_t<sizeof(Word) == 8, std::uint64_t, std::uint32_t>;
  static constexpr Word sign = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
  static constexpr bool may_be_real = sizeof(Word) > 1;

  Word flip;      ///< makes signed unsigned and max min
  Word infinity;  ///< the bits of infinity; 0 for integers
  Word nan;       ///< the bits that key 0 becomes
  Word last;      ///< the identity's key

  __device__ value identity() const { return last; }
  __device__ value load(element x) const {
    if (may_be_real && infinity != 0) {
      if (static_cast<Word>(x & ~sign) > infinity) return 0;
      x = static_cast<Word>(x & sign ? ~x : x | sign);
    }
    return static_cast<Word>(x ^ flip);
  }
  __device__ element store(value key) const {
    const Word x = static_cast<Word>(static_cast<Word>(key) ^ flip);
    if (!may_be_real || infinity == 0) return x;
    if (key == 0) return nan;
    return static_cast<Word>(x & sign ? x & ~sign : ~x);
  }
  __device__ value combine(value a, value b) const { return a < b ? a : b; }
};

/// A value with a head flag: whether a segment starts in the range it sums; then it is the sum from the last head on.
template <class Value>
struct segment_value {
  Value sum;
  std::uint32_t head;
};

/// A segmented kind: nothing is carried across a head flag.
template <class Kind>
struct in_segments {
  using element = typename Kind::element;
  using value = segment_value<typename Kind::value>;
  Kind kind;
  __device__ value identity() const { return {kind.identity(), 0}; }
  __device__ value load(element x) const { return {kind.load(x), 0}; }
  __device__ element store(value v) const { return kind.store(v.sum); }
  __device__ value combine(value a, value b) const {
    return {b.head != 0 ? b.sum : kind.combine(a.sum, b.sum), a.head | b.head};
  }
  /// The carry into an element with or without a head flag.
  __device__ value enter(value before, bool head) const { return head ? value{kind.identity(), 1} : before; }
};

template <class Kind>
inline constexpr bool has_segments = false;
template <class Kind>
inline constexpr bool has_segments<in_segments<Kind>> = true;

// Shuffles take arithmetic types: applied component by component.

template <class Value>
__device__ inline Value from_lane_below(Value v, unsigned delta) {
  return shuffle_up(v, delta);
}
template <class Real>
__device__ inline complex_value<Real> from_lane_below(complex_value<Real> v, unsigned delta) {
  return {shuffle_up(v.real, delta), shuffle_up(v.imaginary, delta)};
}
template <class Value>
__device__ inline segment_value<Value> from_lane_below(segment_value<Value> v, unsigned delta) {
  return {from_lane_below(v.sum, delta), shuffle_up(v.head, delta)};
}

template <class Value>
__device__ inline Value from_lane_across(Value v, int mask) {
  return shuffle_xor(v, mask);
}
template <class Real>
__device__ inline complex_value<Real> from_lane_across(complex_value<Real> v, int mask) {
  return {shuffle_xor(v.real, mask), shuffle_xor(v.imaginary, mask)};
}
template <class Value>
__device__ inline segment_value<Value> from_lane_across(segment_value<Value> v, int mask) {
  return {from_lane_across(v.sum, mask), shuffle_xor(v.head, mask)};
}

template <class Value>
__device__ inline Value from_one_lane(Value v, int lane) {
  return shuffle(v, lane);
}
template <class Real>
__device__ inline complex_value<Real> from_one_lane(complex_value<Real> v, int lane) {
  return {shuffle(v.real, lane), shuffle(v.imaginary, lane)};
}
template <class Value>
__device__ inline segment_value<Value> from_one_lane(segment_value<Value> v, int lane) {
  return {from_one_lane(v.sum, lane), shuffle(v.head, lane)};
}

}  // namespace twill::TWILL_BACKEND::kernels
