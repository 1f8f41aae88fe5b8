// Transport nccl: pieces are packed in the order of the receiver's memory, sent and received in groups by the vendor's
// library of collectives, and unpacked. What lies in that order already is neither packed nor unpacked. In several
// rounds, so that one is packed and another unpacked while a third is on the link.

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <twill/buffer.hpp>
#include <twill/event.hpp>

#include "backends/error.hpp"
#include "core/call.hpp"
#include "move/permute_call.hpp"
#include "team/peer_memory.hpp"
#include "team/plan/exchange.hpp"
#include "team/transport.hpp"

namespace twill::detail {
namespace {

// A part in one direction. `move` packs or unpacks; none where `memory` is of the rank's own array.
struct message {
  int peer;
  std::size_t round;
  void* memory;
  std::size_t bytes;
  std::optional<permute_args> move;
};

// Of a rank's GPU: processes may have one GPU by several names, or several by one.
struct bus_place {
  char text[32] = {};
};

struct collective_member {
  std::unique_ptr<communicator> joined;
  raw_buffer scratch;
  std::vector<message> sends, receives;
  std::vector<permute_args> own;
  stream along;
  event packed, moved;
};

// Closes the group also where a call in it fails: groups nest, and one left open would hold back all later calls.
template <class Work>
void in_group(collectives& library, Work&& work) {
  library.begin_group();
  try {
    work();
  } catch (...) {
    const std::exception_ptr first = std::current_exception();
    try {
      library.end_group();
    } catch (const error&) {
      std::rethrow_exception(first);
    }
    throw;
  }
  library.end_group();
}

class collective final : public transport_impl {
 public:
  explicit collective(const team_job& job) : team_(job.team), members_(job.memory.size()) {
    join_all();
    team_->together([&](int i) { prepare(job, i); });
  }

  void run(const std::vector<stream_ref>& streams) override {
    pack(streams, 0);
    for (std::size_t round = 0; round < rounds_; ++round) {
      exchange(round);
      for (std::size_t i = 0; round == 0 && i < members_.size(); ++i) {
        for (const permute_args& one : members_[i].own) run_permutation(streams[i], one);
      }
      if (round + 1 < rounds_) pack(streams, round + 1);
      unpack(streams, round);
    }
  }

 private:
  collectives& library() const { return peer_access_of(*team_->local_device(0).impl()).messages(); }

  void join_all() {
    std::vector<communicator_id> ids(members_.size());
    team_->together([&](int i) {
      if (team_->local()[static_cast<std::size_t>(i)] == 0) ids[static_cast<std::size_t>(i)] = library().new_id();
    });
    const communicator_id id = team_->gather(ids).front();
    team_->together([&](int i) {
      if (i != 0) return;
      in_group(library(), [&] {
        for (std::size_t k = 0; k < members_.size(); ++k) {
          members_[k].joined =
              library().join(*team_->local_device(static_cast<int>(k)).impl(), id, team_->local()[k], team_->size());
        }
      });
    });
  }

  void prepare(const team_job& job, int i) {
    const auto at = static_cast<std::size_t>(i);
    const int rank = team_->local()[at];
    const device& on = team_->local_device(i);
    const member_memory& memory = job.memory[at];
    collective_member& member = members_[at];
    member.along = stream(on);
    member.packed = event(on);
    member.moved = event(on);
    for (const piece& to : job.pieces_from(rank)) {
      if (to.peer == rank) {
        member.own.push_back(with_memory(move_of(job.layout, rank, to), memory.in, memory.out));
        continue;
      }
      std::size_t round = 0;
      for (const piece& part : parts_of(job.layout, to, job.options.parts)) {
        const offset_move move = pack_of(job.layout, rank, part);
        member.sends.push_back(made(part, round++, with_memory(move, memory.in, nullptr), move.form.rank > 0));
      }
    }
    for (const piece& from : job.pieces_to(rank)) {
      std::size_t round = 0;
      for (const piece& part : parts_of(job.layout, from, job.options.parts)) {
        if (from.peer == rank) break;
        const offset_move move = unpack_of(job.layout, rank, part);
        member.receives.push_back(made(part, round++, with_memory(move, nullptr, memory.out), move.form.rank > 0));
      }
    }
    give_scratch(member, on);
    for (const auto* each : {&member.sends, &member.receives}) {
      for (const message& one : *each) rounds_ = std::max(rounds_, one.round + 1);
    }
  }

