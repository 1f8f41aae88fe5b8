#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace twill::tool {

double percentile(const std::vector<double>& sorted, double fraction) {
  const double place = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double geometric_mean(const std::vector<double>& numbers) {
  double logs = 0;
  for (const double each : numbers) logs += std::log(each);
  return numbers.empty() ? 0 : std::exp(logs / static_cast<double>(numbers.size()));
}

quartiles quartiles_of(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return {percentile(samples, 0.5), percentile(samples, 0.25), percentile(samples, 0.75)};
}

}  // namespace twill::tool
