#pragma once

// How host code starts kernels on a GPU: the one launch, and the check of what a native call returns.

#include <string>

#include "backends/backend.hpp"
#include "backends/launch_config.hpp"
#include "native.hpp"

namespace twill::TWILL_BACKEND {

/// "cudaErrorInvalidValue: invalid argument", for messages.
std::string describe(native_error error);

/// Throws what `error` means, and clears it, unless it is success. `what` names the call: "launch of transpose".
void check(native_error error, const char* what, const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// Always throws, as `check` does, with a code of the caller's choice and more to say in `details`.
[[noreturn]] void fail_native(errc code, native_error error, const std::string& what, const std::string& details,
                              const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// Whether launches into the queue's stream may be replayed: they are captured in a graph, or that is not known.
[[nodiscard]] bool may_be_replayed(const detail::work_queue& queue) noexcept;

/// `launch` when the kernel's type is gone: `arguments` points to one value for each parameter.
[[nodiscard]] native_error launch_untyped(const detail::work_queue& queue, const detail::launch_config& config,
                                          const void* kernel, void** arguments) noexcept;

template <class... Params>
[[nodiscard]] native_error launch_values(const detail::work_queue& queue, const detail::launch_config& config,
                                         const void* kernel, Params... values) noexcept {
  void* arguments[] = {const_cast<void*>(static_cast<const void*>(&values))..., nullptr};
  return launch_untyped(queue, config, kernel, arguments);
}

/// Starts `kernel` in the queue's stream, on the queue's device. Returns this launch's own error.
template <class... Params, class... Args>
[[nodiscard]] native_error launch(const detail::work_queue& queue, const detail::launch_config& config,
                                  void (*kernel)(Params...), Args... args) noexcept {
  static_assert(sizeof...(Params) == sizeof...(Args), "an argument for each parameter of the kernel");
  return launch_values<Params...>(queue, config, reinterpret_cast<const void*>(kernel), static_cast<Params>(args)...);
}

}  // namespace twill::TWILL_BACKEND
