#pragma once

#include <cstddef>
#include <cstdint>

namespace twill::detail {

/// Grid or block extents, in blocks or threads.
struct extent3 {
  unsigned x = 1, y = 1, z = 1;
};

/// The rectangle of at least `blocks` blocks, at most `limit` side by side, that has the fewest lines. Kernels count
/// blocks line by line, and those behind the last one have nothing to do.
constexpr extent3 rectangle(std::int64_t blocks, std::int64_t limit) {
  const std::int64_t x = blocks < limit ? blocks : limit;
  return {static_cast<unsigned>(x), static_cast<unsigned>((blocks + x - 1) / x), 1};
}

/// What `launch` needs beside the kernel and its arguments.
struct launch_config {
  extent3 grid;
  extent3 block;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory of a block
  /// Programmatic dependent launch, where the device and the kernel's code support it: the kernel may start while the
  /// preceding one in the stream still runs. Every thread that accesses global memory calls wait_for_previous_kernel()
  /// before its first access.
  bool dependent = false;
};

}  // namespace twill::detail
