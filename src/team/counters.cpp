#include "counters.hpp"

#include <algorithm>
#include <string>
#include <thread>

#include "backends/error.hpp"
#include "core/operations.hpp"

namespace twill::detail {
namespace {

using clock = std::chrono::steady_clock;

// The ranks that have not signalled this run: "rank 1, rank 3".
std::string missing(const handshake& with, const std::vector<int>& group, handshake_phase phase) {
  std::string names;
  for (int peer = 0; peer < with.size; ++peer) {
    const std::uint64_t seen = __atomic_load_n(with.own + counter_of(phase, with.size, peer), __ATOMIC_ACQUIRE);
    if (seen >= *with.own) continue;
    names.append(names.empty() ? "rank " : ", rank ").append(std::to_string(group[static_cast<std::size_t>(peer)]));
  }
  return names;
}

bool all_signalled(const handshake& with, handshake_phase phase) {
  for (int peer = 0; peer < with.size; ++peer) {
    if (__atomic_load_n(with.own + counter_of(phase, with.size, peer), __ATOMIC_ACQUIRE) < *with.own) return false;
  }
  return true;
}

}  // namespace

counters::counters(const team_job& job)
    : team_(job.team), timeout_(job.options.timeout), members_(static_cast<std::size_t>(team_->local_count())) {
  team_->together([&](int i) {
    member& one = members_[static_cast<std::size_t>(i)];
    one.group = job.group_of(team_->local()[static_cast<std::size_t>(i)]);
    const int size = static_cast<int>(one.group.size());
    const auto words = static_cast<std::size_t>(counters_of(size) + size);
    one.memory = raw_buffer(team_->local_device(i), words * sizeof(std::uint64_t));
  });
  std::vector<void*> mine;
  for (const member& one : members_) mine.push_back(one.memory.data());
  auto peers = share_memory(job, mine);
  team_->together([&](int i) {
    member& one = members_[static_cast<std::size_t>(i)];
    one.peers = std::move(peers[static_cast<std::size_t>(i)]);
    auto* const own = static_cast<std::uint64_t*>(one.memory.data());
    const int size = static_cast<int>(one.group.size());
    auto* const table = reinterpret_cast<std::uint64_t* const*>(own + counters_of(size));
    one.with = {own, table, index_of(i, team_->local()[static_cast<std::size_t>(i)]), size};
    write_table(one, team_->local_device(i));
  });
}

void counters::write_table(member& one, const device& on) const {
  const stream setup(on);
  std::vector<void*> addresses;
  for (const int rank : one.group) addresses.push_back(one.peers->at(rank));
  const auto size = static_cast<std::size_t>(one.with.size);
  const auto bytes = static_cast<std::size_t>(counters_of(one.with.size)) * sizeof(std::uint64_t);
  on.impl()->fill(setup.native(), one.memory.data(), 0, bytes);
  on.impl()->copy(setup.native(), static_cast<unsigned char*>(one.memory.data()) + bytes,
                  static_cast<const void*>(addresses.data()), size * sizeof(void*), copy_direction::host_to_device);
  setup.wait();
}

int counters::index_of(int i, int rank) const {
  const std::vector<int>& ranks = group(i);
  return static_cast<int>(std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

void counters::signal(int i, stream_ref stream, handshake_phase phase) {
  operations_of(stream).team.signal(queue_of(stream), members_[static_cast<std::size_t>(i)].with, phase);
}

void counters::await(int i, stream_ref stream, handshake_phase phase) {
  const member& one = members_[static_cast<std::size_t>(i)];
  if (peer_access_of(device_of(stream)).is_synchronous()) wait_on_host(one, phase);
  const auto& operations = operations_of(stream).team;
  if (operations.await == nullptr) return;
  operations.await(queue_of(stream), one.with, phase, ticks());
}

std::uint64_t counters::ticks() const {
  constexpr std::uint64_t of_a_millisecond = 2'000'000;  // of clocks up to 2 GHz
  return static_cast<std::uint64_t>(timeout_.count()) * of_a_millisecond;
}

void counters::finish(int i, stream_ref stream) {
  operations_of(stream).team.finish(queue_of(stream), of(i), ticks());
}

void counters::signal_done_by_copy(int i, stream_ref stream, int peer) {
  const member& one = members_[static_cast<std::size_t>(i)];
  auto* const to = static_cast<std::uint64_t*>(one.peers->at(peer)) +
                   counter_of(handshake_phase::done, one.with.size, one.with.rank);
  device_of(stream).copy(stream.native(), to, one.with.own, sizeof *to, copy_direction::device_to_device);
}

// A kernel that waits would hold the threads that another rank's kernels of this process need.
void counters::wait_on_host(const member& one, handshake_phase phase) const {
  const auto end = clock::now() + timeout_;
  for (int polls = 0; !all_signalled(one.with, phase); ++polls) {
    if (clock::now() < end) {
      if (polls < 1000) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
      continue;
    }
    const std::string names = missing(one.with, one.group, phase);
    if (names.empty()) return;
    fail(errc::device_fault, names + " did not come to this run within " + std::to_string(timeout_.count()) + " ms",
         "rank " + std::to_string(one.group[static_cast<std::size_t>(one.with.rank)]) + " waited",
         "see that every rank runs the plan as often");
  }
}

}  // namespace twill::detail
