#pragma once

// The kernel families that can move a normal form, each with what it is expected to cost. The planner takes the
// cheapest; nothing else decides.

#include <optional>

#include "device_model.hpp"
#include "family.hpp"
#include "gather.hpp"
#include "move/args.hpp"

namespace twill::detail {

struct candidate {
  family kind;
  double microseconds;
};

/// Cheapest first. A launch may still refuse a candidate: the next one is for that.
struct candidates {
  int count = 0;
  candidate list[families];
  // What the launches take: the form as matrices, in units of its alignment, and the plan of gather.
  std::optional<transpose_args> matrices;
  composite_tile untiled;
  std::optional<gather_plan> gather;
};

/// Which candidates are wanted.
enum class wanted {
  all,
  cheapest  ///< the others only as far as they cost nothing to find
};

/// The shapes that a family applies to, in words.
const char* takes(family kind);

candidates candidates_of(const permute_args& args, const device_model& device, wanted which = wanted::all);

}  // namespace twill::detail
