#pragma once

#include <cstddef>

namespace twill::detail {

/// Grid or block extents, in blocks or threads.
struct extent3 {
  unsigned x = 1, y = 1, z = 1;
};

/// What `launch` needs beside the kernel and its arguments.
struct launch_config {
  extent3 grid;
  extent3 block;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory of a block
};

}  // namespace twill::detail
