#pragma once

#include <cstdint>
#include <type_traits>

#include <twill/detail/arguments.hpp>

namespace twill {

/// A number of elements: an extent, a leading dimension, a stride, a count. Any integer type converts to it, `size_t`
/// among them, also in braces and without a warning; what does not fit `std::int64_t` throws invalid_argument.
class extent {
 public:
  constexpr extent() noexcept = default;
  template <class Int, std::enable_if_t<std::is_integral<Int>::value && !std::is_same<Int, bool>::value, int> = 0>
  constexpr extent(Int value) : value_(static_cast<std::int64_t>(value)) {
    static_assert(sizeof(Int) <= sizeof(std::int64_t), "integers of up to 64 bits");
    if (std::is_unsigned<Int>::value && value_ < 0) detail::fail_extent(static_cast<std::uint64_t>(value));
  }
  constexpr operator std::int64_t() const noexcept { return value_; }

 private:
  std::int64_t value_ = 0;
};

}  // namespace twill
