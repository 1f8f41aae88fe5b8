#pragma once

// What the devices of a team need of each other, beside backends/backend.hpp: another device's memory, another process'
// memory, and host memory that copies run through. Every backend_device of the library is one of these as well.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "backends/backend.hpp"

namespace twill::detail {

/// Device memory as another process of the same host can open it.
struct exported_memory {
  unsigned char handle[64];
  std::int64_t offset;  ///< of the memory from where the handle begins
};
static_assert(std::is_trivially_copyable_v<exported_memory>);

/// What the ranks of a communicator have in common: made by one of them, given to all.
struct communicator_id {
  unsigned char bytes[128];
};

/// One rank of a communicator: messages in the streams of its device. Throws: device_fault.
class communicator {
 public:
  virtual ~communicator() = default;
  virtual void send(void* stream, const void* data, std::size_t bytes, int peer) = 0;
  virtual void receive(void* stream, void* data, std::size_t bytes, int peer) = 0;
};

/// The vendor's library of collectives.
class collectives {
 public:
  virtual ~collectives() = default;
  virtual communicator_id new_id() = 0;

  /// What is given between the two starts at once: ranks of one process, and messages that wait for each other.
  virtual void begin_group() = 0;
  virtual void end_group() = 0;

  /// Collective over all ranks, in a group. The communicator is ready when the group has ended.
  virtual std::unique_ptr<communicator> join(backend_device& device, const communicator_id& id, int rank, int size) = 0;
};

class peer_access {
 public:
  virtual ~peer_access() = default;

  /// Whether work is done when its call returns: then nothing may wait in a stream for another rank.
  virtual bool is_synchronous() const noexcept = 0;

  /// Whether the host reads and writes the device's memory as its own.
  virtual bool shares_host_memory() const noexcept = 0;

  /// The GPU's place on its host ("0000:1b:00.0"), the same in all processes; "" where the device is no GPU.
  virtual std::string bus_address() const = 0;

  /// Lets kernels and copies of this device use the memory of `peer`, a device of this process, from now on. False
  /// where they cannot.
  virtual bool reach(backend_device& peer) = 0;

  /// Throws: unsupported where memory cannot be exported.
  virtual exported_memory export_memory(const void* memory) = 0;
  /// Memory of another process, until `close_memory` of what is returned. Throws: unsupported.
  virtual void* open_memory(const exported_memory& memory) = 0;
  virtual void close_memory(void* opened, std::int64_t offset) noexcept = 0;

  /// Loads the library when it is first asked for. Throws: unsupported where there is none.
  virtual collectives& messages() = 0;

  /// Host memory that copies of this device use without another copy. `bytes` is not 0. Throws: out_of_memory.
  virtual void* allocate_pinned(std::size_t bytes) = 0;
  virtual void release_pinned(void* memory) noexcept = 0;
};

inline peer_access& peer_access_of(backend_device& device) {
  return dynamic_cast<peer_access&>(device);
}

}  // namespace twill::detail
