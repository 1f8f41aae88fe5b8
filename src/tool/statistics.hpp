#pragma once

#include <vector>

namespace twill::tool {

struct quartiles {
  double median = 0;
  double p25 = 0;
  double p75 = 0;
};

/// Quartiles of at least one sample, interpolated between neighbours.
quartiles quartiles_of(std::vector<double> samples);

}  // namespace twill::tool
