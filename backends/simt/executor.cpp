#include "executor.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace twill::simt {
namespace {

// Two mappings of the address space a guarded stack: systems allow a process 65,530 of them (vm.max_map_count).
constexpr int most_guarded_workers = 16;

// Runs blocks on the calling worker, for whichever device: made when it has its first block, and its to the end. So the
// stacks of a process do not grow with its devices.
block_runner& runner_of(int worker) {
  static thread_local const auto own = std::make_unique<block_runner>(worker < most_guarded_workers);
  return *own;
}

}  // namespace

executor::executor(host::thread_team& team) : team_(team) {}

void executor::run(const grid_launch& launch) {
  const auto& grid = launch.config.grid;
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  const block_order order(launch.order, blocks);
  // Handed out in runs, so that short blocks do not spend their time on the counter they are handed out by.
  const auto members = static_cast<std::uint64_t>(team_.size());
  const std::uint64_t run_length = std::clamp<std::uint64_t>(blocks / (members * 16), 1, 32);
  const std::uint64_t runs = (blocks + run_length - 1) / run_length;

  std::vector<char> begun(members, 0);
  team_.run_on_workers(runs, [&](std::size_t run, int worker) {
    auto& runner = runner_of(worker);
    if (!std::exchange(begun[static_cast<std::size_t>(worker)], 1)) runner.begin(launch);
    const std::uint64_t end = std::min(blocks, (run + 1) * run_length);
    for (std::uint64_t i = run * run_length; i < end; ++i) runner.run(order(i));
  });
}

}  // namespace twill::simt
