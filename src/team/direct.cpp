// Transport direct: each rank's kernels store into the final place of every element, in the memory of its peers.
// Matrices of elements of up to 16 bytes are moved by one kernel for all peers, everything else by a kernel of the
// planner's for each.

#include <optional>
#include <string>
#include <vector>

#include <twill/event.hpp>

#include "backends/error.hpp"
#include "core/operations.hpp"
#include "move/permute_call.hpp"
#include "move/plan/normal_form.hpp"
#include "team/counters.hpp"
#include "team/plan/exchange.hpp"
#include "team/transport.hpp"

namespace twill::detail {
namespace {

struct device_address {
  std::uint64_t device;
};

bool same_device_kind(const team_member& a, const team_member& b) {
  return a.device.substr(0, a.device.find(':')) == b.device.substr(0, b.device.find(':'));
}

// Why the device of local rank `i` cannot store into that of `rank`; "" when it can.
std::string no_reach(const team_job& job, int i, int rank, backend_device* there) {
  const team_state& team = *job.team;
  const device& here = team.local_device(i);
  const team_member& peer = team.members()[static_cast<std::size_t>(rank)];
  auto& access = peer_access_of(*here.impl());
  const std::string pair = here.properties().name + " and rank " + std::to_string(rank) + "'s " + peer.device;
  const int own = team.local()[static_cast<std::size_t>(i)];
  if (job.nodes[static_cast<std::size_t>(own)] != job.nodes[static_cast<std::size_t>(rank)]) {
    return pair + " are on different nodes";
  }
  if (team.same_process(rank)) return access.reach(*there) ? "" : "there is no access between " + pair;
  if (!team.same_host(rank)) return pair + " are on different hosts";
  const team_member& self = team.members()[static_cast<std::size_t>(own)];
  if (access.is_synchronous() || !same_device_kind(self, peer)) return pair + " are of processes that share no memory";
  return "";
}

constexpr std::int64_t least_lane_bytes = std::int64_t{4} << 20;  // two events cost as much as moving them

// Whether the kernel of exchanges applies: matrices that are no narrow strips.
bool is_tiled(const transpose_args& a) {
  const std::int64_t bytes = a.element_bytes;
  if (bytes > 16 || (bytes & (bytes - 1)) != 0 || a.rows * bytes < 128 || a.cols * bytes < 64) return false;
  return a.rows * a.batch <= (std::int64_t{1} << 36) / a.cols;  // tiles are counted in 32 bits
}

// Whether rows on both sides begin and end at multiples of `vector` bytes.
bool is_aligned_to(const transpose_args& a, std::int64_t vector) {
  const std::int64_t strides = a.batch > 1 ? a.in_stride | a.out_stride : 0;
  const auto places = reinterpret_cast<std::uintptr_t>(a.in) | reinterpret_cast<std::uintptr_t>(a.out);
  const std::int64_t distances = (a.rows | a.cols | a.in_ld | a.out_ld | strides) * a.element_bytes;
  return (static_cast<std::int64_t>(places) | distances) % vector == 0;
}

constexpr std::int64_t vector_bytes = 16;

bool has_device_each(const team_state& team) {
  for (int i = 0; i < team.local_count(); ++i) {
    for (int k = 0; k < i; ++k) {
      if (team.local_device(i) == team.local_device(k)) return false;
    }
  }
  return !peer_access_of(*team.local_device(0).impl()).is_synchronous();
}

class direct final : public transport_impl {
 public:
  explicit direct(const team_job& job)
      : team_(job.team),
        counters_(job),
        blocks_per_peer_(job.options.blocks_per_peer),
        device_each_(has_device_each(*job.team)) {
    std::vector<void*> outs;
    for (const member_memory& memory : job.memory) outs.push_back(memory.out);
    outs_ = share_memory(job, outs);
    members_.resize(outs.size());
    team_->together([&](int i) {
      const auto at = static_cast<std::size_t>(i);
      const int rank = team_->local()[at];
      for (const piece& to : job.pieces_from(rank)) {
        const offset_move move = move_of(job.layout, rank, to);
        add(i, to.peer, with_memory(move, job.memory[at].in, outs_[at]->at(to.peer)), to.bytes);
      }
    });
  }

  // Each step for all local ranks before the next: ranks that share a device wait for what is in its queues already.
  void run(const std::vector<stream_ref>& streams) override {
    const int count = team_->local_count();
    for (int i = 0; i < count; ++i) {
      counters_.signal(i, streams[static_cast<std::size_t>(i)], handshake_phase::ready);
      start_own(i, streams[static_cast<std::size_t>(i)]);
    }
    for (int i = 0; i < count; ++i) {
      const stream_ref& stream = streams[static_cast<std::size_t>(i)];
      exchange(i, stream);
      if (device_each_) {
        counters_.finish(i, stream);
      } else {
        counters_.signal(i, stream, handshake_phase::done);
      }
    }
    for (int i = 0; i < count && !device_each_; ++i) {
      counters_.await(i, streams[static_cast<std::size_t>(i)], handshake_phase::done);
    }
  }

