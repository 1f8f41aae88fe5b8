#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include <twill/element.hpp>

namespace {

using twill::bfloat16;
using twill::float16;

std::uint16_t half_bits(float value) {
  return float16(value).bits;
}

template <class Half>
Half from_bits(unsigned bits) {
  Half half;
  half.bits = static_cast<std::uint16_t>(bits);
  return half;
}

}  // namespace

TEST_SUITE_BEGIN("element");

TEST_CASE("literal: names and sizes") {
  CHECK(twill::name(twill::element_type::bf16) == "bf16");
  CHECK(twill::name(twill::element_type::c128) == "c128");
  CHECK(twill::element_bytes(twill::element_type::i8) == 1);
  CHECK(twill::element_bytes(twill::element_type::c128) == 16);
  CHECK(twill::element_bytes(twill::element_type_of<std::complex<float>>) == 8);
  CHECK(twill::element_type_of<std::uint64_t> == twill::element_type::u64);
}

TEST_CASE("literal: float16") {
  CHECK(half_bits(1.0f) == 0x3c00);
  CHECK(half_bits(-2.0f) == 0xc000);
  CHECK(half_bits(65504.0f) == 0x7bff);
  CHECK(half_bits(65519.0f) == 0x7bff);
  CHECK(half_bits(65520.0f) == 0x7c00);
  CHECK(half_bits(0x1p-24f) == 1);
  CHECK(half_bits(0x1p-25f) == 0);
  CHECK(half_bits(0x1.8p-25f) == 1);
  CHECK(half_bits(-0.0f) == 0x8000);
  CHECK(half_bits(1.0f + 0x1p-11f) == 0x3c00);  // a tie: to even
  CHECK(half_bits(1.0f + 0x3p-11f) == 0x3c02);
  CHECK(half_bits(std::numeric_limits<float>::infinity()) == 0x7c00);
  CHECK(std::isnan(static_cast<float>(float16(std::nanf("")))));
}

TEST_CASE("literal: bfloat16") {
  CHECK(bfloat16(1.0f).bits == 0x3f80);
  CHECK(bfloat16(1.0f + 0x1p-8f).bits == 0x3f80);
  CHECK(bfloat16(1.0f + 0x3p-8f).bits == 0x3f82);
  CHECK(bfloat16(std::numeric_limits<float>::max()).bits == 0x7f80);
  CHECK(std::isnan(static_cast<float>(bfloat16(std::nanf("")))));
}

TEST_CASE("reference: every half converts to float and back") {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const float wide = static_cast<float>(from_bits<float16>(bits));
    const unsigned magnitude = bits & 0x7fffu;
    if (magnitude > 0x7c00u) {
      CHECK(std::isnan(wide));
      CHECK(std::isnan(static_cast<float>(float16(wide))));
    } else {
      CHECK(float16(wide).bits == bits);
      // By the format's definition: fraction / 1024 * 2^(exponent - 15), without the hidden 1 below 2^-14.
      const int exponent = static_cast<int>(magnitude >> 10), fraction = static_cast<int>(magnitude & 0x3ffu);
      const double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
      if (magnitude < 0x7c00u) CHECK(std::fabs(wide) == value);
    }
    const float brain = static_cast<float>(from_bits<bfloat16>(bits));
    if (!std::isnan(brain)) CHECK(bfloat16(brain).bits == bits);
  }
}

TEST_SUITE_END();
