#pragma once

// Checks of arguments that templates and shapes make in the caller's code.

#include <cstddef>
#include <cstdint>

#include <twill/export.hpp>

namespace twill::detail {

/// Throws invalid_argument: `value` is beyond 63 bits.
[[noreturn]] TWILL_API void fail_extent(std::uint64_t value);

/// Throws invalid_argument when `pointer` is no multiple of `alignment`.
TWILL_API void require_aligned(const char* operation, const void* pointer, std::size_t alignment, const char* what);

}  // namespace twill::detail
