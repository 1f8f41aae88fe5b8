#include "peer_memory.hpp"

#include <algorithm>
#include <string>

#include "backends/error.hpp"

namespace twill::detail {
namespace {

// What one rank tells the others about its memory.
struct offer {
  std::uint64_t address;
  exported_memory exported;
};

// Whether a local rank is connected with ranks of other processes.
bool leaves_process(const team_job& job, int i) {
  const std::vector<int> group = job.group_of(job.team->local()[static_cast<std::size_t>(i)]);
  return std::any_of(group.begin(), group.end(), [&](int rank) { return !job.team->same_process(rank); });
}

}  // namespace

peer_memory::~peer_memory() {
  for (const opened_memory& one : opened_) peer_access_of(*on_.impl()).close_memory(one.memory, one.offset);
}

std::vector<std::unique_ptr<peer_memory>> share_memory(const team_job& job, const std::vector<void*>& mine) {
  const team_state& team = *job.team;
  const auto count = static_cast<std::size_t>(team.local_count());
  std::vector<offer> offers(count);
  team.together([&](int i) {
    const auto at = static_cast<std::size_t>(i);
    offers[at].address = reinterpret_cast<std::uintptr_t>(mine[at]);
    if (mine[at] != nullptr && leaves_process(job, i)) {
      offers[at].exported = peer_access_of(*team.local_device(i).impl()).export_memory(mine[at]);
    }
  });
  const std::vector<offer> all = team.gather(offers);
  std::vector<std::unique_ptr<peer_memory>> shared(count);
  team.together([&](int i) {
    auto one = std::make_unique<peer_memory>();
    one->on_ = team.local_device(i);
    one->opened_.reserve(static_cast<std::size_t>(team.size()));
    for (int rank = 0; rank < team.size(); ++rank) {
      const offer& from = all[static_cast<std::size_t>(rank)];
      // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of this process
      auto* memory = reinterpret_cast<void*>(static_cast<std::uintptr_t>(from.address));
      if (!job.connects(team.local()[static_cast<std::size_t>(i)], rank)) {
        memory = nullptr;
      } else if (memory != nullptr && !team.same_process(rank)) {
        memory = peer_access_of(*one->on_.impl()).open_memory(from.exported);
        one->opened_.push_back({memory, from.exported.offset});
      }
      one->at_.push_back(memory);
    }
    shared[static_cast<std::size_t>(i)] = std::move(one);
  });
  return shared;
}

}  // namespace twill::detail
