#pragma once

// The values a reduction combines, and how elements become values. Operations that share a kernel differ only in
// run-time parameters (op_params), which keeps the number of instantiations small.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "device.hpp"
#include "registers.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// The binary operation.
enum class combine_op : int { add, multiply, bits_or, bits_xor, minimum };

/// What an integer kernel maps the bits of an element to.
enum class element_map : int {
  number,   ///< sign-extended to 64 bits; flip: the sign bit of a signed type, else 0
  bits,     ///< XOR flip
  nonzero,  ///< 1 when one of the bits in flip is set; limit of 1: when none is
  key,      ///< orders as an unsigned number: see order_key
};

struct op_params {
  std::uint64_t flip = 0;   ///< XOR or AND mask of an element's bits: see element_map
  std::uint64_t limit = 0;  ///< of keys: the bits of infinity, all ones for integers; see element_map for nonzero
  int bytes = 0;            ///< of an element
  int shift = 0;            ///< log2 of them
  combine_op combine = combine_op::add;
  element_map map = element_map::number;
  bool is_float = false;     ///< keys: of floating-point numbers
  bool is_bfloat16 = false;  ///< halves: bfloat16
};

template <class T>
struct complex_value {
  T re, im;
};

/// The smallest key and its index; the lowest index among equals.
struct indexed_key {
  std::uint64_t key;
  std::int64_t index;
};

template <class To, class From>
__device__ inline To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  if constexpr (keeps_arrays_in_registers) {
    memcpy(&to, &from, sizeof to);
  } else {
    copy_bits(to, from);
  }
  return to;
}

// Shuffles take arithmetic types: applied component by component.

template <class T, class F>
__device__ inline T per_component(T value, F f) {
  return f(value);
}
template <class T, class F>
__device__ inline complex_value<T> per_component(complex_value<T> value, F f) {
  return {f(value.re), f(value.im)};
}
template <class F>
__device__ inline indexed_key per_component(indexed_key value, F f) {
  return {f(value.key), f(value.index)};
}

/// The value of lane + step.
template <class T>
__device__ inline T lane_above(T value, unsigned step) {
  return per_component(value, [step](auto part) { return shuffle_down(part, step); });
}
/// The value of lane ^ mask.
template <class T>
__device__ inline T lane_across(T value, int mask) {
  return per_component(value, [mask](auto part) { return shuffle_xor(part, mask); });
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
/// The textbook formula, except that 1 is an exact identity, which the formula violates for infinities and -0.
template <class T>
__device__ inline complex_value<T> product_of(complex_value<T> a, complex_value<T> b) {
  if (b.re == 1 && b.im == 0) return a;
  if (a.re == 1 && a.im == 0) return b;
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

__device__ inline std::uint64_t combined(std::uint64_t a, std::uint64_t b, combine_op rule) {
  switch (rule) {
    case combine_op::add:
      return a + b;
    case combine_op::multiply:
      return a * b;
    case combine_op::bits_or:
      return a | b;
    case combine_op::bits_xor:
      return a ^ b;
    default:
      return b < a ? b : a;
  }
}

__device__ inline indexed_key argmin(indexed_key a, indexed_key b) {
  const bool second = b.key < a.key || (b.key == a.key && b.index < a.index);
  if constexpr (keeps_arrays_in_registers) return second ? b : a;
  return {second ? b.key : a.key, second ? b.index : a.index};
}

/// A key whose unsigned order is the order of the elements; for floating point NaN orders first and -0 before +0.
/// params.flip: for integers the sign bit of a signed type, inverted for a maximum; for floating point 0, all ones for
/// a maximum. `top`: the sign bit.
template <class Bits>
__device__ inline Bits order_key(Bits bits, Bits top, const op_params& params) {
  const auto rest = static_cast<Bits>(top - 1), flip = static_cast<Bits>(params.flip);
  if (sizeof(Bits) == 1 || !params.is_float) return static_cast<Bits>(bits ^ flip);
  const Bits ordered = static_cast<Bits>((bits & top) != 0 ? bits ^ (top | rest) : bits | top);
  return static_cast<Bits>(bits & rest) > static_cast<Bits>(params.limit) ? Bits{0} : static_cast<Bits>(ordered ^ flip);
}

__device__ inline std::uint64_t mapped(std::uint64_t bits, const op_params& params) {
  switch (params.map) {
    case element_map::number:
      return (bits ^ params.flip) - params.flip;
    case element_map::bits:
      return bits ^ params.flip;
    case element_map::nonzero:
      return ((bits & params.flip) != 0 ? 1u : 0u) ^ static_cast<unsigned>(params.limit);
    default:
      return order_key(bits, std::uint64_t{1} << (8 * params.bytes - 1), params);
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
