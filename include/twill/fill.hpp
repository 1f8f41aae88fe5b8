#pragma once

#include <cstddef>

#include <twill/export.hpp>
#include <twill/stream.hpp>

namespace twill {

/// Sets `bytes` bytes of device memory to `value`: the device's own memset.
///
/// Shape: 3 bytes of 7 are [7, 7, 7]. `bytes` may be 0.
/// Units: `bytes` bytes are written.
/// Memory: device memory of the stream's device (host memory on "cpu" and "simt"), of any alignment.
/// Order: asynchronous in `stream`. May be captured in a graph.
/// Throws: invalid_argument.
TWILL_API void fill_bytes(stream_ref stream, void* out, unsigned char value, std::size_t bytes);

}  // namespace twill
