// Transport mpi: pieces are cut into messages, packed by the sender in the order of the receiver's memory, and carried
// by the messages of the team's link, several at a time: from device memory where the link takes it.

#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "backends/error.hpp"
#include "backends/peer_access.hpp"
#include "move/permute_call.hpp"
#include "team/plan/exchange.hpp"
#include "team/staging.hpp"
#include "team/transport.hpp"

namespace twill::detail {
namespace {

constexpr std::int64_t most_message_bytes = std::int64_t{1} << 20;
constexpr std::size_t slots = 4;  // messages in flight in each direction

struct staged_message {
  int peer, step;  // around the ring; messages of all ranks are sorted by step and part
  std::size_t part;
  std::int64_t bytes;
  permute_args move;  // without the message's own memory
};

// What is in flight of one direction: message n has slot n % slots.
struct lane {
  std::vector<staged_message> messages;
  std::vector<staging> buffers;
  std::vector<void*> transfers;  // by slot; null: none
  std::size_t begun = 0;

  staging& buffer(std::size_t n) { return buffers[n % slots]; }
  void*& transfer(std::size_t n) { return transfers[n % slots]; }
};

class staged final : public transport_impl {
 public:
  explicit staged(const team_job& job) : team_(job.team) {
    team_->together([&](int) {
      const int rank = team_->local().front();
      for (const piece& to : job.pieces_from(rank)) add(job, sends_, rank, to, true);
      for (const piece& from : job.pieces_to(rank)) add(job, receives_, rank, from, false);
      for (lane* each : {&sends_, &receives_}) reserve(*each);
    });
  }

  void run(const std::vector<stream_ref>& streams) override {
    try {
      exchange(streams.front());
    } catch (const error&) {
      abandon();
      throw;
    } catch (const std::exception& e) {
      abandon();
      fail(errc::device_fault, "the team's link failed on rank " + std::to_string(team_->link().rank), e.what(),
           "see that every rank runs the plan as often");
    } catch (...) {
      abandon();
      throw;
    }
  }

 private:
  void add(const team_job& job, lane& to, int rank, const piece& whole, bool sends) {
    const member_memory& memory = job.memory.front();
    if (whole.peer == rank) {
      if (sends) own_.push_back(with_memory(move_of(job.layout, rank, whole), memory.in, memory.out));
      return;
    }
    const int size = job.layout.size, step = ((sends ? whole.peer - rank : rank - whole.peer) + size) % size;
    std::size_t part = 0;
    for (const piece& one : split(job.layout, whole, most_message_bytes)) {
      offset_move move = sends ? pack_of(job.layout, rank, one) : unpack_of(job.layout, rank, one);
      move.form.in = sends ? static_cast<const unsigned char*>(memory.in) + move.in_offset : nullptr;
      move.form.out = sends ? nullptr : static_cast<unsigned char*>(memory.out) + move.out_offset;
      to.messages.push_back({whole.peer, step, part++, one.bytes, move.form});
    }
  }

  void reserve(lane& to) {
    std::int64_t most = 0;
    for (const staged_message& one : to.messages) most = std::max(most, one.bytes);
    for (std::size_t n = 0; n < std::min(slots, to.messages.size()); ++n) {
      to.buffers.emplace_back(team_->local_device(0), most, team_->link().takes_device_memory);
    }
    to.transfers.assign(slots, nullptr);
  }

  void finish(lane& of, std::size_t n) {
    void* const transfer = std::exchange(of.transfer(n), nullptr);
    if (transfer != nullptr) team_->link().finish(transfer);
  }

  // Packs message n in the stream; its slot was that of message n - slots.
  void pack(std::size_t n, stream_ref stream) {
    if (n >= slots) finish(sends_, n - slots);
    const staged_message& one = sends_.messages[n];
    staging& buffer = sends_.buffer(n);
    permute_args args = one.move;
    args.out = buffer.on_device();
    run_permutation(stream, args);
    buffer.download(stream, one.bytes);
    buffer.mark(stream);
  }

  void receive_up_to(std::size_t end) {
    for (std::size_t& n = receives_.begun; n < std::min(end, receives_.messages.size()); ++n) {
      if (n >= slots) receives_.buffer(n).wait();  // what was received there is unpacked
      receives_.transfer(n) = team_->link().receive(receives_.messages[n].peer, receives_.buffer(n).sent(),
                                                    static_cast<std::size_t>(receives_.messages[n].bytes));
    }
  }

