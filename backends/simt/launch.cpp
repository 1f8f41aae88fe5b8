#include "launch.hpp"

#include "backends/error.hpp"
#include "simt_device.hpp"

namespace twill::simt {

std::string describe(native_error error) {
  const std::string numbers = std::to_string(error.asked) + ", the device has " + std::to_string(error.limit);
  switch (error.why) {
    case refusal::none:
      return "none";
    case refusal::empty:
      return "empty: an extent of the grid or the block is 0";
    case refusal::too_many_blocks:
      return "too_many_blocks: an extent of " + numbers;
    case refusal::too_many_threads:
      return "too_many_threads: a block of " + numbers;
    case refusal::too_much_shared_memory:
      return "too_much_shared_memory: a block asks for " + numbers + " bytes";
  }
  return "unknown";
}

void check(native_error error, const char* what, const char* file, int line) {
  if (error.why == refusal::none) return;
  detail::fail_at(errc::launch_failed, std::string(what) + " failed", describe(error),
                  "use a smaller block, a smaller grid or less shared memory", file, line);
}

native_error launch_bound(const detail::work_queue& queue, const detail::launch_config& config,
                          const kernel_call& kernel) {
  auto& device = static_cast<simt_device&>(*queue.device);
  const native_error error = device.refuse(config);
  if (error.why == refusal::none) device.launch(queue.native, config, kernel);
  return error;
}

}  // namespace twill::simt
