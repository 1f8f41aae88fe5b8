#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "backends/backend.hpp"
#include "backends/gpu/pointer_set.hpp"
#include "backends/peer_access.hpp"
#include "native.hpp"

namespace twill::TWILL_BACKEND {

/// One open CUDA or HIP device. Every call runs with this device current, and gives the caller's own back.
class gpu_device final : public detail::backend_device, public detail::peer_access {
 public:
  /// `properties` must outlive the device.
  gpu_device(int ordinal, const device_properties& properties) noexcept : ordinal_(ordinal), properties_(properties) {}

  int ordinal() const noexcept { return ordinal_; }

  /// Kernels that may take all of a block's shared memory on this device: asking the driver takes microseconds.
  detail::pointer_set<1024>& kernels_with_all_shared() const noexcept { return kernels_with_all_shared_; }

  /// Whether this build's kernels may be launched as dependents here: empty until the first one is.
  std::atomic<std::optional<bool>>& dependent_launch() const noexcept { return dependent_launch_; }

  const device_properties& properties() const noexcept override { return properties_; }
  memory_info memory() const override;

  void* allocate(std::size_t bytes) override;
  void release(void* memory) noexcept override;

  void* create_stream() override;
  void destroy_stream(void* stream) noexcept override;
  void wait_stream(void* stream) override;

  void* create_event() override;
  void destroy_event(void* event) noexcept override;
  void record_event(void* event, void* stream) override;
  void wait_event(void* event) override;
  void hold_stream(void* stream, void* event) override;
  double seconds_between(void* start, void* end) override;

  void copy(void* stream, void* to, const void* from, std::size_t bytes, detail::copy_direction direction) override;
  void copy_rows(void* stream, const detail::pitched_rows& rows, detail::copy_direction direction) override;
  void fill(void* stream, void* to, unsigned char value, std::size_t bytes) override;

  bool is_synchronous() const noexcept override { return false; }
  bool shares_host_memory() const noexcept override { return false; }
  std::string bus_address() const override;
  bool reach(detail::backend_device& peer) override;
  detail::exported_memory export_memory(const void* memory) override;
  void* open_memory(const detail::exported_memory& memory) override;
  void close_memory(void* opened, std::int64_t offset) noexcept override;
  detail::collectives& messages() override;
  void* allocate_pinned(std::size_t bytes) override;
  void release_pinned(void* memory) noexcept override;

 private:
  template <class Call>
  void call(const char* what, Call native, int line = __builtin_LINE()) const;

  int ordinal_;
  const device_properties& properties_;
  mutable detail::pointer_set<1024> kernels_with_all_shared_;
  mutable std::atomic<std::optional<bool>> dependent_launch_{std::nullopt};
  std::mutex reached_mutex_;
  std::set<int> reached_;  // ordinals: access is enabled once
};

}  // namespace twill::TWILL_BACKEND
