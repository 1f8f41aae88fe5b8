#pragma once

// Launches of kernels whose scratch must be zero at first.

#include <cstddef>
#include <cstdint>

#include "backends/backend.hpp"
#include "backends/launch_config.hpp"
#include "device.hpp"
#include "gpu/limits.hpp"
#include "launch.hpp"

namespace twill::TWILL_BACKEND {
namespace kernels {

template <int X>
__global__ void __launch_bounds__(X) clear_scratch(std::uint64_t* words, std::int64_t count) {
  allow_next_kernel();
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * X + threadIdx.x;
  if (i < count) words[i] = 0;
}

}  // namespace kernels

/// Clears `bytes` of `memory`, both multiples of 8, and starts `kernel` behind that in the queue's stream. Where
/// launches overlap, by a kernel, and `kernel` starts meanwhile: it must call await_previous_kernel() before it touches
/// that memory and before it writes anything. `what` names the call: "launch of scan".
template <class... Params, class... Args>
void launch_cleared(const detail::work_queue& queue, detail::launch_config config, void* memory, std::size_t bytes,
                    const char* what, void (*kernel)(Params...), const Args&... args) {
  if (overlaps_launches(queue)) {
    constexpr int threads = 256;
    const auto words = static_cast<std::int64_t>(bytes / sizeof(std::uint64_t));
    const detail::launch_config clear{{static_cast<unsigned>(ceil_div(words, threads)), 1, 1}, {threads, 1, 1}};
    check(launch(queue, clear, &kernels::clear_scratch<threads>, static_cast<std::uint64_t*>(memory), words), what);
    config.overlaps_previous = true;
  } else {
    queue.device->fill(queue.native, memory, 0, bytes);
  }
  check(launch(queue, config, kernel, args...), what);
}

}  // namespace twill::TWILL_BACKEND
