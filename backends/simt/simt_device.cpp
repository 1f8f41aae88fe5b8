#include "simt_device.hpp"

#include <algorithm>
#include <exception>

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
  {
    const std::lock_guard lock(order_mutex_);
    all.order = order_;
  }
  try {
    executor_.run(all);
  } catch (...) {
    home.hold_fault(std::current_exception());
  }
}

void simt_device::set_order(schedule order) {
  const std::lock_guard lock(order_mutex_);
  order_ = order;
}

}  // namespace twill::simt
