#pragma once

// What a reduction calculates with: values, and what they are made of. A constant of the call (reduce_terms) tells
// apart the operations that share a kernel, so that few kernels serve all operations and types.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// How two values become one.
enum class reduce_rule : int { add, multiply, bits_or, bits_xor, least };

/// What an integer kernel makes of the bits of an element.
enum class reduce_view : int {
  number,   ///< 64 bits wide, its sign extended; flip: the sign bit of a signed type, else 0
  bits,     ///< flip turned around
  nonzero,  ///< 1 when one of the bits in flip is set; limit of 1: when none is
  key,      ///< orders as an unsigned number: see order_key
};

struct reduce_terms {
  std::uint64_t flip = 0;   ///< bits of an element that are turned around, or that count: see reduce_view
  std::uint64_t limit = 0;  ///< of keys: the bits of infinity, all ones for integers; see reduce_view for nonzero
  int bytes = 0;            ///< of an element
  int shift = 0;            ///< log2 of them
  reduce_rule rule = reduce_rule::add;
  reduce_view view = reduce_view::number;
  bool is_float = false;  ///< keys: of floating-point numbers
  bool is_brain = false;  ///< halves: bfloat16
};

template <class T>
struct complex_value {
  T re, im;
};

/// The smallest key, and where it was: the first of equals.
struct placed_key {
  std::uint64_t key;
  std::int64_t place;
};

template <class To, class From>
__device__ inline To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

// Values move between lanes as their arithmetic parts.

template <class T, class Move>
__device__ inline T moved(T value, Move move) {
  return move(value);
}
template <class T, class Move>
__device__ inline complex_value<T> moved(complex_value<T> value, Move move) {
  return {move(value.re), move(value.im)};
}
template <class Move>
__device__ inline placed_key moved(placed_key value, Move move) {
  return {move(value.key), move(value.place)};
}

/// The value of the lane `step` above.
template <class T>
__device__ inline T lane_above(T value, unsigned step) {
  return moved(value, [step](auto part) { return shuffle_down(part, step); });
}
/// The value of the lane whose number differs by the bits of `mask`.
template <class T>
__device__ inline T lane_across(T value, int mask) {
  return moved(value, [mask](auto part) { return shuffle_xor(part, mask); });
}

// Sums and products of floating-point numbers.

template <class T>
__device__ inline T sum_of(T a, T b) {
  return a + b;
}
template <class T>
__device__ inline complex_value<T> sum_of(complex_value<T> a, complex_value<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
__device__ inline T product_of(T a, T b) {
  return a * b;
}
/// The rule of schoolbooks; but 1 changes nothing, which that rule does not grant for infinities and -0.
template <class T>
__device__ inline complex_value<T> product_of(complex_value<T> a, complex_value<T> b) {
  if (b.re == 1 && b.im == 0) return a;
  if (a.re == 1 && a.im == 0) return b;
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

__device__ inline std::uint64_t calculated(std::uint64_t a, std::uint64_t b, reduce_rule rule) {
  switch (rule) {
    case reduce_rule::add:
      return a + b;
    case reduce_rule::multiply:
      return a * b;
    case reduce_rule::bits_or:
      return a | b;
    case reduce_rule::bits_xor:
      return a ^ b;
    default:
      return b < a ? b : a;
  }
}

__device__ inline placed_key first_least(placed_key a, placed_key b) {
  const bool second = b.key < a.key || (b.key == a.key && b.place < a.place);
  return second ? b : a;
}

/// Bits that order as unsigned numbers; of floating point, NaN first of all and -0 before +0. terms.flip: integers:
/// the sign bit of signed ones, inverted for a maximum; floating point: 0, all ones for a maximum. `top`: the sign bit.
template <class Bits>
__device__ inline Bits order_key(Bits bits, Bits top, const reduce_terms& terms) {
  const auto rest = static_cast<Bits>(top - 1), flip = static_cast<Bits>(terms.flip);
  if (sizeof(Bits) == 1 || !terms.is_float) return static_cast<Bits>(bits ^ flip);
  const Bits turned = static_cast<Bits>((bits & top) != 0 ? bits ^ (top | rest) : bits | top);
  return static_cast<Bits>(bits & rest) > static_cast<Bits>(terms.limit) ? Bits{0} : static_cast<Bits>(turned ^ flip);
}

/// What an integer kernel makes of an element.
__device__ inline std::uint64_t viewed(std::uint64_t bits, const reduce_terms& terms) {
  switch (terms.view) {
    case reduce_view::number:
      return (bits ^ terms.flip) - terms.flip;
    case reduce_view::bits:
      return bits ^ terms.flip;
    case reduce_view::nonzero:
      return ((bits & terms.flip) != 0 ? 1u : 0u) ^ static_cast<unsigned>(terms.limit);
    default:
      return order_key(bits, std::uint64_t{1} << (8 * terms.bytes - 1), terms);
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
