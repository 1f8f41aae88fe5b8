#pragma once

// Instructions of kernels, read from their machine code: what a recording of accesses does not show.

#include <string_view>

#include "machine.hpp"

namespace twill::simt::timing {

/// Of a warp on its way through a kernel, once through its loops, with every access within the bounds.
struct kernel_code {
  std::string_view kernel;  ///< without namespaces, with template arguments
  unsigned accesses, before_first, in_all;
};

/// Of a warp for each barrier of a kernel that adds up in shared memory, a barrier a step: two loads and a store.
struct step_code {
  std::string_view kernel;  ///< without namespaces and template arguments
  unsigned of_every_warp;   ///< whether it adds or not
  unsigned slow;            ///< of those: multiplications of 32 bits and reciprocals
  unsigned of_adding_warps;
};

/// Puts the instructions of `kernel`, where they are known, in the place of the estimates for kernels in general.
void count_instructions(std::string_view kernel, std::string_view architecture, machine& on);

}  // namespace twill::simt::timing
