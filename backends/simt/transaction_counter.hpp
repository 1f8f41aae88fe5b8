#pragma once

// What warp instructions cost on a device, added up for each site and in all.

#include <cstdint>
#include <map>
#include <string_view>

#include "access_rules.hpp"
#include "warp_access.hpp"

namespace twill::simt {

/// Accesses of global memory of one kind: loads, stores or atomics. Transactions are sectors or segments, as the
/// architecture has them.
struct global_counts {
  std::uint64_t requests = 0;  ///< instructions, or the parts that the architecture splits them into
  std::uint64_t transactions = 0;
  std::uint64_t ideal_transactions = 0;  ///< if the same bytes were contiguous
  std::uint64_t bytes_used = 0;          ///< that lanes asked for, each byte of an instruction once
  std::uint64_t bytes_moved = 0;         ///< in transactions

  double used() const { return bytes_moved == 0 ? 1.0 : static_cast<double>(bytes_used) / bytes_moved; }
  void add(const global_counts& other);
};

/// Accesses of shared memory of one kind. A wavefront is one cycle of all banks.
struct shared_counts {
  std::uint64_t requests = 0;
  std::uint64_t wavefronts = 0;
  std::uint64_t ideal_wavefronts = 0;  ///< without bank conflicts

  std::uint64_t conflicts() const { return wavefronts - ideal_wavefronts; }
  void add(const shared_counts& other);
};

struct access_counts {
  global_counts global_loads, global_stores, global_atomics;
  shared_counts shared_loads, shared_stores, shared_atomics;

  void add(const access_counts& other);
};

/// What each bank of shared memory did.
struct bank_counts {
  std::uint64_t wavefronts[shared_cost::most_banks] = {};
  std::uint64_t ideal[shared_cost::most_banks] = {};  ///< without conflicts
};

/// What one access adds, at the price that its rules found.
access_counts counts_of(const warp_access& access, const global_cost& cost);
access_counts counts_of(const warp_access& access, const shared_cost& cost);

class transaction_counter {
 public:
  /// `architecture` as datasheets write it: "sm_13", "gfx942". Throws: unsupported, with those that are known.
  explicit transaction_counter(std::string_view architecture);

  /// Returns what an access of global memory moves, until the next call; nullptr for shared memory.
  const global_cost* add(const warp_access& access);

  const access_counts& total() const { return total_; }
  /// By site, ascending.
  const std::map<std::uint32_t, access_counts>& sites() const { return sites_; }
  /// By site, of those that use shared memory.
  const std::map<std::uint32_t, bank_counts>& banks() const { return banks_; }

 private:
  const access_rules& rules_;
  access_counts total_;
  std::map<std::uint32_t, access_counts> sites_;
  std::map<std::uint32_t, bank_counts> banks_;
  global_cost last_;
};

}  // namespace twill::simt
