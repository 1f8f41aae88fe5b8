#pragma once

// What the devices of a team need of each other, beside backends/backend.hpp: another device's memory, another process'
// memory, and host memory that copies run through. Every backend_device of the library is one of these as well.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "backends/backend.hpp"

namespace twill::detail {

/// Device memory as another process of the same host can open it.
struct exported_memory {
  unsigned char handle[64];
  std::int64_t offset;  ///< of the memory from where the handle begins
};
static_assert(std::is_trivially_copyable_v<exported_memory>);

class peer_access {
 public:
  virtual ~peer_access() = default;

  /// Whether work is done when its call returns: then nothing may wait in a stream for another rank.
  virtual bool is_synchronous() const noexcept = 0;

  /// Whether the host reads and writes the device's memory as its own.
  virtual bool shares_host_memory() const noexcept = 0;

  /// Lets kernels and copies of this device use the memory of `peer`, a device of this process, from now on. False
  /// where they cannot.
  virtual bool reach(backend_device& peer) = 0;

  /// Throws: unsupported where memory cannot be exported.
  virtual exported_memory export_memory(const void* memory) = 0;
  /// Memory of another process, until `close_memory` of what is returned. Throws: unsupported.
  virtual void* open_memory(const exported_memory& memory) = 0;
  virtual void close_memory(void* opened, std::int64_t offset) noexcept = 0;

  /// Host memory that copies of this device use without another copy. `bytes` is not 0. Throws: out_of_memory.
  virtual void* allocate_pinned(std::size_t bytes) = 0;
  virtual void release_pinned(void* memory) noexcept = 0;
};

inline peer_access& peer_access_of(backend_device& device) {
  return dynamic_cast<peer_access&>(device);
}

}  // namespace twill::detail
