#pragma once

#include <mutex>

#include "backends/host/host_device.hpp"
#include "executor.hpp"
#include "launch.hpp"
#include "source_line.hpp"

namespace twill::simt {

/// A simulated GPU: memory and streams of the host, kernels by the executor, limits of its model.
class simt_device : public host::host_device {
 public:
  simt_device(device_properties properties, schedule order, int threads);

  const detail::operation_table& operations() const noexcept override;
  const detail::ladder_table& ladders() const noexcept override;

  /// Why the device does not run launches like this; none when it does.
  native_error refuse(const detail::launch_config& config) const noexcept;

  /// Runs a launch that is not refused. A fault is kept by `stream`; behind one, nothing runs until it is waited for.
  void launch(void* stream, const detail::launch_config& config, const kernel_call& kernel);

  void set_order(schedule order);

  /// Records launches from now on, of those with more than `most_threads` threads a sample. `sink` must live until
  /// `stop_recording`. Throws: unsupported when the kernels of this build cannot be looked at.
  void record(access_sink* sink, std::uint64_t most_threads);
  void stop_recording() noexcept;

 private:
  void run_recorded(grid_launch& launch, access_sink& sink, std::uint64_t most_threads);

  executor executor_;
  std::mutex settings_mutex_;
  schedule order_;
  access_sink* sink_ = nullptr;
  std::uint64_t most_threads_ = 0;
  source_lines lines_;
};

}  // namespace twill::simt
