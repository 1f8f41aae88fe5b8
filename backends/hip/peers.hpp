#pragma once

// Memory of other devices and processes, by the HIP runtime. backends/cuda has the same.

#include <cstddef>

#include "native.hpp"

namespace twill::hip {

inline native_error pci_bus_id(char* text, int bytes, int ordinal) {
  return hipDeviceGetPCIBusId(text, bytes, ordinal);
}
inline native_error can_access_peer(int* can, int ordinal, int peer) {
  return hipDeviceCanAccessPeer(can, ordinal, peer);
}
/// Of the current device to another.
inline native_error enable_peer_access(int peer) {
  return hipDeviceEnablePeerAccess(peer, 0);
}
inline constexpr native_error native_peer_access_enabled = hipErrorPeerAccessAlreadyEnabled;

using native_handle = hipIpcMemHandle_t;

inline native_error export_handle(native_handle* handle, void* memory) {
  return hipIpcGetMemHandle(handle, memory);
}
/// On the current device; opening it again counts.
inline native_error open_handle(void** memory, const native_handle& handle) {
  return hipIpcOpenMemHandle(memory, handle, hipIpcMemLazyEnablePeerAccess);
}
inline native_error close_handle(void* memory) {
  return hipIpcCloseMemHandle(memory);
}

/// Host memory that every device copies from and to by itself.
inline native_error allocate_pinned(void** memory, std::size_t bytes) {
  return hipHostMalloc(memory, bytes, hipHostMallocPortable);
}
inline native_error release_pinned(void* memory) {
  return hipHostFree(memory);
}

/// The library of collectives, as the loader finds it, and what installs it.
#if defined(__HIP_PLATFORM_NVIDIA__)
inline constexpr char collectives_library[] = "libnccl.so.2";
inline constexpr char collectives_package[] = "NCCL";
#else
inline constexpr char collectives_library[] = "librccl.so.1";
inline constexpr char collectives_package[] = "RCCL";
#endif

/// Where the allocation that `memory` lies in begins.
inline native_error allocation_base(void** base, const void* memory) {
#if defined(__HIP_PLATFORM_NVIDIA__)  // the driver's call, which programs of this platform are not linked with
  static_cast<void>(memory);
  *base = nullptr;
  return hipErrorNotSupported;
#else
  std::size_t bytes = 0;
  return hipMemGetAddressRange(base, &bytes, const_cast<void*>(memory));
#endif
}

}  // namespace twill::hip