  // The side that is no array is a null pointer yet.
  static message made(const piece& part, std::size_t round, const permute_args& move, bool moves) {
    message one{part.peer, round, nullptr, static_cast<std::size_t>(part.bytes), std::nullopt};
    if (moves) {
      one.move = move;
    } else {
      one.memory = move.in != nullptr ? const_cast<void*>(move.in) : move.out;
    }
    return one;
  }

  static void give_scratch(collective_member& member, const device& on) {
    std::size_t bytes = 0;
    const auto place = [&](message& one, unsigned char* base) {
      if (!one.move) return;
      if (base != nullptr) {
        one.memory = base + bytes;
        if (one.move->in == nullptr) {
          one.move->in = one.memory;
        } else {
          one.move->out = one.memory;
        }
      }
      bytes += (one.bytes + 255) / 256 * 256;
    };
    const auto place_all = [&](unsigned char* base) {
      bytes = 0;
      for (message& one : member.sends) place(one, base);
      for (message& one : member.receives) place(one, base);
    };
    place_all(nullptr);
    if (bytes == 0) return;
    member.scratch = raw_buffer(on, bytes);
    place_all(static_cast<unsigned char*>(member.scratch.data()));
  }

  void pack(const std::vector<stream_ref>& streams, std::size_t round) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      for (const message& one : members_[i].sends) {
        if (one.round == round && one.move) run_permutation(streams[i], *one.move);
      }
      members_[i].packed.record(streams[i]);
      members_[i].along.wait(members_[i].packed);
    }
  }

  void exchange(std::size_t round) {
    in_group(library(), [&] {
      for (collective_member& member : members_) {
        void* const along = member.along.native();
        for (const message& one : member.sends) {
          if (one.round == round) member.joined->send(along, one.memory, one.bytes, one.peer);
        }
        for (const message& one : member.receives) {
          if (one.round == round) member.joined->receive(along, one.memory, one.bytes, one.peer);
        }
      }
    });
    for (collective_member& member : members_) member.moved.record(member.along);
  }

  void unpack(const std::vector<stream_ref>& streams, std::size_t round) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      streams[i].wait(members_[i].moved);
      for (const message& one : members_[i].receives) {
        if (one.round == round && one.move) run_permutation(streams[i], *one.move);
      }
    }
  }

  std::shared_ptr<team_state> team_;
  std::vector<collective_member> members_;  // by local rank
  std::size_t rounds_ = 1;
};

}  // namespace

std::string no_collectives(const team_job& job) {
  const team_state& team = *job.team;
  std::vector<bus_place> mine(static_cast<std::size_t>(team.local_count()));
  team.together([&](int i) {
    const std::string address = peer_access_of(*team.local_device(i).impl()).bus_address();
    address.copy(mine[static_cast<std::size_t>(i)].text, sizeof(bus_place) - 1);
  });
  const std::vector<bus_place> places = team.gather(mine);
  return team.first_reason([&](int i) -> std::string {
    const device& here = team.local_device(i);
    const auto backend_of = [&](int rank) {
      const std::string& name = team.members()[static_cast<std::size_t>(rank)].device;
      return name.substr(0, name.find(':'));
    };
    for (int rank = 1; rank < team.size(); ++rank) {
      if (backend_of(rank) == backend_of(0)) continue;
      return "rank 0 has a " + backend_of(0) + " device, rank " + std::to_string(rank) + " a " + backend_of(rank) +
             " one";
    }
    for (int rank = 0; rank < team.size(); ++rank) {
      const int own = team.local()[static_cast<std::size_t>(i)];
      const std::string where = places[static_cast<std::size_t>(own)].text;
      if (where.empty() || rank == own || !team.same_host(rank)) continue;
      if (where != places[static_cast<std::size_t>(rank)].text) continue;
      return "two ranks have the device " + here.properties().name + ", " + std::to_string(std::min(rank, own)) +
             " and " + std::to_string(std::max(rank, own));
    }
    try {
      peer_access_of(*here.impl()).messages();
      return "";
    } catch (const error& e) {
      return e.what();
    }
  });
}

std::unique_ptr<transport_impl> make_collective(const team_job& job) {
  return std::make_unique<collective>(job);
}

}  // namespace twill::detail
