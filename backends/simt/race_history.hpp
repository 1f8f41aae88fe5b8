#pragma once

// Who touched which byte since the last barrier of a block: what data races within a block are found by.

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "access_kind.hpp"

namespace twill::simt {

/// An earlier access that a later one races with.
struct earlier_access {
  bool by_several = false;  ///< threads; `thread` is none in particular
  unsigned thread = 0;
  bool store = false;
  const void* place = nullptr;
};

/// What was done to one byte in an interval. Threads are numbered from 1.
struct byte_history {
  static constexpr std::uint16_t several = 0xffff;

  std::uint32_t interval = 0;  // of what follows
  std::uint16_t writer = 0, reader = 0;
  std::uint16_t write_place = 0, read_place = 0;
  bool writer_atomic = false, readers_atomic = false;
};

class race_history {
 public:
  /// Forgets the places in the code of earlier launches.
  void begin_launch() {
    places_.resize(1);
    numbers_.clear();
  }

  std::uint32_t intervals() const { return interval_; }

  /// Forgets everything: a barrier. Histories of earlier intervals count as empty (byte_history::interval). The index
  /// is cleared only when it holds many, which takes as long as it has ever been large.
  void begin_interval() {
    ++interval_;
    if (granules_used_ <= most_kept) return;
    granules_used_ = 0;
    index_.clear();
  }

  /// Adds an access to each of `bytes` bytes, from `first` on; says which earlier one it races with.
  /// Bytes below `direct_bytes` have a place of their own (shared memory), others one by their address.
  std::optional<earlier_access> add(bool direct, std::uintptr_t first, std::size_t bytes, unsigned thread,
                                    access_kind kind, const void* place);

  void reserve_direct(std::size_t bytes) {
    if (direct_.size() < bytes) direct_.resize(bytes);
  }

 private:
  static constexpr std::size_t granule = 64, most_kept = 256;

  byte_history& history_of(bool direct, std::uintptr_t byte);
  std::uint16_t number_of(const void* place);
  std::optional<earlier_access> add(byte_history& history, unsigned thread, access_kind kind, std::uint16_t place);

  std::uint32_t interval_ = 1;
  std::vector<byte_history> direct_;
  std::vector<std::array<byte_history, granule>> granules_;
  std::size_t granules_used_ = 0;
  std::unordered_map<std::uintptr_t, std::size_t> index_;  // granules by address / granule
  std::uintptr_t last_key_ = 0;
  std::size_t last_ = 0;
  std::vector<const void*> places_{nullptr};
  std::unordered_map<const void*, std::uint16_t> numbers_;
};

}  // namespace twill::simt
