#pragma once

// What teams ask of a backend: the handshake of ranks that store into each other's memory.

#include <cstdint>

#include "backends/backend.hpp"

namespace twill::detail {

/// Twice in each run a rank says something to all others: that its output may be written, and that it has written
/// theirs.
enum class handshake_phase { ready, done };

/// Counters of one rank in the memory of its device: runs begun, then for each phase the last run that each peer has
/// said so of. Only the owner writes the first, only peer p those of p.
struct handshake {
  std::uint64_t* own;
  std::uint64_t* const* peers;  ///< in device memory: `own` of each rank
  int rank, size;
};

constexpr std::int64_t counters_of(int size) {
  return 1 + 2 * static_cast<std::int64_t>(size);
}
constexpr std::int64_t counter_of(handshake_phase phase, int size, int peer) {
  return 1 + (phase == handshake_phase::done ? size : 0) + peer;
}

struct team_operations {
  /// In stream order: begins a run (ready), and stores its number into the counters of all peers.
  void (*signal)(const work_queue&, const handshake&, handshake_phase);
  /// What the stream is given later starts when all peers have signalled this run. Null where the host waits.
  /// After `ticks` of the device's clock the work ends in a device_fault.
  void (*await)(const work_queue&, const handshake&, handshake_phase, std::uint64_t ticks);
};

}  // namespace twill::detail
