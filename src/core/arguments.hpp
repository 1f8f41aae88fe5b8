#pragma once

// Checks that every operation shares. All throw invalid_argument before any device call.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace twill::detail {

/// a * b for non-negative extents; throws when an extent is negative or the product leaves 63 bits.
std::int64_t checked_product(std::int64_t a, std::int64_t b, std::string_view what);

/// Throws when `value` is negative.
void require_extent(std::int64_t value, std::string_view what);

/// Throws when a pointer that will be read or written is null.
void require_pointer(const void* pointer, std::string_view what);

/// Throws when [in, in + in_bytes) and [out, out + out_bytes) share a byte.
void require_disjoint(const void* in, std::int64_t in_bytes, const void* out, std::int64_t out_bytes);

/// Throws when scratch shares a byte with `what`, memory of the operation.
void require_scratch_apart(const void* scratch, std::size_t scratch_bytes, const void* memory, std::int64_t bytes,
                           std::string_view what);

}  // namespace twill::detail
