#include "simt_device.hpp"

#include <algorithm>
#include <exception>

#include "core/check.hpp"
#include "kernel_name.hpp"
#include "ladder/table.hpp"
#include "ops/table.hpp"

namespace twill::simt {
namespace {

constexpr std::uint64_t most_grid_x = (std::uint64_t{1} << 31) - 1;  // CUDA's limits, since compute capability 3.0
constexpr std::uint64_t most_grid_yz = 65535;

}  // namespace

simt_device::simt_device(device_properties properties, schedule order, int threads)
    : host_device(std::move(properties), threads), executor_(team()), order_(order) {}

const detail::operation_table& simt_device::operations() const noexcept {
  return simt::operations();
}

const detail::ladder_table& simt_device::ladders() const noexcept {
  return simt::ladders();
}

native_error simt_device::refuse(const detail::launch_config& config) const noexcept {
  const auto& [grid, block, shared_bytes] = config;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0) {
    return {refusal::empty, 0, 1};
  }
  if (grid.x > most_grid_x) return {refusal::too_many_blocks, grid.x, most_grid_x};
  if (grid.y > most_grid_yz || grid.z > most_grid_yz) {
    return {refusal::too_many_blocks, std::max(grid.y, grid.z), most_grid_yz};
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

void simt_device::launch(void* stream, const detail::launch_config& config, const kernel_call& kernel) {
  auto& home = stream_of(stream);
  if (home.has_fault()) return;
  grid_launch all{kernel, config, {}};
  access_sink* sink = nullptr;
  std::uint64_t most_threads = 0;
  {
    const std::lock_guard lock(settings_mutex_);
    all.order = order_;
    sink = sink_;
    most_threads = most_threads_;
  }
  try {
    if (sink == nullptr) {
      executor_.run(all);
    } else {
      run_recorded(all, *sink, most_threads);
    }
  } catch (...) {
    home.hold_fault(std::current_exception());
  }
}

void simt_device::run_recorded(grid_launch& launch, access_sink& sink, std::uint64_t most_threads) {
  launch_facts facts;
  facts.kernel = kernel_name(launch.kernel.address);
  facts.config = launch.config;
  facts.warp_lanes = static_cast<unsigned>(properties().warp_size);
  facts.blocks = std::uint64_t{launch.config.grid.x} * launch.config.grid.y * launch.config.grid.z;
  const auto& block = launch.config.block;
  const auto sample =
      sink.choose(facts, block_sample::of(facts.blocks, std::uint64_t{block.x} * block.y * block.z, most_threads));
  recording all(sink, std::move(facts), sample, lines_);
  const memory_map memory(memory_given());
  launch.record = &all;
  launch.memory = &memory;
  sink.begin_launch(all.facts());
  executor_.run(launch);
  sink.end_launch(all.facts());
}

void simt_device::record(access_sink* sink, std::uint64_t most_threads) {
#ifndef TWILL_SIMT_HOOKS
  detail::fail(errc::unsupported, "this build of Twill cannot record memory accesses",
               "its kernels are compiled for a sanitizer", "configure without TWILL_SANITIZE");
#endif
  const std::lock_guard lock(settings_mutex_);
  sink_ = sink;
  most_threads_ = most_threads;
}

void simt_device::stop_recording() noexcept {
  const std::lock_guard lock(settings_mutex_);
  sink_ = nullptr;
}

void simt_device::set_order(schedule order) {
  const std::lock_guard lock(settings_mutex_);
  order_ = order;
}

}  // namespace twill::simt
