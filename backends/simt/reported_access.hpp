#pragma once

// Accesses of the device functions (device.hpp), which report themselves: as one access, however it is implemented
// here, attributed to their caller's line.

#include <cstddef>

#include <twill/export.hpp>

#include "access_kind.hpp"

namespace twill::simt {

class access_observer;

/// Reports one access to the observer of the running block, where there is one, and mutes the hooks while it lives.
class TWILL_API reported_access {
 public:
  /// `place`: the return address of the function that was called for it.
  reported_access(const volatile void* at, std::size_t bytes, access_kind kind, const void* place);
  ~reported_access();
  /// Before a store and after a load that order the work of streams.
  void release() const;
  void acquire() const;
  reported_access(const reported_access&) = delete;
  reported_access& operator=(const reported_access&) = delete;

 private:
  access_observer* const observer_;
  const volatile void* const at_;
};

}  // namespace twill::simt
