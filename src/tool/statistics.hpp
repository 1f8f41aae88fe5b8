#pragma once

#include <vector>

namespace twill::tool {

/// The value below which `fraction` of the samples lie, interpolated between neighbours. `sorted` has at least one.
double percentile(const std::vector<double>& sorted, double fraction);

/// Of positive numbers; 0 of none.
double geometric_mean(const std::vector<double>& numbers);

struct quartiles {
  double median = 0, p25 = 0, p75 = 0;

  /// The interquartile range over the median.
  double spread() const { return median > 0 ? (p75 - p25) / median : 0; }
};

/// Quartiles of at least one sample.
quartiles quartiles_of(std::vector<double> samples);

}  // namespace twill::tool
