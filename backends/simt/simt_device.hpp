#pragma once

#include <mutex>

#include "backends/host/host_device.hpp"
#include "executor.hpp"
#include "launch.hpp"
#include "memory_shadow.hpp"
#include "source_line.hpp"
#include "stream_order.hpp"

namespace twill::simt {

/// The most blocks of a grid: CUDA's, since compute capability 3.0, unless a datasheet has others.
struct grid_limits {
  std::uint64_t x = (std::uint64_t{1} << 31) - 1, yz = 65535;
};

/// A simulated GPU: memory and streams of the host, kernels by the executor, limits of its model.
class simt_device : public host::host_device {
 public:
  simt_device(device_properties properties, grid_limits most, schedule order, int threads);

  void* allocate(std::size_t bytes) override;
  void release(void* memory) noexcept override;
  void* create_stream() override;
  void destroy_stream(void* stream) noexcept override;
  void wait_stream(void* stream) override;
  void destroy_event(void* event) noexcept override;
  void record_event(void* event, void* stream) override;
  void wait_event(void* event) override;
  void hold_stream(void* stream, void* event) override;
  void copy(void* stream, void* to, const void* from, std::size_t bytes, detail::copy_direction direction) override;
  void copy_rows(void* stream, const detail::pitched_rows& rows, detail::copy_direction direction) override;
  void fill(void* stream, void* to, unsigned char value, std::size_t bytes) override;
  const void* host_view(const void* memory, std::size_t bytes) const override;
  /// As of a GPU: copies from and to the host are calls, which are checked.
  bool shares_host_memory() const noexcept override { return false; }

  /// Why the device does not run launches like this; none when it does.
  native_error refuse(const detail::launch_config& config) const noexcept;

  /// Runs a launch that is not refused. A fault is kept by `stream`; behind one, nothing runs until it is waited for.
  virtual void launch(void* stream, const detail::launch_config& config, const kernel_call& kernel);

  void set_order(schedule order);

  /// Records launches from now on, of those with more than `most_threads` threads a sample; launches from several host
  /// threads run one after another then. `sink` must live until `stop_recording`. Throws: unsupported when the kernels
  /// of this build cannot be looked at, or when something records already.
  void record(access_sink* sink, std::uint64_t most_threads);
  /// Waits for the launch that is being recorded.
  void stop_recording() noexcept;

  /// Whether launches from now on are checked. Throws: unsupported, as `record`.
  void check(bool wanted);
  void set_step_limit(std::uint64_t steps);

  /// Of memory that was allocated while launches were checked: how many of the bytes nobody has written.
  std::size_t unwritten_bytes(const void* memory, std::size_t bytes);

 private:
  struct settings {
    schedule order;
    access_sink* sink = nullptr;
    std::uint64_t most_threads = 0;
    bool checks = false;
    std::uint64_t step_limit = std::uint64_t{1} << 28;
  };

  settings chosen_settings() const;
  void require_bounds(const detail::pitched_rows& rows, detail::copy_direction direction) const;
  void run(grid_launch& launch, const settings& chosen, const void* stream);
  void compare_streams(void* stream, const detail::pitched_rows& rows, detail::copy_direction direction,
                       const char* call);

  const grid_limits most_;
  executor executor_;
  std::mutex recording_mutex_;  // held by the launch that is being recorded
  mutable std::mutex settings_mutex_;
  settings settings_;
  source_lines lines_;
  stream_order order_;
  memory_shadow shadow_;  // of what was allocated while launches were checked
};

}  // namespace twill::simt
