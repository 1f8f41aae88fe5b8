#pragma once

// Checks that every operation shares. All throw invalid_argument before any device call.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <twill/element.hpp>
#include <twill/scratch.hpp>

namespace twill::detail {

[[noreturn]] void fail_enumerator(std::int64_t value, std::string_view what);

/// a * b for non-negative extents; throws when an extent is negative or the product leaves 63 bits.
std::int64_t checked_product(std::int64_t a, std::int64_t b, std::string_view what);

/// Throws when `value` is negative.
void require_extent(std::int64_t value, std::string_view what);

/// A size in bytes; throws when it leaves 63 bits.
std::int64_t checked_bytes(std::size_t bytes);

/// Throws when device memory that will be read or written is null.
void require_pointer(const void* pointer, std::string_view what);

/// Throws when `pointer` is no multiple of `alignment`.
void require_aligned(const void* pointer, std::size_t alignment, std::string_view what);

/// Throws when memory of elements known by their size has elements of none, or of more than `most` bytes.
void require_element_bytes(std::int64_t bytes, std::int64_t most);

/// A leading dimension as given, or the length of a row when 0. Throws when rows would share elements.
std::int64_t explicit_ld(std::int64_t given, std::int64_t row, std::string_view what);

/// The largest element that is moved.
inline constexpr std::int64_t largest_element_bytes = 64;

/// Memory of a call, by the name of its parameter.
struct named_memory {
  std::string_view name;
  const void* first;
  std::int64_t bytes;
};

/// Throws when memory of at least a byte is null or misaligned.
void require_memory(const named_memory& memory, std::size_t alignment);

/// Throws when the two share a byte.
void require_disjoint(const named_memory& a, const named_memory& b);
void require_all_disjoint(const named_memory& a, const named_memory& b, const named_memory& c);

/// Throws when scratch is null, misaligned, or has less than `needed` bytes, unless 0 are needed. `operation` is
/// the name of the function that gives the size, without "_scratch_bytes".
void require_scratch(const scratch_ref& scratch, std::size_t needed, std::string_view operation,
                     std::size_t alignment = 16);

/// Throws when `value` is none of the enumerators from 0 to `last`.
template <class Enum>
void require_enumerator(Enum value, Enum last, std::string_view what) {
  using number = std::underlying_type_t<Enum>;
  const auto n = static_cast<number>(value);
  if (n < 0 || n > static_cast<number>(last)) fail_enumerator(static_cast<std::int64_t>(n), what);
}

inline void require_element_type(element_type type) {
  require_enumerator(type, element_type::c128, "the element type");
}

}  // namespace twill::detail
