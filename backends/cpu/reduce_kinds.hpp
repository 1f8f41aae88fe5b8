#pragma once

// What the CPU's reductions calculate with: see reduce_tree.hpp for what a kind is. `store` leaves a result.

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <twill/element.hpp>

namespace twill::cpu {

template <class T>
inline constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

/// What sums and products are calculated in: integers modulo 2^64, halves in float.
template <class T>
using calculated = std::conditional_t<std::is_integral_v<T>, std::uint64_t, std::conditional_t<is_half<T>, float, T>>;

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
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(element));  // of unsigned ones: zero-extended
  } else if constexpr (is_half<T>) {
    return number(element);
  } else {
    return element;
  }
}

template <class Out, class Value>
void store_number(void* out, std::int64_t at, Value value) {
  Out* to = static_cast<Out*>(out) + at;
  if constexpr (std::is_integral_v<Out>) {
    *to = static_cast<Out>(value);
  } else if constexpr (is_half<Out>) {
    *to = Out(same_nan(value));
  } else {
    *to = same_nan(value);
  }
}

template <class T>
T minus_zero() {
  if constexpr (std::is_integral_v<T>) {
    return 0;
  } else if constexpr (is_half<T>) {
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

template <class In, class Out>
struct sum_kind {
  using in = In;
  using value = calculated<In>;
  In pad = minus_zero<In>();
  In empty = In();
  static value load(In element, std::int64_t) { return calculated_from(element); }
  static value combine(value a, value b) { return a + b; }
  static void store(void* out, std::int64_t at, value v) { store_number<Out>(out, at, v); }
};

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

template <class In, class Out>
struct product_kind {
  using in = In;
  using value = calculated<In>;
  In pad = one<In>();
  In empty = one<In>();
  static value load(In element, std::int64_t) { return calculated_from(element); }
  static value combine(value a, value b) { return product_of(a, b); }
  static void store(void* out, std::int64_t at, value v) { store_number<Out>(out, at, v); }
};

/// Bits of an element that order as unsigned numbers: NaN first of all, -0 before +0.
template <class T, bool Largest>
struct order_key {
  using bits = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                  std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                                     std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
  static constexpr bits top = static_cast<bits>(bits{1} << (8 * sizeof(T) - 1)), all = static_cast<bits>(~bits{0});
  static constexpr bits turn = Largest ? all : 0;
  static constexpr bits infinity = std::is_same_v<T, float16>    ? static_cast<bits>(0x7c00)
                                   : std::is_same_v<T, bfloat16> ? static_cast<bits>(0x7f80)
                                   : sizeof(T) == 4              ? static_cast<bits>(0x7f800000)
                                                                 : static_cast<bits>(0x7ff0000000000000);
  static bits of(T element) {
    bits b;
    std::memcpy(&b, &element, sizeof b);
    if constexpr (std::is_integral_v<T>) {
      return static_cast<bits>(b ^ (std::is_signed_v<T> ? top : bits{0}) ^ turn);
    } else {
      const bits turned = static_cast<bits>((b & top) != 0 ? ~b : b | top);
      return (b & (all ^ top)) > infinity ? bits{0} : static_cast<bits>(turned ^ turn);
    }
  }
  static T back(bits key) {
    bits b = static_cast<bits>(key ^ turn);
    if constexpr (std::is_integral_v<T>) {
      b = static_cast<bits>(b ^ (std::is_signed_v<T> ? top : bits{0}));
    } else {
      b = key == 0 ? static_cast<bits>(all ^ top) : static_cast<bits>((b & top) != 0 ? b ^ top : ~b);
    }
    T element;
    std::memcpy(static_cast<void*>(&element), &b, sizeof b);
    return element;
  }
  /// The number that every other comes before.
  static T last() {
    if constexpr (std::is_integral_v<T>) {
      return back(all);
    } else {
      const bits b = static_cast<bits>(infinity | (Largest ? top : bits{0}));
      T element;
      std::memcpy(static_cast<void*>(&element), &b, sizeof b);
      return element;
    }
  }
};

template <class In, bool Largest>
struct extreme_kind {
  using key = order_key<In, Largest>;
  using in = In;
  using value = typename key::bits;
  In pad = key::last();
  In empty = key::last();
  static value load(In element, std::int64_t) { return key::of(element); }
  static value combine(value a, value b) { return b < a ? b : a; }
  static void store(void* out, std::int64_t at, value v) {
    const In element = key::back(v);
    static_cast<In*>(out)[at] = element;
  }
};

template <class Bits>
struct placed {
  Bits key;
  std::int64_t place;
};

template <class In, bool Largest>
struct place_kind {
  using key = order_key<In, Largest>;
  using in = In;
  using value = placed<typename key::bits>;
  In pad = key::last();
  In empty = key::last();
  static value load(In element, std::int64_t place) { return {key::of(element), place}; }
  static value combine(value a, value b) { return b.key < a.key || (b.key == a.key && b.place < a.place) ? b : a; }
  static void store(void* out, std::int64_t at, value v) { static_cast<std::int64_t*>(out)[at] = v.place; }
};

enum class logic { all, any, odd };

/// Counts elements that are not zero; for `all`, those that are.
template <class In, logic What>
struct logic_kind {
  using in = In;
  using value = std::uint64_t;
  In pad = What == logic::all ? one<In>() : In();
  In empty = pad;
  static value load(In element, std::int64_t) {
    bool is_zero;
    if constexpr (is_half<In>) {
      is_zero = (element.bits & 0x7fffu) == 0;
    } else {
      is_zero = element == In();
    }
    return is_zero == (What == logic::all) ? 1 : 0;
  }
  static value combine(value a, value b) { return a + b; }
  static void store(void* out, std::int64_t at, value v) {
    const bool result = What == logic::all ? v == 0 : What == logic::any ? v != 0 : (v & 1) != 0;
    static_cast<std::uint8_t*>(out)[at] = result ? 1 : 0;
  }
};

enum class bitwise { all, any, odd };

template <class In, bitwise What>
struct bitwise_kind {
  using in = In;
  using value = In;
  In pad = What == bitwise::all ? static_cast<In>(~In{0}) : In{0};
  In empty = pad;
  static value load(In element, std::int64_t) { return element; }
  static value combine(value a, value b) {
    return static_cast<In>(What == bitwise::all ? a & b : What == bitwise::any ? a | b : a ^ b);
  }
  static void store(void* out, std::int64_t at, value v) { static_cast<In*>(out)[at] = v; }
};

}  // namespace twill::cpu
