#pragma once

// What the devices on the CPU share: memory, streams and events of a machine that does its work when it is given. A
// backend adds its operations and ladders.

#include <string>

#include "allocations.hpp"
#include "backends/backend.hpp"
#include "backends/peer_access.hpp"
#include "environment.hpp"
#include "host_stream.hpp"
#include "thread_team.hpp"

namespace twill::host {

class host_device : public detail::backend_device, public detail::peer_access {
 public:
  /// With a team of `threads` threads, none of which is started yet.
  explicit host_device(device_properties properties, int threads = default_thread_count());

  /// The processors of this machine, under the names given.
  static device_properties cpu_properties(std::string name, std::string backend);

  const device_properties& properties() const noexcept override { return properties_; }

  /// The total is the device's; free is what both it and the machine still have.
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
  const void* host_view(const void* memory, std::size_t) const override { return memory; }

  bool is_synchronous() const noexcept override { return true; }
  bool shares_host_memory() const noexcept override { return true; }
  std::string bus_address() const override { return ""; }
  /// Itself alone: each device knows what memory it gave out.
  bool reach(detail::backend_device& peer) override { return &peer == this; }
  detail::exported_memory export_memory(const void* memory) override;
  void* open_memory(const detail::exported_memory& memory) override;
  void close_memory(void*, std::int64_t) noexcept override {}
  detail::collectives& messages() override;
  void* allocate_pinned(std::size_t bytes) override;
  void release_pinned(void* memory) noexcept override;

  thread_team& team() noexcept { return team_; }
  const allocations& memory_given() const noexcept { return allocations_; }

  /// The stream behind a handle; nullptr is the default stream.
  host_stream& stream_of(void* handle) noexcept;

 private:
  device_properties properties_;
  allocations allocations_;
  host_stream default_stream_;
  thread_team team_;
};

}  // namespace twill::host
