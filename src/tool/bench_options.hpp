#pragma once

#include <string>
#include <vector>

#include "parse.hpp"

namespace twill::tool {

/// A line of --list.
struct listed_case {
  element_type type;
  extents size, order;
};

/// What the user asked of `twill bench`, the same for every operation. Empty lists mean the default.
struct bench_options {
  std::vector<std::string> devices;
  std::vector<std::string> kernels;
  std::vector<extents> sizes;
  std::vector<element_type> types;
  std::vector<listed_case> list;  ///< cases one by one, instead of sizes, types and order
  extents order;                  ///< of a permutation's dimensions; empty: the operation's own
  std::vector<block_shape> blocks;
  std::vector<loop_kind> loops;
  int reps = 31;
  bool cold = true;
};

}  // namespace twill::tool