 private:
  struct store {
    bool own;  // into this rank's own memory: no peer need be ready
    permute_args args;
  };
  // A stream for the rank's own large pieces: its memory has bandwidth to spare while the link is busy.
  struct own_lane {
    explicit own_lane(const device& on) : along(on), begun(on), done(on) {}
    stream along;
    event begun, done;
  };
  struct member {
    std::vector<exchange_piece> tiles;  // in ring order: one kernel moves them all
    bool in_vectors = true;             // rows of all tiles are aligned to vectors
    std::vector<store> others;          // in ring order: a kernel each
    bool awaits = false;                // some of the others go to peers
    std::optional<own_lane> lane;       // none: own pieces go before the others
  };

  void add(int i, int peer, const permute_args& args, std::int64_t bytes) {
    member& to = members_[static_cast<std::size_t>(i)];
    const bool own = peer == team_->local()[static_cast<std::size_t>(i)];
    const auto transpose = as_transpose(args);
    if (transpose && one_kernel_applies(i, *transpose)) {
      to.tiles.push_back({*transpose, counters_.index_of(i, peer)});
      to.in_vectors = to.in_vectors && is_aligned_to(*transpose, vector_bytes);
      return;
    }
    to.others.push_back({own, args});
    to.awaits = to.awaits || !own;
    if (own && bytes >= least_lane_bytes && team_->size() > 1) to.lane.emplace(team_->local_device(i));
  }

  // The kernel takes pieces of one element size.
  bool one_kernel_applies(int i, const transpose_args& a) const {
    const device& on = team_->local_device(i);
    const auto& tiles = members_[static_cast<std::size_t>(i)].tiles;
    if (on.impl()->operations->team.exchange == nullptr || !is_tiled(a)) return false;
    if (!tiles.empty() && tiles.front().move.element_bytes != a.element_bytes) return false;
    return is_aligned_to(a, vector_bytes) || (a.element_bytes < vector_bytes && is_aligned_to(a, a.element_bytes) &&
                                              on.properties().shared_bytes_per_block >= exchange_shared_bytes);
  }

  void exchange(int i, stream_ref stream) {
    const member& from = members_[static_cast<std::size_t>(i)];
    // Where the host waits, it waits for all. Blocks that wait could fill a device that another rank's signal needs.
    if (from.awaits || !device_each_ || peer_access_of(device_of(stream)).is_synchronous()) {
      counters_.await(i, stream, handshake_phase::ready);
    }
    if (!from.tiles.empty()) {
      const exchange_call call{from.tiles.data(), static_cast<int>(from.tiles.size()),
                               from.in_vectors,   counters_.of(i),
                               blocks_per_peer_,  counters_.ticks()};
      operations_of(stream).team.exchange(queue_of(stream), call);
    }
    start(i, stream, false);
    if (from.lane) stream.wait(from.lane->done);
  }

  void start_own(int i, stream_ref stream) {
    auto& lane = members_[static_cast<std::size_t>(i)].lane;
    if (lane) {
      lane->begun.record(stream);
      lane->along.wait(lane->begun);
      start(i, lane->along, true);
      lane->done.record(lane->along);
    } else {
      start(i, stream, true);
    }
  }

  void start(int i, stream_ref stream, bool own) const {
    for (const store& one : members_[static_cast<std::size_t>(i)].others) {
      if (one.own == own) run_permutation(stream, one.args);
    }
  }

  std::shared_ptr<team_state> team_;
  counters counters_;
  int blocks_per_peer_;
  bool device_each_;
  std::vector<std::unique_ptr<peer_memory>> outs_;
  std::vector<member> members_;  // by local rank
};

}  // namespace

std::string no_direct_reach(const team_job& job) {
  const team_state& team = *job.team;
  std::vector<device_address> mine;
  for (int i = 0; i < team.local_count(); ++i) {
    mine.push_back({reinterpret_cast<std::uintptr_t>(team.local_device(i).impl().get())});
  }
  const auto devices = team.gather(mine);
  return team.first_reason([&](int i) -> std::string {
    for (int rank = 0; rank < team.size(); ++rank) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): used for ranks of this process alone
      auto* there = reinterpret_cast<backend_device*>(devices[static_cast<std::size_t>(rank)].device);
      if (!job.connects(team.local()[static_cast<std::size_t>(i)], rank)) continue;
      const std::string why = no_reach(job, i, rank, there);
      if (!why.empty()) return why;
    }
    return "";
  });
}

std::unique_ptr<transport_impl> make_direct(const team_job& job) {
  return std::make_unique<direct>(job);
}

}  // namespace twill::detail
