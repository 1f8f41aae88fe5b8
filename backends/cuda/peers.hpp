#pragma once

// Memory of other devices and processes, by the CUDA runtime. backends/hip has the same.

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>

#include "native.hpp"

namespace twill::cuda {

inline native_error pci_bus_id(char* text, int bytes, int ordinal) {
  return cudaDeviceGetPCIBusId(text, bytes, ordinal);
}
inline native_error can_access_peer(int* can, int ordinal, int peer) {
  return cudaDeviceCanAccessPeer(can, ordinal, peer);
}
/// Of the current device to another.
inline native_error enable_peer_access(int peer) {
  return cudaDeviceEnablePeerAccess(peer, 0);
}
inline constexpr native_error native_peer_access_enabled = cudaErrorPeerAccessAlreadyEnabled;

using native_handle = cudaIpcMemHandle_t;

inline native_error export_handle(native_handle* handle, void* memory) {
  return cudaIpcGetMemHandle(handle, memory);
}
/// On the current device; opening it again counts.
inline native_error open_handle(void** memory, const native_handle& handle) {
  return cudaIpcOpenMemHandle(memory, handle, cudaIpcMemLazyEnablePeerAccess);
}
inline native_error close_handle(void* memory) {
  return cudaIpcCloseMemHandle(memory);
}

/// Host memory that every device copies from and to by itself.
inline native_error allocate_pinned(void** memory, std::size_t bytes) {
  return cudaHostAlloc(memory, bytes, cudaHostAllocPortable);
}
inline native_error release_pinned(void* memory) {
  return cudaFreeHost(memory);
}

/// The library of collectives, as the loader finds it, and what installs it.
inline constexpr char collectives_library[] = "libnccl.so.2";
inline constexpr char collectives_package[] = "NCCL";

/// Where the allocation that `memory` lies in begins. The driver's library, which the runtime has loaded, reports it.
inline native_error allocation_base(void** base, const void* memory) {
  using query = int (*)(unsigned long long* base, std::size_t* bytes, unsigned long long address);
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  auto* const ask = driver == nullptr ? nullptr : reinterpret_cast<query>(dlsym(driver, "cuMemGetAddressRange_v2"));
  unsigned long long first = 0;
  std::size_t bytes = 0;
  const bool found = ask != nullptr && ask(&first, &bytes, reinterpret_cast<std::uintptr_t>(memory)) == 0;
  if (driver != nullptr) dlclose(driver);
  *base = reinterpret_cast<void*>(static_cast<std::uintptr_t>(first));
  return found ? native_success : native_invalid_value;
}

}  // namespace twill::cuda
