#pragma once

// Launches that overlap with their neighbours in the stream (programmatic dependent launch): the kernel may start while
// the one before it still runs, and does there what needs no memory of others.

#include "backends/backend.hpp"
#include "backends/launch_config.hpp"
#include "device.hpp"
#include "launch.hpp"

namespace twill::TWILL_BACKEND {
namespace kernels {

/// Called by the threads of a block before their first access of memory that other kernels use: waits until the kernel
/// before this one in the stream has completed, then lets the next one start.
__device__ inline void enter_stream_order() {
  wait_for_previous_kernel();
  trigger_dependent_launch();
}

}  // namespace kernels

/// Launches `kernel`, each block of which calls enter_stream_order(), as a dependent where that is supported.
template <class... Params, class... Args>
[[nodiscard]] native_error launch_dependent(const detail::work_queue& queue, detail::launch_config config,
                                            void (*kernel)(Params...), const Args&... args) {
  config.dependent = true;
  return launch(queue, config, kernel, args...);
}

}  // namespace twill::TWILL_BACKEND
