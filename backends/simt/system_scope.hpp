#pragma once

// As backends/cuda/system_scope.hpp: devices of one process share its memory.

#include <chrono>
#include <cstdint>
#include <stdexcept>

#include "reported_access.hpp"

namespace twill::simt {

[[gnu::noinline]] inline void store_release_system(std::uint64_t* to, std::uint64_t value) {
  const reported_access report(to, sizeof value, access_kind::atomic_store, __builtin_return_address(0));
  report.release();
  __atomic_store_n(to, value, __ATOMIC_RELEASE);
}

[[gnu::noinline]] inline std::uint64_t load_acquire_system(const std::uint64_t* from) {
  const reported_access report(from, sizeof *from, access_kind::atomic_load, __builtin_return_address(0));
  const std::uint64_t value = __atomic_load_n(from, __ATOMIC_ACQUIRE);
  report.acquire();
  return value;
}

inline std::uint64_t clock_ticks() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

/// A fault of the stream, as an exception that leaves a simulated thread is.
[[noreturn]] inline void trap() {
  throw std::runtime_error("the kernel waited too long for another device");
}

}  // namespace twill::simt
