#pragma once

// What teams ask of a backend: the handshake of ranks that store into each other's memory.

#include <cstddef>
#include <cstdint>

#include "backends/backend.hpp"
#include "move/args.hpp"

namespace twill::detail {

/// What a rank signals to all others in each run: its output may be written; it has written theirs.
enum class handshake_phase { ready, done };

/// Counters of one rank in the memory of its device: runs begun, then for each phase and peer the last run that the
/// peer has signalled. Only the owner writes the first, only peer p those of p.
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

/// A piece that is transposed as it is stored to `peer`: elements of 1, 2, 4, 8 or 16 bytes, at multiples of their
/// size.
struct exchange_piece {
  transpose_args move;
  int peer;
};

struct exchange_call {
  const exchange_piece* pieces;  ///< on the host, of one element size, at least one
  int count;
  bool
      in_vectors;  ///< all rows on both sides begin and end at multiples of 16 bytes; otherwise at most 8-byte elements
  handshake with;
  int blocks_per_peer;  ///< 0: two blocks a multiprocessor, over all peers
  std::uint64_t ticks;  ///< as of `await`
};

/// Shared memory that a block needs for pieces that are not in vectors.
constexpr std::size_t exchange_shared_bytes = 52 << 10;

struct team_operations {
  /// In stream order: begins a run (ready), and stores its number into the counters of all peers.
  void (*signal)(const work_queue&, const handshake&, handshake_phase);
  /// What the stream is given later starts when all peers have signalled this run. Null where the host waits.
  /// After `ticks` of the device's clock the work ends in a device_fault.
  void (*await)(const work_queue&, const handshake&, handshake_phase, std::uint64_t ticks);
  /// `signal` and `await` of the end of a run in one.
  void (*finish)(const work_queue&, const handshake&, std::uint64_t ticks);
  /// Stores each piece into its place, when its peer has signalled that it is ready. Null where there is no such
  /// kernel.
  void (*exchange)(const work_queue&, const exchange_call&);
  /// Stores a tile that came through shared memory, in its order, past the caches. Null where the host does not share
  /// the device's memory.
  void (*store_tile)(const work_queue&, const permute_args&) = nullptr;
};

}  // namespace twill::detail
