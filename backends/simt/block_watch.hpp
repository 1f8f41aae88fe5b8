#pragma once

// What looks on while a block runs: it is told of every memory access of the block's threads and of every barrier. One
// for each OS thread and launch.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "access_kind.hpp"
#include "identity.hpp"
#include "kernel_call.hpp"
#include "memory_checker.hpp"
#include "memory_map.hpp"
#include "recorder.hpp"

namespace twill::simt {

/// Who wants to know what about a launch. What it points to outlives the launch.
struct launch_watch {
  recording* record = nullptr;  ///< nullptr: nobody records
  bool checks = false;
  std::uint64_t step_limit = 0;  ///< of one thread, after which it is taken to run for ever
  const memory_map* memory = nullptr;
  const host::allocations* given = nullptr;
  source_lines* lines = nullptr;
};

class block_watch {
 public:
  /// `stacks` are those of the simulated threads.
  block_watch(const launch_watch& launch, const kernel_call& kernel, detail::extent3 block, byte_range stacks);

  /// Before the first thread of `block`.
  void begin_block(std::uint64_t block);

  /// Whether it does more with this block than to count its steps.
  bool looks() const { return recording_ || checker_; }

  /// The running thread is about to access memory, or to wait at a barrier or for a shuffle. Does not return when it
  /// has done so too often.
  void step(const void* place);

  /// The running thread is about to touch `bytes` bytes at `at`, which has to be a multiple of `alignment`; `place` is
  /// where in the code. Does not return when it must not.
  void access(std::uintptr_t at, std::size_t bytes, std::size_t alignment, access_kind kind, const void* place);

  void discards_unwritten();

  /// All threads have reached a barrier, or the end.
  void end_interval();

 private:
  void record(memory_space space, std::uint64_t address, std::size_t bytes, access_kind kind, const void* place);
  bool is_private(std::uintptr_t at) const;

  const launch_watch& launch_;
  const kernel_call& kernel_;
  const unsigned threads_;
  const byte_range stacks_;
  std::optional<recorder> recorder_;
  std::optional<memory_checker> checker_;
  bool recording_ = false;
  byte_range dynamic_shared_, static_shared_;
  std::vector<std::uint64_t> steps_;  // by thread
};

}  // namespace twill::simt
