#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <twill/element.hpp>
#include <twill/scan.hpp>

namespace support {

/// What a plain loop calculates with: wide enough to be exact on the numbers that tests use, except integers, which
/// wrap around.
template <class T>
struct scan_number {
  using type = std::conditional_t<std::is_integral_v<T>, T, double>;
};
template <class R>
struct scan_number<std::complex<R>> {
  using type = std::complex<double>;
};
template <class T>
using scan_number_t = typename scan_number<T>::type;

template <class T>
scan_number_t<T> number_of(T x) {
  if constexpr (std::is_same_v<T, twill::float16> || std::is_same_v<T, twill::bfloat16>) {
    return static_cast<float>(x);
  } else {
    return static_cast<scan_number_t<T>>(x);
  }
}

template <class T>
T element_from(scan_number_t<T> x) {
  if constexpr (std::is_same_v<T, twill::float16> || std::is_same_v<T, twill::bfloat16>) {
    return T(static_cast<float>(x));
  } else {
    return static_cast<T>(x);
  }
}

template <class T>
scan_number_t<T> scan_identity(twill::scan_op op) {
  using limits = std::numeric_limits<scan_number_t<T>>;
  if constexpr (limits::is_specialized) {
    if (op == twill::scan_op::min) return limits::has_infinity ? limits::infinity() : limits::max();
    if (op == twill::scan_op::max) return limits::has_infinity ? -limits::infinity() : limits::lowest();
  }
  return {};
}

template <class Number>
Number scan_combine(twill::scan_op op, Number a, Number b) {
  if constexpr (std::is_arithmetic_v<Number>) {
    if (op != twill::scan_op::sum) {
      if (a != a || b != b) return a != a ? a : b;
      return (op == twill::scan_op::min ? b < a : a < b) ? b : a;
    }
    if constexpr (std::is_integral_v<Number>) {
      return static_cast<Number>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    }
  }
  return static_cast<Number>(a + b);
}

/// Scans in[0 ... count - 1], anew at every offset.
template <class T>
std::vector<T> scan_reference(const std::vector<T>& in, const std::vector<std::int64_t>& offsets,
                              const twill::scan_options& options) {
  std::vector<T> out(in.size());
  auto sum = scan_identity<T>(options.op);
  std::size_t next = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    for (; next < offsets.size() && offsets[next] <= static_cast<std::int64_t>(i); ++next) {
      sum = scan_identity<T>(options.op);
    }
    const auto before = sum;
    sum = scan_combine(options.op, sum, number_of(in[i]));
    out[i] = element_from<T>(options.exclusive ? before : sum);
  }
  return out;
}

}  // namespace support