  void send(std::size_t n, stream_ref stream) {
    // The next ones are packed while this one is on the wire.
    for (std::size_t& next = sends_.begun; next < std::min(n + slots / 2, sends_.messages.size()); ++next) {
      pack(next, stream);
    }
    const staged_message& one = sends_.messages[n];
    sends_.buffer(n).wait();
    sends_.transfer(n) = team_->link().send(one.peer, sends_.buffer(n).sent(), static_cast<std::size_t>(one.bytes));
  }

  void unpack(std::size_t n, stream_ref stream) {
    finish(receives_, n);
    const staged_message& one = receives_.messages[n];
    staging& buffer = receives_.buffer(n);
    buffer.upload(stream, one.bytes);
    permute_args args = one.move;
    args.in = buffer.on_device();
    run_permutation(stream, args);
    buffer.mark(stream);
    receive_up_to(n + 1 + slots);
  }

  // All ranks take messages in one order, of steps and then parts, a send before a receive: each waits only for what
  // comes before in that order, so that none waits in a circle.
  void exchange(stream_ref stream) {
    sends_.begun = receives_.begun = 0;
    receive_up_to(slots);
    for (const permute_args& one : own_) run_permutation(stream, one);
    const auto &out = sends_.messages, &in = receives_.messages;
    std::size_t sent = 0, received = 0;
    while (sent < out.size() || received < in.size()) {
      const bool sends =
          received == in.size() || (sent < out.size() && std::make_pair(out[sent].step, out[sent].part) <=
                                                             std::make_pair(in[received].step, in[received].part));
      if (sends) {
        send(sent++, stream);
      } else {
        unpack(received++, stream);
      }
    }
    for (std::size_t n = out.size() - std::min(out.size(), slots); n < out.size(); ++n) finish(sends_, n);
    stream.wait();
  }

  // Completes what is in flight: no transfer may access the buffers after they are freed.
  void abandon() noexcept {
    for (lane* each : {&receives_, &sends_}) {
      for (void*& transfer : each->transfers) {
        void* const left = std::exchange(transfer, nullptr);
        if (left == nullptr) continue;
        try {
          team_->link().finish(left);
        } catch (...) {
          continue;  // the first error is the one to report
        }
      }
    }
  }

  std::shared_ptr<team_state> team_;
  std::vector<permute_args> own_;
  lane sends_, receives_;
};

}  // namespace

std::string no_messages(const team_job& job) {
  std::vector<std::int32_t> mine(static_cast<std::size_t>(job.team->local_count()), job.team->has_messages() ? 1 : 0);
  const auto all = job.team->gather(mine);
  const auto without = std::find(all.begin(), all.end(), 0);
  return without == all.end() ? "" : "rank " + std::to_string(without - all.begin()) + " has a link without messages";
}

namespace {

// Ranks of one node by shared memory, those of different nodes by messages.
class by_node final : public transport_impl {
 public:
  explicit by_node(const team_job& job)
      : within_(make_shared(scoped(job, team_scope::within_nodes))), between_(scoped(job, team_scope::between_nodes)) {}

  void run(const std::vector<stream_ref>& streams) override {
    within_->run(streams);
    between_.run(streams);
  }

 private:
  std::unique_ptr<transport_impl> within_;
  staged between_;
};

// The same on all ranks.
bool may_share_memory(const team_job& job) {
  const bool has_shared_node = *std::max_element(job.nodes.begin(), job.nodes.end()) + 1 < job.layout.size;
  if (job.scope != team_scope::all || !has_shared_node) return false;
  const bool mine = peer_access_of(*job.team->local_device(0).impl()).shares_host_memory();
  const auto all = job.team->gather(std::vector<std::int32_t>{mine ? 1 : 0});
  return std::find(all.begin(), all.end(), 0) == all.end();
}

}  // namespace

// Every rank sees the same error: all of them fall back to messages, or none.
std::unique_ptr<transport_impl> make_staged(const team_job& job) {
  if (may_share_memory(job)) {
    try {
      return std::make_unique<by_node>(job);
    } catch (const error& e) {
      if (e.code() != errc::unsupported) throw;
    }
  }
  return std::make_unique<staged>(job);
}

}  // namespace twill::detail
