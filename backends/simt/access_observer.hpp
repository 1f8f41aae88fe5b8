#pragma once

// Observes a block while it runs: every memory access of its threads and every barrier is reported to it. One for each
// OS thread and launch.

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
#include "stream_order.hpp"

namespace twill::simt {

/// What is observed of a launch. What it points to outlives the launch.
struct launch_observer {
  recording* record = nullptr;  ///< nullptr: not recorded
  bool checks = false;
  bool dependent = false;        ///< launch_config::dependent
  std::uint64_t step_limit = 0;  ///< of one thread, after which it counts as an endless loop
  const memory_map* memory = nullptr;
  const host::allocations* given = nullptr;
  source_lines* lines = nullptr;
  stream_order* order = nullptr;  ///< of streams; nullptr: nothing to compare with
  const void* stream = nullptr;   ///< of the launch
};

class access_observer {
 public:
  /// `stacks` are those of the simulated threads; `histories` must outlive it.
  access_observer(const launch_observer& launch, const kernel_call& kernel, detail::extent3 block, byte_range stacks,
                  access_histories& histories);

  /// Before the first thread of `block`.
  void begin_block(std::uint64_t block);

  /// Whether it records or checks this block, beyond counting steps.
  bool observes() const { return recording_ || checker_; }

  /// The running thread is about to access memory, or to wait at a barrier or for a shuffle. Does not return when that
  /// exceeds the step limit.
  void step(const void* place);

  /// The running thread is about to touch `bytes` bytes at `at`, which has to be a multiple of `alignment`; `place` is
  /// where in the code. Does not return from a faulty access.
  void access(std::uintptr_t at, std::size_t bytes, std::size_t alignment, access_kind kind, const void* place);

  void allow_uninitialised_reads();
  /// The running thread may access global memory from now on.
  void wait_for_previous_kernel();

  /// The running thread is about to store to `word`, or has loaded it, to order the work of streams.
  void release(const void* word) const;
  void acquire(const void* word) const;

  /// All threads have reached a barrier, or the end.
  void end_interval();

 private:
  void record(memory_space space, std::uint64_t address, std::size_t bytes, access_kind kind, const void* place);
  bool is_private(std::uintptr_t at) const;
  access_fault check_global(const checked_access& access, const memory_map::range& range);

  const launch_observer& launch_;
  const kernel_call& kernel_;
  const unsigned threads_;
  const byte_range stacks_;
  std::optional<recorder> recorder_;
  std::optional<memory_checker> checker_;
  bool recording_ = false;
  std::vector<bool> has_waited_;  // of each thread: whether it may access global memory, in a dependent launch
  byte_range dynamic_shared_, static_shared_;
  std::vector<std::uint64_t> steps_;  // by thread
};

}  // namespace twill::simt
