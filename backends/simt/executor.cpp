#include "executor.hpp"

#include <algorithm>
#include <utility>

namespace twill::simt {
namespace {

// Two mappings of the address space a guarded stack: systems allow a process 65,530 of them.
constexpr int most_guarded_members = 16;

}  // namespace

executor::executor(host::thread_team& team) : team_(team), runners_(static_cast<std::size_t>(team.size())) {}

void executor::run(const grid_launch& launch) {
  const auto& grid = launch.config.grid;
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  const block_order order(launch.order, blocks);
  // Handed out in runs, so that short blocks do not spend their time on the counter they are handed out by.
  const auto members = static_cast<std::uint64_t>(team_.size());
  const std::uint64_t run_length = std::clamp<std::uint64_t>(blocks / (members * 16), 1, 32);
  const std::uint64_t runs = (blocks + run_length - 1) / run_length;

  std::vector<char> begun(runners_.size(), 0);
  team_.run(runs, [&](std::size_t run, int member) {
    auto& runner = runners_[static_cast<std::size_t>(member)];
    if (!runner) runner = std::make_unique<block_runner>(team_.size() <= most_guarded_members);
    if (!std::exchange(begun[static_cast<std::size_t>(member)], 1)) runner->begin(launch);
    const std::uint64_t end = std::min(blocks, (run + 1) * run_length);
    for (std::uint64_t turn = run * run_length; turn < end; ++turn) runner->run(order(turn));
  });
}

}  // namespace twill::simt
