#pragma once

#include <cstddef>

namespace twill {

/// Device memory that an operation works in: `X_scratch_bytes(device, the same arguments)` says how much `X` needs.
/// A `raw_buffer` or a `buffer` converts to it; so does `{pointer, bytes}` of the application's own memory.
///
/// Memory: aligned to 16 bytes (to 1 for transpose_in_place); must not overlap the arrays of the call. What it holds
/// before a call does not matter,
///   what it holds after means nothing.
/// Order: used from the call on until the stream has done its work; then it is free for other calls. Calls that may
///   run at the same time, in two streams, need one each: nothing checks that.
struct scratch_ref {
  void* data = nullptr;
  std::size_t bytes = 0;
};

}  // namespace twill
