#pragma once

#include <cstddef>

#include <twill/export.hpp>
#include <twill/stream.hpp>

namespace twill {

/// Sets `bytes` bytes of device memory to `value`: the device's own memset. Order: asynchronous in `stream`. May be
/// captured in a graph. Throws: invalid_argument.
TWILL_API void fill_bytes(stream_ref stream, void* out, unsigned char value, std::size_t bytes);

}  // namespace twill
