#pragma once

// Elements of any size from a table of offsets: what vectors have no shuffles for.

#include <cstdint>

namespace twill::cpu {

/// Element i of `out`, which is packed, is the one at `in + offsets[i]`. Where the last one is the furthest of all, as
/// `last_is_furthest` says, a power of two of bytes is moved for each of the others.
void gather_elements(const unsigned char* in, unsigned char* out, const std::int64_t* offsets, std::int64_t count,
                     std::int64_t element_bytes, bool last_is_furthest);

}  // namespace twill::cpu
