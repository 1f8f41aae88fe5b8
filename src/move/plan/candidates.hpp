#pragma once

// The kernel families that can move a normal form, each with what it is expected to cost. The planner takes the
// cheapest; nothing else decides.

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "cost_corrections.hpp"
#include "device_model.hpp"
#include "family.hpp"
#include "gather.hpp"
#include "misaligned_2d.hpp"
#include "move/args.hpp"
#include "transpose_costs.hpp"

namespace twill::detail {

struct candidate {
  family kind;
  double microseconds;
};

/// Cheapest first; of wanted::cheapest the others are not sorted. A launch may still refuse the cheapest: then all are
/// listed, and the next one that accepts runs.
struct candidates {
  int count = 0;
  candidate list[families];
  std::int64_t bytes = 0;  // read, and as many written
  double copy_us = 0;      // time of a plain copy; a cost is a launch plus a multiple of it
  double balance_squared = 1;
  shape_properties properties;
  // What the launches take: the form as matrices, and the tiles of misaligned-2d; in units of its alignment, whose
  // dimensions are shared out between rows and columns where misaligned was considered; the plan of gather.
  std::optional<transpose_args> matrices;
  misaligned_tile misaligned_2d_tile{};
  composite_tile units;
  tile_sides sides;
  std::optional<gather_plan> gather;

  /// Of the cheapest so far.
  double cheapest_us() const { return count > 0 ? list[0].microseconds : HUGE_VAL; }

  /// At least `least` microseconds, whatever the correction by shape.
  void add(family kind, double microseconds, double least = 0) {
    list[count] = {kind, std::max(least, microseconds * properties.correction(kind))};
    if (list[count].microseconds < list[0].microseconds) std::swap(list[0], list[count]);
    ++count;
  }
  void add(family kind, const cost_of_launch& cost) {
    add(kind, cost.launch + copy_us * on_device(cost.factor, cost.memory));
  }

  /// A factor of a copy's time, as measured, on this device. What exceeds the copy is instructions, which overlap with
  /// memory (their squares add up): where bandwidth per clock is lower, they are the smaller part.
  double on_device(double factor, double memory = 1) const {
    return factor <= 1 ? factor * memory : std::sqrt(memory * memory + (factor * factor - 1) * balance_squared);
  }
};

/// Which candidates are wanted.
enum class wanted {
  all,
  cheapest  ///< the others only as far as they cost nothing to find
};

/// The shapes that a family applies to, in words.
const char* takes(family kind);

/// The largest power of two, up to 16, that aligns all addresses, strides and runs.
std::int64_t unit_of(const permute_args& args);

/// Sets unit, rank, dims and in_order of `untiled` to those of the movement in units of `unit` bytes.
void set_untiled(composite_tile& untiled, const permute_args& args, std::int64_t unit);

/// `args`: of rank 1 and more.
candidates candidates_of(const permute_args& args, const device_model& device, wanted which = wanted::all);

}  // namespace twill::detail
