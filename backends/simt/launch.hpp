#pragma once

// How host code starts kernels on the simulated device: at once, on the threads of the device.

#include <string>
#include <tuple>

#include "backends/backend.hpp"
#include "backends/launch_config.hpp"
#include "kernel_call.hpp"

namespace twill::host {
class host_stream;
}

namespace twill::simt {

using native_stream = host::host_stream*;

/// Why a launch was refused.
enum class refusal { none, empty, too_many_blocks, too_many_threads, too_much_shared_memory };

struct native_error {
  refusal why = refusal::none;
  std::uint64_t asked = 0, limit = 0;
};

/// "too_many_threads: 1025 in a block, the device has 1024", for messages.
std::string describe(native_error error);

/// Throws launch_failed unless `error` is none. `what` names the call: "launch of transpose".
TWILL_API void check(native_error error, const char* what, const char* file = __builtin_FILE(),
                     int line = __builtin_LINE());

/// Runs a kernel whose argument types are gone. What goes wrong in it is kept by the stream.
[[nodiscard]] TWILL_API native_error launch_bound(const detail::work_queue& queue, const detail::launch_config& config,
                                                  const kernel_call& kernel);

/// Launches execute immediately and are never replayed.
[[nodiscard]] inline bool may_be_replayed(const detail::work_queue&) noexcept {
  return false;
}

/// A kernel and one value for each of its parameters.
template <class... Params>
struct bound_kernel {
  void (*kernel)(Params...);
  std::tuple<Params...> values;

  static void invoke(const void* bound) {
    const auto& self = *static_cast<const bound_kernel*>(bound);
    std::apply(self.kernel, self.values);
  }
};

/// Runs `kernel` on the queue's device; it is done, or has failed, when this returns. Returns why it was not run.
template <class... Params, class... Args>
[[nodiscard]] native_error launch(const detail::work_queue& queue, const detail::launch_config& config,
                                  void (*kernel)(Params...), Args... args) {
  static_assert(sizeof...(Params) == sizeof...(Args), "an argument for each parameter of the kernel");
  const bound_kernel<Params...> bound{kernel, {static_cast<Params>(args)...}};
  return launch_bound(queue, config,
                      {&bound_kernel<Params...>::invoke, &bound, sizeof bound, reinterpret_cast<const void*>(kernel)});
}

}  // namespace twill::simt
