#pragma once

// Small corrections to the costs of some families, in proportion, by a few properties of the shape. Empirical: they
// cover what the terms of the costs do not model.

#include <cstdint>

#include "family.hpp"
#include "gather.hpp"

namespace twill::detail {

/// Where a property of a shape lies among the entries of a table: beyond entry `below`, by a share of the distance to
/// the next one.
struct table_place {
  int below;
  double share;
};

/// The properties that costs are corrected by.
class shape_properties {
 public:
  shape_properties() = default;

  /// `copy_us`: what a copy takes.
  shape_properties(const permute_args& args, const composite_tile& untiled, double copy_us);

  /// The factor of a family's cost: 1 where none is corrected.
  double correction(family kind) const;

 private:
  double weight_ = 0;  // of a correction: small arrays have none
  int unit_ = 0;
  table_place copy_time_{}, in_aligned_{}, out_aligned_{}, out_first_{}, out_second_{}, in_first_{}, in_second_{};
};

}  // namespace twill::detail
