#pragma once

namespace twill::simt {

/// A kernel with its arguments, whatever their types.
struct kernel_call {
  void (*invoke)(const void* bound) = nullptr;
  const void* bound = nullptr;
  const void* address = nullptr;  ///< of the kernel, for its name in messages
};

}  // namespace twill::simt
