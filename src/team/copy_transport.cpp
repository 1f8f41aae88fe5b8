// Transport copy: pieces are packed in the order of the receiver's memory, part by part, and copied to their final
// place there by the copy engines while the next part is packed. What is in that order already is copied unpacked.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <twill/event.hpp>

#include "core/operations.hpp"
#include "move/permute_call.hpp"
#include "team/counters.hpp"
#include "team/plan/exchange.hpp"
#include "team/plan/pitched.hpp"
#include "team/transport.hpp"

namespace twill::detail {
namespace {

constexpr std::int64_t most_copies = 32;       // of a part
constexpr std::int64_t least_row_bytes = 512;  // of a part that is copied unpacked

// A part of a piece: from the rank's input to the peer's output, through scratch memory where it is packed.
struct push {
  std::size_t lane;
  std::optional<permute_args> pack;
  std::vector<pitched_rows> copies;
  std::optional<permute_args> store;  // by a kernel, where copies would be too many
};

// A peer, and the stream that pushes to it.
struct push_lane {
  int peer;
  stream along;
  event begun, done;
};

struct pushing_member {
  raw_buffer scratch;
  std::vector<push_lane> lanes;
  std::vector<push> pushes;  // the first part of each peer, then the second...
  std::vector<permute_args> own;
  event ready;
};

std::vector<pitched_rows> with_memory(const std::vector<pitched_part>& parts, const permute_args& args) {
  std::vector<pitched_rows> copies;
  for (const pitched_part& one : parts) {
    copies.push_back({static_cast<const unsigned char*>(args.in) + one.in_offset,
                      static_cast<unsigned char*>(args.out) + one.out_offset, one.rows, one.row_bytes, one.in_pitch,
                      one.out_pitch});
  }
  return copies;
}

class copy_transport final : public transport_impl {
 public:
  explicit copy_transport(const team_job& job)
      : team_(job.team),
        counters_(job),
        synchronous_(peer_access_of(*job.team->local_device(0).impl()).is_synchronous()) {
    std::vector<void*> outs;
    for (const member_memory& memory : job.memory) outs.push_back(memory.out);
    outs_ = share_memory(job, outs);
    members_.resize(outs.size());
    team_->together([&](int i) { prepare(job, i); });
  }

  void run(const std::vector<stream_ref>& streams) override {
    const int count = team_->local_count();
    for (int i = 0; i < count; ++i) {
      counters_.signal(i, streams[static_cast<std::size_t>(i)], handshake_phase::ready);
    }
    for (int i = 0; i < count; ++i) push_all(i, streams[static_cast<std::size_t>(i)]);
    for (int i = 0; i < count; ++i) {
      counters_.await(i, streams[static_cast<std::size_t>(i)], handshake_phase::done);
    }
  }

 private:
  void prepare(const team_job& job, int i) {
    const auto at = static_cast<std::size_t>(i);
    const int rank = team_->local()[at];
    pushing_member& member = members_[at];
    std::vector<std::vector<piece>> parts;  // by lane
    for (const piece& to : job.pieces_from(rank)) {
      if (to.peer == rank) {
        member.own.push_back(detail::with_memory(move_of(job.layout, rank, to), job.memory[at].in, job.memory[at].out));
        continue;
      }
      const device& on = team_->local_device(i);
      member.lanes.push_back({to.peer, stream(on), event(on), event(on)});
      parts.push_back(parts_of(job.layout, to, job.options.parts));
    }
    member.ready = event(team_->local_device(i));
    add_all(job, i, parts);
  }

