#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <twill/export.hpp>

namespace twill {

/// The types that operations with arithmetic take.
enum class element_type { i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128 };

/// "f32". Throws: invalid_argument when `type` is none of the enumerators.
TWILL_API std::string_view name(element_type type);

/// 4 for f32, 16 for c128. Throws: invalid_argument when `type` is none of the enumerators.
TWILL_API std::size_t element_bytes(element_type type);

/// An IEEE binary16 number as it is stored: 1 sign, 5 exponent, 10 fraction bits. Converts and compares, as numbers: a
/// NaN equals nothing, +0 equals -0. Does not calculate.
struct TWILL_API float16 {
  std::uint16_t bits = 0;

  float16() = default;
  /// Rounds to nearest, ties to even; too large is infinity, NaN stays NaN.
  explicit float16(float value) noexcept;
  /// Exact.
  explicit operator float() const noexcept;

  friend bool operator==(float16 a, float16 b) noexcept { return static_cast<float>(a) == static_cast<float>(b); }
  friend bool operator!=(float16 a, float16 b) noexcept { return !(a == b); }
};

/// The upper half of an IEEE binary32 number: 1 sign, 8 exponent, 7 fraction bits. Converts and compares as
/// float16 does.
struct TWILL_API bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;
  /// Rounds to nearest, ties to even; too large is infinity, NaN stays NaN.
  explicit bfloat16(float value) noexcept;
  /// Exact.
  explicit operator float() const noexcept;

  friend bool operator==(bfloat16 a, bfloat16 b) noexcept { return static_cast<float>(a) == static_cast<float>(b); }
  friend bool operator!=(bfloat16 a, bfloat16 b) noexcept { return !(a == b); }
};

namespace detail {

template <element_type Type>
struct element_is {
  static constexpr element_type value = Type;
};
struct no_element {};

template <std::size_t Bytes, bool IsSigned>
using integer_element = std::conditional_t<
    Bytes == 1, element_is<IsSigned ? element_type::i8 : element_type::u8>,
    std::conditional_t<Bytes == 2, element_is<IsSigned ? element_type::i16 : element_type::u16>,
                       std::conditional_t<Bytes == 4, element_is<IsSigned ? element_type::i32 : element_type::u32>,
                                          element_is<IsSigned ? element_type::i64 : element_type::u64>>>>;

template <class T, class = void>
struct is_complex : std::false_type {};
/// std::complex, thrust::complex, cuda::std::complex, Kokkos::complex and the like: known by what they can do.
template <class T>
struct is_complex<T, std::void_t<typename T::value_type, decltype(std::declval<const T&>().real()),
                                 decltype(std::declval<const T&>().imag())>>
    : std::bool_constant<
          (std::is_same<typename T::value_type, float>::value || std::is_same<typename T::value_type, double>::value) &&
          std::is_convertible<decltype(std::declval<const T&>().real()), typename T::value_type>::value &&
          sizeof(T) == 2 * sizeof(typename T::value_type)> {};

/// Ends with the qualified name of T, as compilers write it: "[T = __half]", "[with T=__half]".
template <class T>
constexpr const char* signature_with() {
  return __PRETTY_FUNCTION__;
}
template <class T>
constexpr std::string_view type_name() {
  const std::string_view signature = signature_with<T>();
  const std::size_t begin = signature.find_last_of("= ") + 1;
  return signature.substr(begin, signature.find_last_of(']') - begin);
}

/// The vendors' 16-bit numbers: known by name, so that none of their headers is needed.
constexpr bool names_half(std::string_view type) {
  return type == "__half";
}
constexpr bool names_bfloat16(std::string_view type) {
  return type == "__nv_bfloat16" || type == "__hip_bfloat16" || type == "hip_bfloat16";
}

template <class T>
constexpr auto element_known_by_form() {
  if constexpr (std::is_integral<T>::value && sizeof(T) <= 8) {
    return integer_element<sizeof(T), std::is_signed<T>::value>{};
  } else if constexpr (std::is_same<T, float>::value) {
    return element_is<element_type::f32>{};
  } else if constexpr (std::is_same<T, double>::value) {
    return element_is<element_type::f64>{};
  } else if constexpr (std::is_class<T>::value && sizeof(T) == 2 && names_half(type_name<T>())) {
    return element_is<element_type::f16>{};
  } else if constexpr (std::is_class<T>::value && sizeof(T) == 2 && names_bfloat16(type_name<T>())) {
    return element_is<element_type::bf16>{};
  } else if constexpr (is_complex<T>::value) {
    return element_is<sizeof(T) == 8 ? element_type::c64 : element_type::c128>{};
  } else {
    return no_element{};
  }
}

}  // namespace detail

/// Which element_type the bytes of a T are: `element_traits<T>::value`. It has that member for
///   - integers of every name by size and signedness: `long long`, `char`; bool is u8;
///   - twill::float16 and bfloat16; the vendors' __half, __nv_bfloat16, __hip_bfloat16, hip_bfloat16; _Float16 and
///   __bf16
///     where the compiler has them;
///   - float, double, std::complex of them and types of that form: value_type, real(), imag(), twice the size
///     (thrust::complex, cuda::std::complex, Kokkos::complex).
/// A specialisation adds a type of the application's:
///
///     template <> struct twill::element_traits<my_half> : twill::element_as<twill::element_type::f16> {};
template <class T>
struct element_traits : decltype(detail::element_known_by_form<T>()) {};

/// What a specialisation of element_traits derives from.
template <element_type Type>
using element_as = detail::element_is<Type>;

// clang-format off
template <> struct element_traits<float16> : element_as<element_type::f16> {};
template <> struct element_traits<bfloat16> : element_as<element_type::bf16> {};
#ifdef __FLT16_MANT_DIG__
template <> struct element_traits<_Float16> : element_as<element_type::f16> {};
#endif
#ifdef __BFLT16_MANT_DIG__
template <> struct element_traits<__bf16> : element_as<element_type::bf16> {};
#endif
// clang-format on

namespace detail {

template <class T, class = void>
struct has_element_type : std::false_type {};
template <class T>
struct has_element_type<T, std::void_t<decltype(element_traits<T>::value)>> : std::true_type {};

template <class T>
constexpr element_type checked_element_type() {
  static_assert(has_element_type<T>::value,
                "twill: T is no element type. Those are integers of 1, 2, 4 and 8 bytes, float16 and bfloat16 (twill's "
                "and the vendors'), float, double and their complex numbers; specialise twill::element_traits for a "
                "type of your own");
  if constexpr (has_element_type<T>::value) {
    return element_traits<T>::value;
  } else {
    return element_type::u8;  // after the message above
  }
}

}  // namespace detail

/// The element_type of a C++ type: `element_type_of<float>` is element_type::f32.
template <class T>
inline constexpr element_type element_type_of = detail::checked_element_type<std::remove_cv_t<T>>();

}  // namespace twill
