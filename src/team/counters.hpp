#pragma once

// The handshake of a plan: counters of each rank, which the others store into.

#include <chrono>
#include <memory>
#include <vector>

#include <twill/buffer.hpp>

#include "team/operations.hpp"
#include "team/peer_memory.hpp"

namespace twill::detail {

class counters {
 public:
  /// Collective.
  explicit counters(const team_job& job);

  /// In the stream of local rank `i`: signals the ranks that it is connected with. `ready` begins a run.
  void signal(int i, stream_ref stream, handshake_phase phase);

  /// What the stream is given later starts when they have signalled. Where work is done at once, the host waits
  /// here. Throws: device_fault naming the ranks that did not signal in time.
  void await(int i, stream_ref stream, handshake_phase phase);

  /// `signal` and `await` of the end of a run. Where ranks share a device, only the two one after the other: a kernel
  /// would wait for one that is not started.
  void finish(int i, stream_ref stream);

  /// In a stream of local rank `i` that copies to `peer`: signals it the end of the run by a copy, which arrives after
  /// the copies before it.
  void signal_done_by_copy(int i, stream_ref stream, int peer);

  /// The number of `rank` in the handshake of local rank `i`.
  int index_of(int i, int rank) const;
  const std::vector<int>& group(int i) const { return members_[static_cast<std::size_t>(i)].group; }
  const handshake& of(int i) const { return members_[static_cast<std::size_t>(i)].with; }
  std::uint64_t ticks() const;

 private:
  struct member {
    std::vector<int> group;  // ranks; their places here are their numbers in the handshake
    raw_buffer memory;       // counters, then the addresses of the counters of the group
    std::unique_ptr<peer_memory> peers;
    handshake with;
  };

  void wait_on_host(const member& one, handshake_phase phase) const;
  void write_table(member& one, const device& on) const;

  std::shared_ptr<team_state> team_;
  std::chrono::milliseconds timeout_;
  std::vector<member> members_;
};

}  // namespace twill::detail
