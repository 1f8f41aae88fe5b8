#pragma once

// Finds what real devices do not tell, or tell without a place: accesses outside of memory and misaligned ones, reads
// of what nobody wrote, data races within a block.

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

/// Why a thread must not go on, and what its author may do about it.
struct access_fault {
  std::string why;  ///< empty: it may
  const char* suggestion = "";
};

class memory_checker {
 public:
  /// All must outlive it.
  memory_checker(const memory_map& memory, const host::allocations& given, source_lines& lines, detail::extent3 block);

  void begin_block(byte_range dynamic_shared, byte_range static_shared);
  void discards_unwritten() { discards_unwritten_ = true; }
  void end_interval() { races_.begin_interval(); }

  access_fault of_global(const checked_access& access, const memory_map::range& range);
  access_fault of_shared(const checked_access& access);
  /// Of an address that is neither.
  access_fault elsewhere(const checked_access& access) const;

  /// "thread (0,1,0) loads 4 bytes at reduce.hpp:12"
  std::string text(const checked_access& access) const;

 private:
  access_fault misaligned(const checked_access& access) const;
  access_fault race(const char* memory, bool direct, std::uintptr_t first, const checked_access& access);
  std::string thread_text(unsigned thread) const;

  const memory_map& memory_;
  const host::allocations& given_;
  source_lines& lines_;
  const detail::extent3 block_;
  byte_range dynamic_, static_;
  bool discards_unwritten_ = false;            // the block that runs says so
  std::uint32_t block_number_ = 0;             // of those that this checker saw
  std::vector<std::uint32_t> shared_written_;  // by byte: the block that wrote it last
  race_history races_;
};

}  // namespace twill::simt
