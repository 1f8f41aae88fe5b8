// Transport direct: each rank's kernels store into the final place of every element, in the memory of its peers.

#include <string>
#include <vector>

#include "backends/error.hpp"
#include "core/call.hpp"
#include "move/permute_call.hpp"
#include "team/counters.hpp"
#include "team/plan/exchange.hpp"
#include "team/transport.hpp"

namespace twill::detail {
namespace {

struct reach_report {
  char why[200];
};

struct device_address {
  std::uint64_t device;
};

bool same_device_kind(const team_member& a, const team_member& b) {
  return a.device.substr(0, a.device.find(':')) == b.device.substr(0, b.device.find(':'));
}

// Why the device of local rank `i` cannot store into that of `rank`; "" when it can.
std::string no_reach(const team_state& team, int i, int rank, backend_device* there) {
  const device& here = team.local_device(i);
  const team_member& peer = team.members()[static_cast<std::size_t>(rank)];
  auto& access = peer_access_of(*here.impl());
  const std::string pair = here.properties().name + " and rank " + std::to_string(rank) + "'s " + peer.device;
  if (team.same_process(rank)) return access.reach(*there) ? "" : "there is no access between " + pair;
  if (!team.same_host(rank)) return pair + " are on different hosts";
  const team_member& self = team.members()[static_cast<std::size_t>(team.local()[static_cast<std::size_t>(i)])];
  if (access.is_synchronous() || !same_device_kind(self, peer)) return pair + " are of processes that share no memory";
  return "";
}

class direct final : public carrier {
 public:
  explicit direct(const team_job& job) : team_(job.team), counters_(job.team, job.timeout) {
    std::vector<void*> outs;
    for (const member_memory& memory : job.memory) outs.push_back(memory.out);
    outs_ = share_memory(*team_, outs);
    moves_.resize(outs.size());
    team_->together([&](int i) {
      const auto at = static_cast<std::size_t>(i);
      const int rank = team_->local()[at];
      for (const piece& to : pieces_from(job.layout, rank)) {
        const offset_move move = move_of(job.layout, rank, to);
        moves_[at].push_back({to.peer == rank, with_memory(move, job.memory[at].in, outs_[at]->at(to.peer))});
      }
    });
  }

  // Each step for all local ranks before the next: no stream waits for what is given to another one later.
  void run(const std::vector<stream_ref>& streams) override {
    const int count = team_->local_count();
    for (int i = 0; i < count; ++i) {
      counters_.signal(i, streams[static_cast<std::size_t>(i)], handshake_phase::ready);
      start(i, streams[static_cast<std::size_t>(i)], true);
    }
    for (int i = 0; i < count; ++i) {
      const stream_ref& stream = streams[static_cast<std::size_t>(i)];
      counters_.await(i, stream, handshake_phase::ready);
      start(i, stream, false);
      counters_.signal(i, stream, handshake_phase::done);
    }
    for (int i = 0; i < count; ++i) {
      counters_.await(i, streams[static_cast<std::size_t>(i)], handshake_phase::done);
    }
  }

 private:
  struct store {
    bool own;  // into this rank's own memory: no peer need be ready
    permute_args args;
  };

  void start(int i, stream_ref stream, bool own) const {
    for (const store& one : moves_[static_cast<std::size_t>(i)]) {
      if (one.own == own) run_permutation(stream, one.args);
    }
  }

  std::shared_ptr<team_state> team_;
  counters counters_;
  std::vector<std::unique_ptr<peer_memory>> outs_;
  std::vector<std::vector<store>> moves_;  // by local rank, in ring order
};

}  // namespace

std::string no_direct_reach(const team_job& job) {
  const team_state& team = *job.team;
  std::vector<device_address> mine;
  for (int i = 0; i < team.local_count(); ++i) {
    mine.push_back({reinterpret_cast<std::uintptr_t>(team.local_device(i).impl().get())});
  }
  const auto devices = team.gather(mine);
  std::vector<reach_report> reports(mine.size());
  team.together([&](int i) {
    for (int rank = 0; rank < team.size(); ++rank) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): used for ranks of this process alone
      auto* there = reinterpret_cast<backend_device*>(devices[static_cast<std::size_t>(rank)].device);
      const std::string why = no_reach(team, i, rank, there);
      if (why.empty()) continue;
      why.copy(reports[static_cast<std::size_t>(i)].why, sizeof(reach_report::why) - 1);
      return;
    }
  });
  for (const reach_report& one : team.gather(reports)) {
    if (one.why[0] != 0) return one.why;
  }
  return "";
}

std::unique_ptr<carrier> make_direct(const team_job& job) {
  return std::make_unique<direct>(job);
}

}  // namespace twill::detail
