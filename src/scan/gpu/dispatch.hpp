#pragma once

// From run-time types to the kinds of operators.hpp.

#include <cstdint>

#include <twill/element.hpp>

#include "operators.hpp"

namespace twill::TWILL_BACKEND {

/// Calls f with the kind that sums elements of `type`.
template <class F>
void with_sum_kind(element_type type, F&& f) {
  switch (type) {
    case element_type::i8:
    case element_type::u8:
      return f(kernels::integer_sum<std::uint8_t>{});
    case element_type::i16:
    case element_type::u16:
      return f(kernels::integer_sum<std::uint16_t>{});
    case element_type::i32:
    case element_type::u32:
      return f(kernels::integer_sum<std::uint32_t>{});
    case element_type::i64:
    case element_type::u64:
      return f(kernels::integer_sum<std::uint64_t>{});
    case element_type::f16:
      return f(kernels::half_sum{});
    case element_type::bf16:
      return f(kernels::bfloat_sum{});
    case element_type::f32:
      return f(kernels::float_sum<float>{});
    case element_type::f64:
      return f(kernels::float_sum<double>{});
    case element_type::c64:
      return f(kernels::complex_sum<float>{});
    case element_type::c128:
      return f(kernels::complex_sum<double>{});
  }
}

/// The kind that takes the least, or with `max` the greatest, of integers.
template <class Word>
kernels::extreme<Word> integer_extreme(bool is_signed, bool max) {
  const Word sign = kernels::extreme<Word>::sign, all = static_cast<Word>(~Word{0});
  const Word flip = static_cast<Word>((is_signed ? sign : 0) ^ (max ? all : 0));
  return {flip, 0, 0, all};
}

/// The same of floating-point numbers with these bits of infinity and of NaN.
template <class Word>
kernels::extreme<Word> real_extreme(Word infinity, Word nan, bool max) {
  const Word sign = kernels::extreme<Word>::sign, flip = max ? static_cast<Word>(~Word{0}) : Word{0};
  // The identity is +infinity for min, -infinity for max; both have this key.
  return {flip, infinity, nan, static_cast<Word>(infinity | sign)};
}

/// Calls f with the kind that takes the least, or with `max` the greatest, of elements of `type`, which is real.
template <class F>
void with_extreme_kind(element_type type, bool max, F&& f) {
  switch (type) {
    case element_type::i8:
    case element_type::u8:
      return f(integer_extreme<std::uint8_t>(type == element_type::i8, max));
    case element_type::i16:
    case element_type::u16:
      return f(integer_extreme<std::uint16_t>(type == element_type::i16, max));
    case element_type::f16:
      return f(real_extreme<std::uint16_t>(0x7c00u, 0x7e00u, max));
    case element_type::bf16:
      return f(real_extreme<std::uint16_t>(0x7f80u, 0x7fc0u, max));
    case element_type::i32:
    case element_type::u32:
      return f(integer_extreme<std::uint32_t>(type == element_type::i32, max));
    case element_type::f32:
      return f(real_extreme<std::uint32_t>(0x7f800000u, 0x7fc00000u, max));
    case element_type::i64:
    case element_type::u64:
      return f(integer_extreme<std::uint64_t>(type == element_type::i64, max));
    case element_type::f64:
      return f(real_extreme<std::uint64_t>(0x7ff0000000000000u, 0x7ff8000000000000u, max));
    case element_type::c64:
    case element_type::c128:
      return;  // src/core refuses them
  }
}

}  // namespace twill::TWILL_BACKEND
