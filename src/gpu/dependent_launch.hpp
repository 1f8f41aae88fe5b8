#pragma once

// Programmatic dependent launch: a kernel may start while the preceding kernel in the stream still runs. Until it has
// waited for that, it computes indices and fills tables, but does not touch global memory.

#include "backends/backend.hpp"
#include "backends/launch_config.hpp"
#include "device.hpp"
#include "launch.hpp"

namespace twill::TWILL_BACKEND {
namespace kernels {

/// Call before the first access to global memory: waits until the preceding kernel in the stream has completed and its
/// writes are visible, then triggers: the next kernel may start once every block has done so or exited.
__device__ inline void wait_then_trigger_dependents() {
  wait_for_previous_kernel();
  trigger_dependent_launch();
}

}  // namespace kernels

/// Launches `kernel`, which calls wait_then_trigger_dependents(), as a dependent where that is supported.
template <class... Params, class... Args>
[[nodiscard]] native_error launch_dependent(const detail::work_queue& queue, detail::launch_config config,
                                            void (*kernel)(Params...), const Args&... args) {
  config.dependent = true;
  return launch(queue, config, kernel, args...);
}

}  // namespace twill::TWILL_BACKEND
