// Ranks of one host whose memory the host shares: tiles of a piece go through slots of shared memory that fit the
// caches. The sender writes them in the order of the receiver's memory.

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "backends/error.hpp"
#include "core/operations.hpp"
#include "move/permute_call.hpp"
#include "team/operations.hpp"
#include "team/plan/exchange.hpp"
#include "team/ring.hpp"
#include "team/transport.hpp"

namespace twill::detail {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::int64_t most_tile_bytes = std::int64_t{256} << 10;
constexpr std::int64_t least_streamed_run = 256;  // bytes: shorter ones share too many lines

class shared final : public transport_impl {
 public:
  explicit shared(const team_job& job)
      : team_(job.team),
        rank_(team_->local().front()),
        group_(job.group_of(rank_)),
        timeout_(job.options.timeout),
        rings_(static_cast<std::size_t>(job.layout.size)) {
    team_->together([&](int) { make_ring(job); });
    const std::vector<segment_ticket> tickets = team_->gather(std::vector<segment_ticket>{ring_of(rank_).ticket()});
    team_->together([&](int) {
      for (const int peer : group_) {
        if (peer != rank_) ring_of(peer) = ring(job.layout.size, tickets[static_cast<std::size_t>(peer)]);
      }
      list_receives(job);
    });
    ring_of(rank_).close();
  }

  void run(const std::vector<stream_ref>& streams) override {
    const stream_ref& stream = streams.front();
    const std::uint64_t run = runs_++;
    ring_of(rank_).begin(runs_);
    for (const permute_args& one : own_) run_permutation(stream, one);
    progress at{0, 0, run};
    while (at.sent < sends_.size() || at.received < receives_.size()) {
      if (!advance(stream, at)) wait(stream, at);
    }
  }

 private:
  // Without the memory of the slot.
  struct message {
    int peer;
    std::uint64_t number;  // of the messages of the sender's run
    permute_args move;
  };

  struct progress {
    std::size_t sent, received;
    std::uint64_t run;
  };

  // Whether there was anything to do.
  bool advance(stream_ref stream, progress& at) {
    const bool sends = at.sent < sends_.size() && send(stream, at.sent, at.run);
    const bool receives = at.received < receives_.size() && receive(stream, at.received, at.run);
    at.sent += sends ? 1 : 0;
    at.received += receives ? 1 : 0;
    return sends || receives;
  }

  // Returns when something was done. Others may need the core, so that it is given away before long.
  void wait(stream_ref stream, progress& at) {
    for (int spin = 0; spin < 100; ++spin) {
      if (advance(stream, at)) return;
    }
    const ring& own = ring_of(rank_);
    const auto& make_progress = team_->link().progress;
    const std::chrono::milliseconds most = make_progress ? std::chrono::milliseconds(2) : timeout_;
    const auto end = clock::now() + timeout_;
    for (auto left = timeout_; left.count() > 0;
         left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now())) {
      own.prepare_sleep();
      if (advance(stream, at)) return own.cancel_sleep();
      own.sleep(std::min(left, most));
      if (make_progress) make_progress();
    }
    own.cancel_sleep();
    if (advance(stream, at)) return;  // it came while this process was stopped
    fail_missing(at.received < receives_.size() ? receives_[at.received].peer : holder_of_slot(at.sent, at.run));
  }

  ring& ring_of(int rank) { return rings_[static_cast<std::size_t>(rank)]; }

  void make_ring(const team_job& job) {
    const auto* const in = static_cast<const unsigned char*>(job.memory.front().in);
    std::int64_t most = 0;
    std::vector<std::uint64_t> first(rings_.size());
    for (const piece& to : job.pieces_from(rank_)) {
      if (to.peer == rank_) {
        own_.push_back(with_memory(move_of(job.layout, rank_, to), in, job.memory.front().out));
        continue;
      }
      first[static_cast<std::size_t>(to.peer)] = sends_.size();
      for (const piece& tile : tiles_of(job.layout, to, most_tile_bytes)) {
        most = std::max(most, tile.bytes);
        offset_move move = pack_of(job.layout, rank_, tile);
        move.form.in = in + move.in_offset;
        sends_.push_back({to.peer, sends_.size(), move.form});
      }
    }
    constexpr std::int64_t page = 4096;
    ring_of(rank_) = ring(job.layout.size, sends_.size(), static_cast<std::size_t>((most + page - 1) / page * page));
    for (int peer = 0; peer < job.layout.size; ++peer) {
      ring_of(rank_).first_for(peer) = first[static_cast<std::size_t>(peer)];
    }
  }

  void list_receives(const team_job& job) {
    auto* const out = static_cast<unsigned char*>(job.memory.front().out);
    for (const piece& from : job.pieces_to(rank_)) {
      if (from.peer == rank_) continue;
      std::uint64_t number = ring_of(from.peer).first_for(rank_);
      for (const piece& tile : tiles_of(job.layout, from, most_tile_bytes)) {
        offset_move move = unpack_of(job.layout, rank_, tile);
        move.form.out = out + move.out_offset;
        receives_.push_back({from.peer, number++, move.form});
      }
    }
  }

  bool send(stream_ref stream, std::size_t at, std::uint64_t run) {
    const message& one = sends_[at];
    const ring& through = ring_of(rank_);
    const std::uint64_t number = run * sends_.size() + one.number;
    if (!through.is_free(number)) return false;
    permute_args args = one.move;
    args.out = through.slot(number);
    run_permutation(stream, args);
    through.fill(number);
    ring_of(one.peer).wake();
    return true;
  }

  bool receive(stream_ref stream, std::size_t at, std::uint64_t run) {
    const message& one = receives_[at];
    const ring& through = ring_of(one.peer);
    const std::uint64_t number = run * through.messages_of_a_run() + one.number;
    if (!through.is_filled(number)) return false;
    permute_args args = one.move;
    args.in = through.slot(number);
    if (args.run_bytes >= least_streamed_run) {
      operations_of(stream).team.store_tile(queue_of(stream), args);
    } else {
      run_permutation(stream, args);
    }
    through.take(number);
    through.wake();
    return true;
  }

  // Who has not taken what is in the slot of message `at`.
  int holder_of_slot(std::size_t at, std::uint64_t run) const {
    return sends_[(run * sends_.size() + at - ring::slots) % sends_.size()].peer;
  }

  [[noreturn]] void fail_missing(int awaited) {
    std::string names;
    for (const int peer : group_) {
      if (ring_of(peer).begun() >= runs_) continue;
      names.append(names.empty() ? "rank " : ", rank ").append(std::to_string(peer));
    }
    const std::string within = " within " + std::to_string(timeout_.count()) + " ms";
    fail(errc::device_fault,
         names.empty() ? "rank " + std::to_string(awaited) + " did not go on with this run" + within
                       : names + " did not come to this run" + within,
         "rank " + std::to_string(rank_) + " waited", "see that every rank runs the plan as often");
  }

  std::shared_ptr<team_state> team_;
  int rank_;
  std::vector<int> group_;
  std::chrono::milliseconds timeout_;
  std::vector<ring> rings_;  // by rank; empty where not of the group
  std::vector<permute_args> own_;
  std::vector<message> sends_, receives_;
  std::uint64_t runs_ = 0;
};

}  // namespace

std::unique_ptr<transport_impl> make_shared(const team_job& job) {
  return std::make_unique<shared>(job);
}

}  // namespace twill::detail
