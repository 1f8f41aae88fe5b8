#include <twill/element.hpp>

#include <cstring>

#include "core/arguments.hpp"
#include "core/call.hpp"

namespace twill {
namespace {

constexpr std::size_t type_count = 14;
constexpr std::string_view names[type_count] = {"i8",  "i16", "i32",  "i64", "u8",  "u16", "u32",
                                                "u64", "f16", "bf16", "f32", "f64", "c64", "c128"};
constexpr std::size_t sizes[type_count] = {1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};

std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// bits / 2^shift, rounded to nearest, ties to even.
std::uint32_t rounded_shift(std::uint32_t bits, unsigned shift) {
  const std::uint32_t kept = bits >> shift, rest = bits & ((1u << shift) - 1), half = 1u << (shift - 1);
  return kept + (rest > half || (rest == half && (kept & 1u) != 0) ? 1 : 0);
}

std::size_t checked_index(const char* operation, element_type type) {
  detail::in_call(operation, [&] { detail::require_element_type(type); });
  return static_cast<std::size_t>(type);
}

constexpr std::uint32_t infinity = 0x7f800000u;

std::uint16_t to_float16(float value) {
  const std::uint32_t bits = bits_of(value), magnitude = bits & 0x7fffffffu;
  const std::uint32_t sign = bits >> 16 & 0x8000u;
  std::uint32_t half;
  if (magnitude > infinity) {
    half = 0x7e00u | (magnitude >> 13 & 0x3ffu);
  } else if (magnitude >= 0x47800000u) {  // 65536 and more
    half = 0x7c00u;
  } else if (magnitude >= 0x38800000u) {  // 2^-14 and more: normal; rounding may carry into the exponent, rightly
    half = rounded_shift(magnitude - 0x38000000u, 13);
  } else if (magnitude >= 0x33000000u) {  // 2^-25 and more: subnormal, in units of 2^-24
    const unsigned exponent = magnitude >> 23;
    half = rounded_shift((magnitude & 0x7fffffu) | 0x800000u, 126 - exponent);
  } else {
    half = 0;
  }
  return static_cast<std::uint16_t>(sign | half);
}

}  // namespace

std::string_view name(element_type type) {
  return names[checked_index("name", type)];
}

std::size_t element_bytes(element_type type) {
  return sizes[checked_index("element_bytes", type)];
}

float16::float16(float value) noexcept : bits(to_float16(value)) {}

float16::operator float() const noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return float_of(sign | infinity | (magnitude & 0x3ffu) << 13);
  if (magnitude >= 0x400u) return float_of(sign | ((magnitude << 13) + 0x38000000u));
  const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
  return float_of(sign | bits_of(subnormal));
}

bfloat16::bfloat16(float value) noexcept {
  const std::uint32_t word = bits_of(value);
  const bool is_nan = (word & 0x7fffffffu) > infinity;
  bits = static_cast<std::uint16_t>(is_nan ? word >> 16 | 0x40u : rounded_shift(word, 16));
}

bfloat16::operator float() const noexcept {
  return float_of(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace twill
