#pragma once

// What one warp instruction costs, by architecture: pure functions, a file a family in rules/.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "warp_access.hpp"

namespace twill::simt {

/// One transfer between a multiprocessor and global memory.
struct transaction {
  std::uint64_t address;
  std::uint32_t bytes;
};

/// What an instruction moves.
struct global_cost {
  unsigned requests = 0;  ///< parts that the hardware takes the instruction in
  unsigned transactions = 0;
  unsigned ideal_transactions = 0;  ///< if the same bytes lay side by side, aligned
  unsigned bytes_used = 0;          ///< that lanes asked for, each byte once
  unsigned bytes_moved = 0;
  double lsu_clocks = 0;  ///< clocks for which the instruction holds the load/store unit, when all is in its cache
  transaction list[2 * warp_access::max_lanes];  ///< two a lane at most: an access that lies across a boundary

  void move(std::uint64_t address, unsigned bytes) {
    list[transactions++] = {address, bytes};
    bytes_moved += bytes;
  }
};

struct shared_cost {
  static constexpr unsigned most_banks = 64;

  unsigned wavefronts = 0;                         ///< cycles of all banks
  unsigned ideal_wavefronts = 0;                   ///< if no two lanes met in a bank
  std::uint16_t bank_wavefronts[most_banks] = {};  ///< in which each bank was accessed
  std::uint16_t bank_ideal[most_banks] = {};  ///< without conflicts: one for each group of lanes that used the bank
};

struct access_rules {
  const char* family;                                ///< "compute capability 1.2 and 1.3"
  const char* const* architectures;                  ///< as datasheets write them, ended by nullptr
  void (*global)(const warp_access&, global_cost&);  ///< into a fresh cost
  shared_cost (*shared)(const warp_access&);
  unsigned banks;                ///< of shared memory; where reads see more than writes, those of reads
  const char* unit = "sectors";  ///< what the vendor calls its transactions
};

/// The rules of an architecture; nullptr where it is not known.
const access_rules* find_rules(std::string_view architecture) noexcept;

/// As datasheets write them, by family.
std::vector<std::string> known_architectures();

/// The rules of an architecture. Throws: unsupported, with those that are known.
const access_rules& rules_of(std::string_view architecture);

}  // namespace twill::simt
