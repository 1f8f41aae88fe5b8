#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <twill/export.hpp>

namespace twill {

/// The types that operations with arithmetic take.
enum class element_type { i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128 };

/// "f32"
TWILL_API std::string_view name(element_type type) noexcept;

/// 4 for f32, 16 for c128.
TWILL_API std::size_t element_bytes(element_type type) noexcept;

/// An IEEE binary16 number as it is stored: 1 sign, 5 exponent, 10 fraction bits. Converts; does not calculate.
struct TWILL_API float16 {
  std::uint16_t bits = 0;

  float16() = default;
  /// Rounds to nearest, ties to even; too large is infinity, NaN stays NaN.
  explicit float16(float value) noexcept;
  /// Exact.
  explicit operator float() const noexcept;
};

/// The upper half of an IEEE binary32 number: 1 sign, 8 exponent, 7 fraction bits. Converts; does not calculate.
struct TWILL_API bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;
  /// Rounds to nearest, ties to even; too large is infinity, NaN stays NaN.
  explicit bfloat16(float value) noexcept;
  /// Exact.
  explicit operator float() const noexcept;
};

namespace detail {

template <class T>
struct element_of;  // defined for the types below, and for no other

template <element_type Type>
struct element_is {
  static constexpr element_type value = Type;
};

// clang-format off
template <> struct element_of<std::int8_t> : element_is<element_type::i8> {};
template <> struct element_of<std::int16_t> : element_is<element_type::i16> {};
template <> struct element_of<std::int32_t> : element_is<element_type::i32> {};
template <> struct element_of<std::int64_t> : element_is<element_type::i64> {};
template <> struct element_of<std::uint8_t> : element_is<element_type::u8> {};
template <> struct element_of<std::uint16_t> : element_is<element_type::u16> {};
template <> struct element_of<std::uint32_t> : element_is<element_type::u32> {};
template <> struct element_of<std::uint64_t> : element_is<element_type::u64> {};
template <> struct element_of<float16> : element_is<element_type::f16> {};
template <> struct element_of<bfloat16> : element_is<element_type::bf16> {};
template <> struct element_of<float> : element_is<element_type::f32> {};
template <> struct element_of<double> : element_is<element_type::f64> {};
template <> struct element_of<std::complex<float>> : element_is<element_type::c64> {};
template <> struct element_of<std::complex<double>> : element_is<element_type::c128> {};
// clang-format on

}  // namespace detail

/// The element_type of a C++ type: `element_type_of<float>` is element_type::f32. For no other types than those.
template <class T>
inline constexpr element_type element_type_of = detail::element_of<T>::value;

}  // namespace twill
