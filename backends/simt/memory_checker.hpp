#pragma once

// Finds what real devices do not report, or report without a source line: out-of-bounds and misaligned accesses, reads
// of uninitialised memory, data races within a block.

#include <cstdint>
#include <string>
#include <vector>

#include "backends/launch_config.hpp"
#include "memory_map.hpp"
#include "race_history.hpp"
#include "source_line.hpp"

namespace twill::simt {

struct checked_access {
  std::uintptr_t at;
  std::size_t bytes, alignment;
  access_kind kind;
  const void* place;
  unsigned thread;
};

/// Why an access is faulty, and what to do about it.
struct access_fault {
  std::string why;  ///< empty: no fault
  const char* suggestion = "";
};

/// How the blocks of a worker have accessed memory. Kept from launch to launch: to allocate it anew takes longer than a
/// small launch.
struct access_histories {
  std::uint32_t block_number = 0;             ///< running number
  std::vector<std::uint32_t> shared_written;  ///< by byte: the block that wrote it last
  race_history races;

  /// Starts over before the running numbers could wrap around. There are at least as many intervals as blocks.
  void begin_launch() {
    if (races.intervals() > UINT32_MAX / 2) *this = {};
    races.begin_launch();
  }
};

class memory_checker {
 public:
  /// All must outlive it. `histories`: for nothing else at the same time.
  memory_checker(const memory_map& memory, const host::allocations& given, source_lines& lines, detail::extent3 block,
                 access_histories& histories);

  void begin_block(byte_range dynamic_shared, byte_range static_shared);
  void allow_uninitialised_reads() { allows_uninitialised_ = true; }
  void end_interval() { histories_.races.begin_interval(); }

  access_fault check_global(const checked_access& access, const memory_map::range& range);
  access_fault check_shared(const checked_access& access);
  /// Of an address that is neither.
  access_fault check_unmapped(const checked_access& access) const;

  /// "thread (0,1,0) loads 4 bytes at reduce.hpp:12"
  std::string text(const checked_access& access) const;

 private:
  access_fault check_alignment(const checked_access& access) const;
  access_fault check_race(const char* memory, bool direct, std::uintptr_t first, const checked_access& access);
  std::string thread_text(unsigned thread) const;

  const memory_map& memory_;
  const host::allocations& given_;
  source_lines& lines_;
  const detail::extent3 block_;
  access_histories& histories_;
  byte_range dynamic_, static_;
  bool allows_uninitialised_ = false;  // of the running block
};

}  // namespace twill::simt
