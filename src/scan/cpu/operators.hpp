#pragma once

// What a scan adds up, on the CPU: elements of memory as values, and how values combine.

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <twill/element.hpp>

namespace twill::cpu {

template <class T>
inline constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

/// Unsigned for integers, which wrap around; float for numbers of 16 bits.
template <class T, class = void>
struct value_of {
  using type = T;
};
template <class T>
struct value_of<T, std::enable_if_t<std::is_integral_v<T>>> {
  using type = std::make_unsigned_t<T>;
};
template <class T>
struct value_of<T, std::enable_if_t<is_half<T>>> {
  using type = float;
};

template <class T>
struct scan_sum {
  using element = T;
  using value = typename value_of<T>::type;
  static value identity() { return value{}; }
  static value load(element x) { return static_cast<value>(x); }
  static element store(value v) { return static_cast<element>(v); }
  static value combine(value a, value b) { return static_cast<value>(a + b); }
};

/// NaN wins; -0 is below +0.
template <class T, bool Max>
struct scan_extreme {
  using element = T;
  using value = std::conditional_t<is_half<T>, float, T>;
  static value identity() {
    using limits = std::numeric_limits<value>;
    if constexpr (limits::has_infinity) return Max ? -limits::infinity() : limits::infinity();
    return Max ? limits::lowest() : limits::max();
  }
  static value load(element x) { return static_cast<value>(x); }
  static element store(value v) { return static_cast<element>(v); }
  static value combine(value a, value b) {
    if constexpr (std::is_floating_point_v<value>) {
      if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<value>::quiet_NaN();
      if (a == b) return std::signbit(a) != Max ? a : b;
    }
    return (Max ? b < a : a < b) ? a : b;
  }
};

/// Calls f with the kind that does `op` on elements of `type`.
template <class T, class F>
void with_operation(bool is_sum, bool max, F&& f) {
  if (is_sum) return f(scan_sum<T>{});
  if (max) return f(scan_extreme<T, true>{});
  f(scan_extreme<T, false>{});
}

template <class F>
void with_scan_kind(element_type type, bool is_sum, bool max, F&& f) {
  switch (type) {
    case element_type::i8:
      return with_operation<std::int8_t>(is_sum, max, f);
    case element_type::i16:
      return with_operation<std::int16_t>(is_sum, max, f);
    case element_type::i32:
      return with_operation<std::int32_t>(is_sum, max, f);
    case element_type::i64:
      return with_operation<std::int64_t>(is_sum, max, f);
    case element_type::u8:
      return with_operation<std::uint8_t>(is_sum, max, f);
    case element_type::u16:
      return with_operation<std::uint16_t>(is_sum, max, f);
    case element_type::u32:
      return with_operation<std::uint32_t>(is_sum, max, f);
    case element_type::u64:
      return with_operation<std::uint64_t>(is_sum, max, f);
    case element_type::f16:
      return with_operation<float16>(is_sum, max, f);
    case element_type::bf16:
      return with_operation<bfloat16>(is_sum, max, f);
    case element_type::f32:
      return with_operation<float>(is_sum, max, f);
    case element_type::f64:
      return with_operation<double>(is_sum, max, f);
    case element_type::c64:
      return f(scan_sum<std::complex<float>>{});
    case element_type::c128:
      return f(scan_sum<std::complex<double>>{});
  }
}

}  // namespace twill::cpu
