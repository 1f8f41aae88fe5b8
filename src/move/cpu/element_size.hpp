#pragma once

// Element sizes as constants, with which the compiler copies elements by loads and stores.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace twill::cpu {

template <class F, std::int64_t... Sizes>
bool called_with(std::int64_t bytes, F& f, std::integer_sequence<std::int64_t, Sizes...>) {
  return ((bytes == Sizes && (f(std::integral_constant<std::int64_t, Sizes>{}), true)) || ...);
}

/// Calls f with `bytes` as a constant where it is one of the sizes that applications have, else as it is.
template <class F>
void with_size(std::int64_t bytes, F&& f) {
  using common = std::integer_sequence<std::int64_t, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 24, 32>;
  if (!called_with(bytes, f, common{})) f(bytes);
}

/// A size as with_size passes it: a constant, or `bytes`.
template <class Size>
constexpr Size size_as(std::int64_t bytes) {
  if constexpr (std::is_same_v<Size, std::int64_t>) {
    return bytes;
  } else {
    return Size{};
  }
}

/// What an element may be moved as where more follows it: the next power of two, less than twice its size.
template <std::int64_t Bytes>
constexpr std::size_t widened(std::integral_constant<std::int64_t, Bytes>) {
  std::size_t power = 1;
  while (power < Bytes) power *= 2;
  return power;
}
constexpr std::size_t widened(std::int64_t bytes) {
  return static_cast<std::size_t>(bytes);
}

/// Copies an element.
template <class Size>
void copy_element(unsigned char* to, const unsigned char* from, Size bytes) {
  std::memcpy(to, from, static_cast<std::size_t>(static_cast<std::int64_t>(bytes)));
}

}  // namespace twill::cpu
