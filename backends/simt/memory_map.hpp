#pragma once

// What an address that a kernel uses is.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/host/allocations.hpp"

namespace twill::simt {

class memory_shadow;

struct byte_range {
  std::uintptr_t base = 0;
  std::size_t bytes = 0;

  bool holds(std::uintptr_t address) const { return address - base < bytes; }
};

/// Memory at the time of a launch.
class memory_map {
 public:
  struct range : byte_range {
    /// Where a GPU would have it: the first allocation at the first large page, the others behind it. The same in each
    /// run of a program, whatever addresses the system hands out.
    std::uint64_t device_address = 0;
    std::uint8_t* written = nullptr;  ///< by byte: whether it was ever written; nullptr when nobody asks
  };

  /// `shadow` may be null.
  memory_map(const host::allocations& given, memory_shadow* shadow);

  /// The live allocation that `address` lies in; nullptr when there is none.
  const range* find(std::uintptr_t address) const;

  /// Those next to an address in no allocation: before it, after it; nullptr when there is none.
  const range* last_before(std::uintptr_t address) const;
  const range* first_after(std::uintptr_t address) const;

  /// Whether the program or one of its libraries lies there, with its constants and variables.
  bool is_of_program(std::uintptr_t address) const;

 private:
  std::vector<range> ranges_;        // ascending
  std::vector<byte_range> program_;  // likewise
};

/// The thread-local variables that the calling OS thread has of the program or library that `code` belongs to: where
/// the __shared__ variables of its kernels are. Empty when there are none yet.
byte_range thread_locals_of(const void* code);

}  // namespace twill::simt
