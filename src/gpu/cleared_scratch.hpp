#pragma once

// Launches of kernels whose scratch must start as zeros.

#include <cstddef>
#include <cstdint>

#include "backends/backend.hpp"
#include "backends/launch_config.hpp"
#include "device.hpp"
#include "gpu/dependent_launch.hpp"
#include "gpu/limits.hpp"
#include "launch.hpp"

namespace twill::TWILL_BACKEND {
namespace kernels {

template <int X>
__global__ void __launch_bounds__(X) clear_scratch(std::uint32_t* words, std::int64_t count) {
  wait_then_trigger_dependents();
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * X + threadIdx.x;
  if (i < count) words[i] = 0;
}

}  // namespace kernels

/// Zeroes `bytes` of `scratch`, a multiple of 4, by a kernel, then launches `kernel` in the same stream; both as
/// dependents where supported, so `kernel` must call wait_then_trigger_dependents(). `what` names the launch in errors:
/// "launch of scan".
template <class... Params, class... Args>
void launch_with_cleared_scratch(const detail::work_queue& queue, detail::launch_config config, void* scratch,
                                 std::size_t bytes, const char* what, void (*kernel)(Params...), const Args&... args) {
  constexpr int threads = 256;
  const auto words = static_cast<std::int64_t>(bytes / sizeof(std::uint32_t));
  const detail::launch_config clear{{static_cast<unsigned>(ceil_div(words, threads)), 1, 1}, {threads, 1, 1}};
  check(launch_dependent(queue, clear, &kernels::clear_scratch<threads>, static_cast<std::uint32_t*>(scratch), words),
        what);
  check(launch_dependent(queue, config, kernel, args...), what);
}

}  // namespace twill::TWILL_BACKEND
