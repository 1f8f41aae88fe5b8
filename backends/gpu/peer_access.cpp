// Memory of other devices and of other processes.

#include <cstring>

#include "backends/error.hpp"
#include "device_guard.hpp"
#include "gpu_device.hpp"
#include "launch.hpp"
#include "peers.hpp"

namespace twill::TWILL_BACKEND {

std::string gpu_device::bus_address() const {
  char address[32] = {};
  check(pci_bus_id(address, sizeof address, ordinal_), "asking for the place of a device");
  return address;
}

bool gpu_device::reach(detail::backend_device& peer) {
  if (&peer == this) return true;
  auto* const other = dynamic_cast<gpu_device*>(&peer);
  if (other == nullptr) return false;
  const std::lock_guard lock(reached_mutex_);
  if (reached_.count(other->ordinal_) > 0) return true;
  const device_guard guard(ordinal_);
  check(guard.error(), "access to a peer");
  int can = 0;
  check(can_access_peer(&can, ordinal_, other->ordinal_), "asking for access to a peer");
  if (can == 0) return false;
  const native_error enabled = enable_peer_access(other->ordinal_);
  if (enabled == native_peer_access_enabled) {
    static_cast<void>(last_error());  // by the application, or a library
  } else {
    check(enabled, "access to a peer");
  }
  reached_.insert(other->ordinal_);
  return true;
}

detail::exported_memory gpu_device::export_memory(const void* memory) {
  const device_guard guard(ordinal_);
  check(guard.error(), "export of memory");
  detail::exported_memory exported{};
  native_handle handle{};
  static_assert(sizeof handle <= sizeof exported.handle);
  void* base = nullptr;
  check(allocation_base(&base, memory), "export of memory");
  check(export_handle(&handle, base), "export of memory");
  std::memcpy(exported.handle, &handle, sizeof handle);
  exported.offset = static_cast<const char*>(memory) - static_cast<const char*>(base);
  return exported;
}

void* gpu_device::open_memory(const detail::exported_memory& memory) {
  const device_guard guard(ordinal_);
  check(guard.error(), "opening memory of another process");
  native_handle handle{};
  std::memcpy(&handle, memory.handle, sizeof handle);
  void* base = nullptr;
  check(open_handle(&base, handle), "opening memory of another process");
  return static_cast<char*>(base) + memory.offset;
}

void gpu_device::close_memory(void* opened, std::int64_t offset) noexcept {
  const device_guard guard(ordinal_);
  ignore(close_handle(static_cast<char*>(opened) - offset));
}

void* gpu_device::allocate_pinned(std::size_t bytes) {
  const device_guard guard(ordinal_);
  check(guard.error(), "allocation of pinned memory");
  void* memory = nullptr;
  check(TWILL_BACKEND::allocate_pinned(&memory, bytes), "allocation of pinned memory");
  return memory;
}

void gpu_device::release_pinned(void* memory) noexcept {
  const device_guard guard(ordinal_);
  ignore(TWILL_BACKEND::release_pinned(memory));
}

}  // namespace twill::TWILL_BACKEND
