#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <twill/reduce.hpp>

namespace support {

template <class T>
inline constexpr bool is_half = std::is_same_v<T, twill::float16> || std::is_same_v<T, twill::bfloat16>;
template <class T>
inline constexpr bool is_complex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

/// An integer as an element of T.
template <class T>
T element(int value) {
  if constexpr (is_half<T>) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

/// An element as a number that C++ orders and calculates with.
template <class T>
auto number(T value) {
  if constexpr (is_half<T>) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}

/// What one plain loop finds in an array. Sums and products are those that T holds exactly, or that wrap around.
template <class T>
struct tally {
  using number_type = decltype(number(T{}));
  using calculated = std::conditional_t<std::is_integral_v<T>, std::uint64_t, number_type>;
  calculated sum = calculated(0), product = calculated(1);
  std::int64_t place = -1, nonzero = 0;
  std::uint64_t all = ~std::uint64_t{0}, any = 0, odd = 0;
  number_type extreme{};

  tally(const T* in, std::int64_t count, bool least) {
    for (std::int64_t i = 0; i < count; ++i) add(number(in[i]), i, least);
  }

 private:
  void add(number_type x, std::int64_t i, bool least) {
    sum += static_cast<calculated>(x);
    product *= static_cast<calculated>(x);
    nonzero += x != number_type(0) ? 1 : 0;
    if constexpr (std::is_integral_v<T>) {
      const auto bits = static_cast<std::uint64_t>(std::int64_t{0} + x);
      all &= bits;
      any |= bits;
      odd ^= bits;
    }
    if constexpr (!is_complex<T>) {
      const bool was_nan = place >= 0 && extreme != extreme;
      if (place < 0 || (!was_nan && (x != x || (least ? x < extreme : extreme < x)))) {
        extreme = x;
        place = i;
      }
    }
  }
};

/// The minimum or maximum of no numbers.
template <class N>
N extreme_of_none(bool least) {
  using limits = std::numeric_limits<N>;
  if (limits::has_infinity) return least ? limits::infinity() : -limits::infinity();
  return least ? limits::max() : limits::lowest();
}

template <class Out, class N>
Out converted(N value) {
  if constexpr (is_half<Out>) {
    return Out(static_cast<float>(value));
  } else if constexpr (std::is_constructible_v<Out, N>) {
    return static_cast<Out>(value);
  } else {
    return Out{};  // no operation has such a result
  }
}

/// The result of the plain loop. Of nothing: the documented result, -1 for a place.
template <class T, class Out>
Out reduce_reference(twill::reduce_op op, const T* in, std::int64_t count) {
  using twill::reduce_op;
  const bool least = op == reduce_op::min || op == reduce_op::argmin;
  const tally<T> found(in, count, least);
  switch (op) {
    case reduce_op::sum:
      return converted<Out>(found.sum);
    case reduce_op::product:
      return converted<Out>(found.product);
    case reduce_op::argmin:
    case reduce_op::argmax:
      return converted<Out>(found.place);
    case reduce_op::logical_and:
      return converted<Out>(found.nonzero == count ? 1 : 0);
    case reduce_op::logical_or:
      return converted<Out>(found.nonzero != 0 ? 1 : 0);
    case reduce_op::logical_xor:
      return converted<Out>(found.nonzero & 1);
    case reduce_op::bitwise_and:
      return converted<Out>(found.all);
    case reduce_op::bitwise_or:
      return converted<Out>(found.any);
    case reduce_op::bitwise_xor:
      return converted<Out>(found.odd);
    default:
      break;
  }
  if constexpr (is_complex<T>) {
    return Out{};
  } else {
    return converted<Out>(found.place < 0 ? extreme_of_none<typename tally<T>::number_type>(least) : found.extreme);
  }
}

}  // namespace support
