#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <twill/device.hpp>
#include <twill/ladder/rung.hpp>

#include "parse.hpp"
#include "statistics.hpp"

namespace twill::tool {

/// One measured, or only checked, rung: one entry of the JSON's "results".
struct bench_result {
  std::string op;
  std::string device;
  std::string kernel;
  std::string type;
  std::int64_t rows = 0, cols = 0, batch = 1;
  extents all_extents, order;  ///< of a permutation, say; empty where rows and columns say it all
  loop_kind loop = loop_kind::over;
  block_shape block;
  std::optional<quartiles> seconds;  ///< of one repetition; empty where nothing was timed
  int reps = 0;                      ///< samples behind `seconds`
  std::optional<double> bytes_per_second;
  std::string roof;               ///< the rung that `of_roof` is counted from: "memcpy", "read"
  std::optional<double> of_roof;  ///< fraction of its bandwidth, on the same device, for the same problem
  std::optional<double> of_peak;
  std::optional<double> step_speedup;        ///< over the step before
  std::optional<double> cumulative_speedup;  ///< over the first step, where all steps do the whole operation
  std::optional<double> cpu_speedup;         ///< over cpu-naive
  bool valid = false;
  std::string fault;                      ///< where the output is wrong first; "" when valid
  bool predicted = false;                 ///< the time comes from a model, not from a clock
  bool waits = false;                     ///< no time was predicted: blocks of its kernel wait for one another
  bool sampled = false;                   ///< predicted from the first blocks of a launch, not from all
  std::optional<double> busiest_channel;  ///< predicted: its bytes over those of a channel on average
};

inline const char* loop_name(loop_kind loop) {
  return loop == loop_kind::over ? "over" : "in";
}

/// What one run of `twill bench` found.
struct bench_report {
  std::vector<device_properties> devices;
  std::vector<bench_result> results;
  bool cold = true;

  bool all_valid() const {
    for (const bench_result& result : results) {
      if (!result.valid) return false;
    }
    return true;
  }
};

}  // namespace twill::tool
