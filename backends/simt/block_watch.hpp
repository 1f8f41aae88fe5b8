#pragma once

// What looks on while a block runs: it is told of every memory access of the block's threads and of every barrier. One
// for each OS thread and launch.

#include <cstddef>
#include <cstdint>

#include "identity.hpp"
#include "memory_map.hpp"
#include "recorder.hpp"

namespace twill::simt {

enum class access_kind : std::uint8_t { load, store, atomic, atomic_load, atomic_store };

class block_watch {
 public:
  /// `recording` and `memory` must outlive it.
  block_watch(recording& recording, const memory_map& memory, const void* kernel);

  /// Before the first thread of `block`, which has `threads` of them.
  void begin_block(std::uint64_t block, unsigned threads);

  /// The running thread is about to touch `bytes` bytes at `at`; `place` is where in the code.
  void access(std::uintptr_t at, std::size_t bytes, access_kind kind, const void* place);

  /// All threads have reached a barrier, or the end.
  void end_interval();

 private:
  void record(memory_space space, std::uint64_t address, std::size_t bytes, bool store, const void* place);

  const memory_map& memory_;
  const void* const kernel_;
  recorder recorder_;
  byte_range static_shared_;
};

}  // namespace twill::simt
