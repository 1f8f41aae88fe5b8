#pragma once

// What one warp instruction costs, by architecture: pure functions, a file a family (rules_*.cpp).

#include <cstdint>
#include <string_view>

#include "warp_access.hpp"

namespace twill::simt {

/// One transfer between a multiprocessor and global memory.
struct transaction {
  std::uint64_t address;
  std::uint32_t bytes;
};

/// What an instruction moves. Two transactions a lane at most: an access that lies across a boundary.
struct global_cost {
  unsigned requests = 0;
  unsigned transactions = 0;
  unsigned ideal_transactions = 0;
  unsigned bytes_used = 0, bytes_moved = 0;
  transaction list[2 * warp_access::max_lanes];

  void move(std::uint64_t address, unsigned bytes) {
    list[transactions++] = {address, bytes};
    bytes_moved += bytes;
  }
};

struct shared_cost {
  unsigned wavefronts = 0;
  unsigned ideal_wavefronts = 0;
};

struct access_rules {
  const char* family;  ///< "compute capability 1.2 and 1.3"
  unsigned warp_lanes;
  void (*global)(const warp_access&, global_cost&);  ///< into a fresh cost
  shared_cost (*shared)(const warp_access&);
};

/// The rules of an architecture. Throws: unsupported, with those that are known.
const access_rules& rules_of(std::string_view architecture);

}  // namespace twill::simt
