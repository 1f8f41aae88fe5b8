#include "simt_device.hpp"

#include <algorithm>
#include <exception>

#include "backends/error.hpp"
#include "host_access.hpp"
#include "kernel_name.hpp"

namespace twill::simt {

simt_device::simt_device(device_properties properties, grid_limits most, schedule order, int threads)
    : host_device(std::move(properties), threads), most_(most), executor_(team()) {
  settings_.order = order;
}

native_error simt_device::refuse(const detail::launch_config& config) const noexcept {
  const auto &grid = config.grid, &block = config.block;
  const std::size_t shared_bytes = config.shared_bytes;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0) {
    return {refusal::empty, 0, 1};
  }
  if (grid.x > most_.x) return {refusal::too_many_blocks, grid.x, most_.x};
  if (grid.y > most_.yz || grid.z > most_.yz) {
    return {refusal::too_many_blocks, std::max(grid.y, grid.z), most_.yz};
  }
  // One extent after the other, for the product of three may not fit 64 bits.
  const auto limit = static_cast<std::uint64_t>(properties().max_threads_per_block);
  const std::uint64_t plane = std::uint64_t{block.x} * block.y;
  const std::uint64_t threads = plane > limit ? plane : plane * block.z;
  if (threads > limit) return {refusal::too_many_threads, threads, limit};
  if (shared_bytes > properties().shared_bytes_per_block) {
    return {refusal::too_much_shared_memory, shared_bytes, properties().shared_bytes_per_block};
  }
  return {};
}

simt_device::settings simt_device::chosen_settings() const {
  const std::lock_guard lock(settings_mutex_);
  return settings_;
}

void simt_device::launch(void* stream, const detail::launch_config& config, const kernel_call& kernel) {
  auto& home = stream_of(stream);
  if (home.has_fault()) return;
  settings chosen = chosen_settings();
  // Recorded launches run one after another, and the sink stays until the last of them is done.
  std::unique_lock recording_lock(recording_mutex_, std::defer_lock);
  if (chosen.sink != nullptr) {
    recording_lock.lock();
    chosen = chosen_settings();
  }
  grid_launch all{kernel, config, chosen.order, &lines_, nullptr};
  try {
    run(all, chosen, stream);
  } catch (...) {
    home.hold_fault(std::current_exception());
  }
}

void simt_device::run(grid_launch& launch, const settings& chosen, const void* stream) {
  if (chosen.sink == nullptr && !chosen.checks) return executor_.run(launch);
  const memory_map memory(memory_given(), chosen.checks ? &shadow_ : nullptr);
  launch_observer observer;
  observer.checks = chosen.checks;
  observer.dependent = launch.config.dependent;
  observer.step_limit = chosen.step_limit;
  observer.memory = &memory;
  observer.given = &memory_given();
  observer.lines = &lines_;
  if (chosen.checks && order_.begin(stream, {launch.kernel.address, ""})) observer.order = &order_;
  observer.stream = stream;
  launch.observer = &observer;
  if (chosen.sink == nullptr) return executor_.run(launch);

  launch_facts facts;
  facts.kernel = kernel_name(launch.kernel.address);
  facts.config = launch.config;
  facts.warp_lanes = static_cast<unsigned>(properties().warp_size);
  facts.blocks = std::uint64_t{launch.config.grid.x} * launch.config.grid.y * launch.config.grid.z;
  const auto& block = launch.config.block;
  const auto sample = chosen.sink->choose(
      facts, block_sample::of(facts.blocks, std::uint64_t{block.x} * block.y * block.z, chosen.most_threads));
  recording all(*chosen.sink, std::move(facts), sample, lines_);
  observer.record = &all;
  chosen.sink->begin_launch(all.facts());
  executor_.run(launch);
  chosen.sink->end_launch(all.facts());
}

namespace {

void require_hooks() {
#ifndef TWILL_SIMT_HOOKS
  detail::fail(errc::unsupported, "this build of Twill cannot look at memory accesses",
               "its kernels are compiled for a sanitizer", "configure without TWILL_SANITIZE");
#endif
}

}  // namespace