  void add_all(const team_job& job, int i, const std::vector<std::vector<piece>>& parts) {
    pushing_member& member = members_[static_cast<std::size_t>(i)];
    std::vector<std::pair<std::size_t, std::int64_t>> packed;  // place in `pushes`, and in the scratch memory
    std::int64_t scratch = 0;
    bool more = true;
    for (std::size_t round = 0; more; ++round) {
      more = false;
      for (std::size_t lane = 0; lane < parts.size(); ++lane) {
        if (round >= parts[lane].size()) continue;
        more = true;
        if (add_unpacked(job, i, lane, parts[lane][round])) continue;
        packed.emplace_back(member.pushes.size(), scratch);
        scratch += (parts[lane][round].bytes + 255) / 256 * 256;
        member.pushes.push_back({lane, std::nullopt, {}, std::nullopt});
        waiting_.push_back(parts[lane][round]);
      }
    }
    if (scratch > 0) member.scratch = raw_buffer(team_->local_device(i), static_cast<std::size_t>(scratch));
    for (std::size_t k = 0; k < packed.size(); ++k) {
      auto* const through = static_cast<unsigned char*>(member.scratch.data()) + packed[k].second;
      add_packed(job, i, member.pushes[packed[k].first], waiting_[k], through);
    }
    waiting_.clear();
  }

  bool add_unpacked(const team_job& job, int i, std::size_t lane, const piece& part) {
    const auto at = static_cast<std::size_t>(i);
    const permute_args args =
        detail::with_memory(move_of(job.layout, team_->local()[at], part), job.memory[at].in, outs_[at]->at(part.peer));
    if (args.rank > 0 && args.run_bytes < least_row_bytes) return false;
    const auto copies = pitched_parts(args, most_copies);
    if (!copies) return false;
    members_[at].pushes.push_back({lane, std::nullopt, with_memory(*copies, args), std::nullopt});
    return true;
  }

  void add_packed(const team_job& job, int i, push& to, const piece& part, void* through) const {
    const auto at = static_cast<std::size_t>(i);
    to.pack = detail::with_memory(pack_of(job.layout, team_->local()[at], part), job.memory[at].in, through);
    const permute_args args =
        detail::with_memory(unpack_of(job.layout, part.peer, part), through, outs_[at]->at(part.peer));
    if (const auto copies = pitched_parts(args, most_copies)) {
      to.copies = with_memory(*copies, args);
    } else {
      to.store = args;
    }
  }

  // One wait for all peers, before the first part is packed.
  void push_all(int i, stream_ref stream) {
    pushing_member& member = members_[static_cast<std::size_t>(i)];
    counters_.await(i, stream, handshake_phase::ready);
    for (const push& one : member.pushes) {
      if (one.pack) run_permutation(stream, *one.pack);
      push_lane& lane = member.lanes[one.lane];
      lane.begun.record(stream);
      lane.along.wait(lane.begun);
      const auto& device = team_->local_device(i).impl();
      for (const pitched_rows& rows : one.copies) {
        if (rows.rows == 1) {
          device->copy(lane.along.native(), rows.out, rows.in, static_cast<std::size_t>(rows.row_bytes),
                       copy_direction::device_to_device);
        } else {
          device->copy_rows(lane.along.native(), rows, copy_direction::device_to_device);
        }
      }
      if (one.store) run_permutation(lane.along, *one.store);
    }
    for (const permute_args& one : member.own) run_permutation(stream, one);
    end(i, stream);
  }

  // Copies of counters where copies have pushed: they arrive in the order of the stream. The whole group is signalled.
  void end(int i, stream_ref stream) {
    pushing_member& member = members_[static_cast<std::size_t>(i)];
    const auto pushed_to = [&](int peer) {
      return std::any_of(member.lanes.begin(), member.lanes.end(), [&](const push_lane& l) { return l.peer == peer; });
    };
    for (push_lane& lane : member.lanes) {
      if (!synchronous_) counters_.signal_done_by_copy(i, lane.along, lane.peer);
      lane.done.record(lane.along);
      stream.wait(lane.done);
    }
    if (synchronous_) {
      counters_.signal(i, stream, handshake_phase::done);
      return;
    }
    for (const int peer : counters_.group(i)) {
      if (!pushed_to(peer)) counters_.signal_done_by_copy(i, stream, peer);
    }
  }

  std::shared_ptr<team_state> team_;
  counters counters_;
  bool synchronous_;
  std::vector<std::unique_ptr<peer_memory>> outs_;
  std::vector<pushing_member> members_;  // by local rank
  std::vector<piece> waiting_;           // for scratch memory, while the plan is made
};

}  // namespace

std::unique_ptr<transport_impl> make_copy(const team_job& job) {
  return std::make_unique<copy_transport>(job);
}

}  // namespace twill::detail
