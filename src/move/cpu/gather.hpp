#pragma once

// Elements of any size from a table of offsets: what vectors have no shuffles for.

#include <cstdint>

namespace twill::cpu {

/// The bytes that gather_elements() loads and stores for an element: a power of two where it knows the size.
std::int64_t gathered_bytes(std::int64_t element_bytes);

/// Element i of `out`, which is packed, is the one at `in + offsets[i]`. With `wide`, gathered_bytes() are loaded for
/// each element, and as many stored: what follows the last element of `out` is overwritten.
void gather_elements(const unsigned char* in, unsigned char* out, const std::int64_t* offsets, std::int64_t count,
                     std::int64_t element_bytes, bool wide);

}  // namespace twill::cpu
