#pragma once

// What the kernels of permutations are planned with: the dimensions, counted in units, and the box that a block moves.

#include <cstdint>

#include "permute_families.hpp"

namespace twill::TWILL_BACKEND {

/// A dimension in the output's order; strides in bytes. `tile` indices belong to a block's box.
struct box_dim {
  std::int64_t extent, in_stride, out_stride;
  std::int64_t tile;
  bool in_run, out_run;  // part of the box's contiguous runs on that side
};

/// A permutation of units, and the box.
struct box_plan {
  std::int64_t unit;  // bytes
  int rank;
  box_dim dims[9];  // in the output's order
  int in_order[9];  // places in `dims`, the smallest stride in the input first

  std::int64_t box_bytes() const;
  std::int64_t blocks() const;
  /// Bytes of the box's runs.
  std::int64_t in_run_bytes() const;
  std::int64_t out_run_bytes() const;
};

/// The permutation in units of `unit` bytes, with a box of one unit.
box_plan plan_units(const detail::permute_args& args, std::int64_t unit);

/// Makes the box one whose runs have about `in_bytes` and `out_bytes`, or as many as lie one after another.
void choose_box(box_plan& plan, std::int64_t in_bytes, std::int64_t out_bytes);

}  // namespace twill::TWILL_BACKEND
