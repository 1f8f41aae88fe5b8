#pragma once

// Small corrections to the costs of all families but staged-strided, in proportion, by a few properties of the shape.
// Empirical: they cover what the terms of the costs do not model.

#include <cstdint>

#include "device_model.hpp"
#include "family.hpp"
#include "gather.hpp"

namespace twill::detail {

/// Where a value lies in a table: after entry `index`, by a fraction of the distance to the next one.
struct table_position {
  int index;
  double fraction;
};

/// The properties that costs are corrected by.
class shape_properties {
 public:
  shape_properties() = default;

  /// `untiled` and `bytes`: of `args`; `copy_us`: what a copy takes.
  shape_properties(const permute_args& args, const composite_tile& untiled, const device_model& device,
                   std::int64_t bytes, double copy_us);

  /// The factor of a family's cost; 1 where nothing is corrected.
  double correction(family kind) const;

 private:
  double weight_ = 0;  // of a correction; 0: none (small arrays, gaps, other devices)
  int unit_ = 0, form_ = 0;
  table_position copy_time_{}, in_aligned_{}, out_aligned_{}, out_first_{}, out_second_{}, in_first_{}, in_second_{};
};

}  // namespace twill::detail
