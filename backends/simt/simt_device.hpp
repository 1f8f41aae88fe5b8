#pragma once

#include <mutex>

#include "backends/host/host_device.hpp"
#include "executor.hpp"
#include "launch.hpp"

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

 private:
  executor executor_;
  std::mutex order_mutex_;
  schedule order_;
};

}  // namespace twill::simt
