#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <twill/device.hpp>
#include <twill/export.hpp>

namespace twill {

namespace detail {
class team_state;
}

/// How one rank of a team of processes (or of threads) reaches the others. Each function throws when it fails, and also
/// when a peer does not arrive within the link's own timeout: a call that never returns would hang its team. The
/// exception should name the peers that are missing.
struct team_link {
  int rank = 0;
  int size = 1;

  /// Collective: gathers `bytes` bytes at `mine` of every rank to `all`, in the order of ranks. Called while teams and
  /// plans are made and while a plan is tuned; `global_transpose::run` never calls it.
  std::function<void(const void* mine, void* all, std::size_t bytes)> allgather;

  // For transports mpi and mixed; all three or none. Messages between two ranks keep their order.

  /// Begins to send host memory, which is not modified until `finish`; returns the handle that `finish` takes.
  std::function<void*(int peer, const void* data, std::size_t bytes)> send;
  /// Begins to receive exactly `bytes` bytes.
  std::function<void*(int peer, void* data, std::size_t bytes)> receive;
  /// Blocks until the transfer is done.
  std::function<void(void* transfer)> finish;
  /// May be empty. Called at least every 2 ms while a run waits in memory that ranks of a node share: MPI sends the
  /// application's own messages while it is called alone.
  std::function<void()> progress = {};

  /// Whether `send` and `receive` take memory of this rank's device as well. Its contents are complete before they are
  /// called.
  bool takes_device_memory = false;
};

/// One rank of a team, as all ranks know it.
struct team_member {
  std::string device;     ///< "cuda:1", as its own process calls it
  std::string host;       ///< the machine
  long long process = 0;  ///< number of its process there
};

/// Several devices that work on one array together: a number (rank) for each, and how they reach each other. A cheap
/// handle, copied freely; plans made with it keep what they need of it. There may be any number of teams at once.
/// An empty object (default-constructed or moved from) may be destroyed and assigned to; everything else throws
/// invalid_argument.
class TWILL_API team {
 public:
  team() noexcept = default;

  /// Devices of this process: rank i is `members[i]`. A device may be given several times; each is a rank of its own.
  /// Throws: invalid_argument when the list is empty or a device is.
  static team of_devices(const std::vector<device>& members);

  /// This process' rank of a team of several, each with one device. Collective.
  /// Throws: invalid_argument, the same on all ranks where they disagree on the size; device_fault when `link` fails.
  static team of_link(const device& mine, team_link link);

  int size() const;

  /// The ranks that this process holds, ascending: all of `of_devices`, one of `of_link`. Calls on a team take an entry
  /// for each of these, in this order.
  const std::vector<int>& local_ranks() const;

  /// The device of the local rank `local_ranks()[i]`.
  const device& local_device(int i) const;

  /// All ranks.
  const std::vector<team_member>& members() const;

  bool is_open() const noexcept { return state_ != nullptr; }

  /// For Twill's own collective calls. Throws: invalid_argument when the object is empty.
  const std::shared_ptr<detail::team_state>& state() const {
    if (state_ == nullptr) detail::fail_empty("the team");
    return state_;
  }

 private:
  explicit team(std::shared_ptr<detail::team_state> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<detail::team_state> state_;
};

}  // namespace twill