void simt_device::record(access_sink* sink, std::uint64_t most_threads) {
  require_hooks();
  const std::lock_guard lock(settings_mutex_);
  if (settings_.sink != nullptr) {
    detail::fail(errc::unsupported, properties().name + " is recorded already",
                 "one profile or prediction at a time is taken of a device", "take this one when the other is done");
  }
  settings_.sink = sink;
  settings_.most_threads = most_threads;
}

void simt_device::stop_recording() noexcept {
  const std::lock_guard recording_lock(recording_mutex_);
  const std::lock_guard lock(settings_mutex_);
  settings_.sink = nullptr;
}

void simt_device::check(bool wanted) {
  if (wanted) require_hooks();
  order_.clear();
  const std::lock_guard lock(settings_mutex_);
  settings_.checks = wanted;
}

void simt_device::set_step_limit(std::uint64_t steps) {
  const std::lock_guard lock(settings_mutex_);
  settings_.step_limit = steps;
}

void simt_device::set_order(schedule order) {
  const std::lock_guard lock(settings_mutex_);
  settings_.order = order;
}

void* simt_device::allocate(std::size_t bytes) {
  void* const memory = host_device::allocate(bytes);
  const std::lock_guard lock(settings_mutex_);
  if (settings_.checks) shadow_.add(memory, bytes);
  return memory;
}

void simt_device::release(void* memory) noexcept {
  shadow_.remove(memory);
  if (const auto known = memory_given().find_live(memory)) order_.forget(memory, known->bytes);
  host_device::release(memory);
}

void simt_device::require_bounds(const detail::pitched_rows& a, detail::copy_direction direction) const {
  const bool strict = chosen_settings().checks;
  const auto row_bytes = static_cast<std::size_t>(a.row_bytes);
  const host_access in{"reads", a.in, a.rows, row_bytes, a.in_pitch};
  const host_access out{"writes", a.out, a.rows, row_bytes, a.out_pitch};
  const auto& name = properties().name;
  if (direction != detail::copy_direction::device_to_host) require_device_memory(out, memory_given(), name, strict);
  if (direction != detail::copy_direction::host_to_device) require_device_memory(in, memory_given(), name, strict);
  if (!strict) return;
  if (direction == detail::copy_direction::device_to_host) require_host_memory(out, memory_given(), name);
  if (direction == detail::copy_direction::host_to_device) require_host_memory(in, memory_given(), name);
}

void simt_device::copy(void* stream, void* to, const void* from, std::size_t bytes, detail::copy_direction direction) {
  if (bytes == 0) return;
  const auto row_bytes = static_cast<std::int64_t>(bytes);
  require_bounds({from, to, 1, row_bytes, row_bytes, row_bytes}, direction);
  compare_streams(stream, {from, to, 1, row_bytes, row_bytes, row_bytes}, direction, "a copy");
  host_device::copy(stream, to, from, bytes, direction);
  shadow_.copy(to, from, bytes);
}

void simt_device::copy_rows(void* stream, const detail::pitched_rows& a, detail::copy_direction direction) {
  require_bounds(a, direction);
  compare_streams(stream, a, direction, "a copy");
  host_device::copy_rows(stream, a, direction);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    shadow_.copy(static_cast<char*>(a.out) + row * a.out_pitch, static_cast<const char*>(a.in) + row * a.in_pitch,
                 static_cast<std::size_t>(a.row_bytes));
  }
}

void simt_device::fill(void* stream, void* to, unsigned char value, std::size_t bytes) {
  if (bytes == 0) return;
  require_device_memory({"writes", to, 1, bytes, 0}, memory_given(), properties().name, chosen_settings().checks);
  const auto row_bytes = static_cast<std::int64_t>(bytes);
  compare_streams(stream, {to, to, 1, row_bytes, row_bytes, row_bytes}, detail::copy_direction::host_to_device,
                  "a fill");
  host_device::fill(stream, to, value, bytes);
  shadow_.write(to, bytes);
}

const void* simt_device::host_view(const void* memory, std::size_t bytes) const {
  require_device_memory({"reads", memory, 1, bytes, 0}, memory_given(), properties().name, chosen_settings().checks);
  return memory;
}

}  // namespace twill::simt
