#pragma once

// What tuning settles on, from times that all ranks have: plain arithmetic, the same on all ranks.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace twill::detail {

constexpr int tuning_rounds = 3;

/// How often a plan runs between two looks at the clock, given the seconds of a run on each rank: for half a
/// millisecond, so that small arrays are not measured by what a wait costs.
inline int runs_of_a_sample(const std::vector<double>& seconds) {
  const double slowest = *std::max_element(seconds.begin(), seconds.end());
  return static_cast<int>(std::clamp(0.5e-3 / std::max(slowest, 1e-6), 1.0, 32.0));
}

/// Candidates that are timed in rounds. Of each counts its fastest round, whose time is that of its slowest rank: what
/// disturbs the machine makes rounds slower, and none faster.
class tuning_race {
 public:
  explicit tuning_race(std::size_t candidates) : seconds_(candidates, unmeasured), runs_(candidates, true) {}

  bool runs(std::size_t at) const { return runs_[at]; }

  void add(std::size_t at, const std::vector<double>& of_ranks) {
    seconds_[at] = std::min(seconds_[at], *std::max_element(of_ranks.begin(), of_ranks.end()));
  }

  /// Leaves out one that cannot be made.
  void drop(std::size_t at) {
    runs_[at] = false;
    seconds_[at] = unmeasured;
  }

  /// Whether nothing else is measured or still to be measured.
  bool only(std::size_t at) const {
    for (std::size_t other = 0; other < runs_.size(); ++other) {
      if (other != at && (runs_[other] || seconds_[other] != unmeasured)) return false;
    }
    return true;
  }

  /// No further rounds for those that no disturbance explains.
  void drop_slow() {
    const double least = *std::min_element(seconds_.begin(), seconds_.end());
    for (std::size_t at = 0; at < runs_.size(); ++at) runs_[at] = runs_[at] && seconds_[at] <= hopeless * least;
  }

  /// The first of several.
  std::size_t fastest() const {
    return static_cast<std::size_t>(std::min_element(seconds_.begin(), seconds_.end()) - seconds_.begin());
  }

 private:
  static constexpr double unmeasured = std::numeric_limits<double>::infinity(), hopeless = 8;

  std::vector<double> seconds_;
  std::vector<bool> runs_;
};

}  // namespace twill::detail
