#pragma once

#include <cstddef>

namespace twill::simt {

/// A kernel with its arguments, whatever their types.
struct kernel_call {
  void (*invoke)(const void* bound) = nullptr;
  const void* bound = nullptr;
  std::size_t bound_bytes = 0;
  const void* address = nullptr;  ///< of the kernel, for its name in messages
};

}  // namespace twill::simt
