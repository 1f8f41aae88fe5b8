#pragma once

// Bounds checks of the memory that host calls (upload, download, copy, fill) touch, before anything is moved.

#include <cstddef>
#include <cstdint>
#include <string>

#include "backends/host/allocations.hpp"

namespace twill::simt {

/// Rows of bytes that a host call reads or writes; `pitch` may be negative.
struct host_access {
  const char* access;  ///< "reads", "writes"
  const void* first;
  std::int64_t rows;
  std::size_t row_bytes;
  std::int64_t pitch;
};

/// Device memory of a host call. With `strict` it must be an allocation that is live; without, memory of the host is
/// accepted too, but no access that starts inside an allocation may leave it.
/// Throws: invalid_argument, naming the allocation and the offset.
void require_device_memory(const host_access& a, const host::allocations& all, const std::string& device, bool strict);

/// Host memory of a host call: must not be an allocation of the device.
void require_host_memory(const host_access& a, const host::allocations& all, const std::string& device);

}  // namespace twill::simt
