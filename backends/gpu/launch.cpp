#include "launch.hpp"

#include "backends/error.hpp"
#include "device_guard.hpp"
#include "gpu_device.hpp"

namespace twill::TWILL_BACKEND {
namespace {

constexpr std::size_t shared_bytes_for_free = std::size_t{48} * 1024;  // more must be asked for, kernel by kernel

const char* suggestion(errc code, native_error error) {
  if (means_no_code(error)) return "build Twill for this device's architecture";
  switch (code) {
    case errc::invalid_argument:
      return "pass pointers and streams of this device";
    case errc::out_of_memory:
      return "free device memory or ask for less";
    case errc::no_device:
      return "see which devices there are with twill::device::list()";
    case errc::unsupported:
      return "";
    case errc::launch_failed:
      return "use a smaller block, a smaller grid or less shared memory";
    case errc::device_fault:
      return "look at the work given to this device before; only a new process may be able to go on";
  }
  return "";
}

// Always the same value for a kernel on a device, so that threads cannot lower it under each other's launches.
native_error allow_all_shared(const gpu_device& device, const void* kernel) {
  auto& allowed = device.kernels_with_all_shared();
  if (allowed.contains(kernel)) return native_success;
  const std::size_t limit = device.properties().shared_bytes_per_block;
  std::size_t own = 0;
  native_error error = static_shared(&own, kernel);
  if (error == native_success) error = allow_dynamic_shared(kernel, static_cast<int>(limit - own));
  if (error == native_success) allowed.add(kernel);
  return error;
}

// All kernels are compiled for the same architectures, so that one answer holds for all.
bool may_be_dependent(const gpu_device& device, const void* kernel) {
  if (const auto known = device.dependent_launch().load(std::memory_order_relaxed)) return *known;
  bool supported = false;
  ignore(supports_dependent_launch(&supported, kernel));
  device.dependent_launch().store(supported, std::memory_order_relaxed);
  return supported;
}

}  // namespace

std::string describe(native_error error) {
  const std::string name = error_name(error), text = error_text(error);
  return name == text ? name : name + ": " + text;  // old HIP has no texts
}

void fail_native(errc code, native_error error, const std::string& what, const std::string& details, const char* file,
                 int line) {
  static_cast<void>(last_error());
  detail::fail_at(code, what + " failed", describe(error) + details, suggestion(code, error), file, line);
}

void check(native_error error, const char* what, const char* file, int line) {
  if (error != native_success) fail_native(kind_of(error), error, what, "", file, line);
}

bool may_be_replayed(const detail::work_queue& queue) noexcept {
  const device_guard guard(static_cast<const gpu_device&>(*queue.device).ordinal());
  bool capturing = false;
  const native_error error = is_capturing(&capturing, static_cast<native_stream>(queue.native));
  ignore(error);
  return capturing || error != native_success || guard.error() != native_success;
}

native_error launch_untyped(const detail::work_queue& queue, const detail::launch_config& config, const void* kernel,
                            void** arguments) noexcept {
  const auto& device = static_cast<const gpu_device&>(*queue.device);
  const device_guard guard(device.ordinal());
  if (guard.error() != native_success) return guard.error();

  const std::size_t limit = device.properties().shared_bytes_per_block;
  native_error error = native_success;
  if (config.shared_bytes > limit) return native_invalid_configuration;
  if (config.shared_bytes > shared_bytes_for_free) error = allow_all_shared(device, kernel);
  if (error == native_success) {
    detail::launch_config allowed = config;
    allowed.dependent = config.dependent && may_be_dependent(device, kernel);
    error = launch_kernel(kernel, allowed, arguments, static_cast<native_stream>(queue.native));
  }
  // Some runtimes call a block, a grid or shared memory beyond the limits an invalid value; nothing else here can be.
  return error == native_invalid_value ? native_invalid_configuration : error;
}

}  // namespace twill::TWILL_BACKEND
