#pragma once

// Accesses of the library's own functions (device.hpp), told by the functions themselves: as one access, however it is
// made here, and at the place of their caller, where its author looks for it.

#include <cstddef>

#include "access_kind.hpp"

namespace twill::simt {

class block_watch;

/// Tells the watch of the block that runs, where there is one, and keeps the hooks silent until it goes.
class told_access {
 public:
  /// `place`: the return address of the function that was called for it.
  told_access(const volatile void* at, std::size_t bytes, access_kind kind, const void* place);
  ~told_access();
  told_access(const told_access&) = delete;
  told_access& operator=(const told_access&) = delete;

 private:
  block_watch* const watch_;
};

}  // namespace twill::simt
