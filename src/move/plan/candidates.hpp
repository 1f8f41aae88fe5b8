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
#include "misaligned.hpp"
#include "move/args.hpp"

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

  void add(family kind, double microseconds) {
    list[count] = {kind, microseconds};
    if (microseconds < list[0].microseconds) std::swap(list[0], list[count]);
    ++count;
  }
  void add(family kind, const cost_of_launch& cost) { add(kind, corrected_us(kind, cost)); }

  /// What a family takes on this device, in microseconds, corrected by shape. What a factor exceeds a copy by is
  /// instructions, which overlap with memory (their squares add up): where bandwidth per clock is lower, they are the
  /// smaller part.
  double corrected_us(family kind, const cost_of_launch& cost) const {
    const auto [launch, factor, memory] = cost;
    const double copies =
        factor <= 1 ? factor * memory : std::sqrt(memory * memory + (factor * factor - 1) * balance_squared);
    return (launch + copy_us * copies) * properties.correction(kind);
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

/// Each adds what its families can do. `args`: those of `to`.
void add_transposes(candidates& to, const permute_args& args, const device_model& device);  // sets the matrices, too
void add_misaligned(candidates& to, const permute_args& args, const device_model& device);
void add_elementwise(candidates& to, const permute_args& args, const device_model& device, wanted which);

/// `args`: of rank 1 and more.
candidates candidates_of(const permute_args& args, const device_model& device, wanted which = wanted::all);

}  // namespace twill::detail
