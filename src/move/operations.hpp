#pragma once

// What the calls that move data ask of a backend.

#include "backends/backend.hpp"
#include "move/args.hpp"
#include "move/plan/family.hpp"

namespace twill::detail {

/// The data movement of one backend (src/operations). One line an operation.
struct move_operations {
  void (*transpose_in_place)(const work_queue&, const transpose_in_place_args&);
  void (*permute)(const work_queue&, const permute_args&);
  /// By one family; false where it cannot move the shape. `dry_run`: nothing is launched. Null where there are no
  /// families to choose from.
  bool (*permute_with)(const work_queue&, const permute_args&, family, bool dry_run);
  void (*copy)(const work_queue&, const pitched_rows&);
  void (*reverse)(const work_queue&, const reverse_args&);
  void (*fill)(const work_queue&, const fill_args&);
};

}  // namespace twill::detail
