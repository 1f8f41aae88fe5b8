#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <twill/device.hpp>

#include "parse.hpp"
#include "statistics.hpp"

namespace twill::tool {

/// One rung on one problem: an entry of "results" in the JSON, field by field.
struct bench_result {
  std::string op, device, kernel, type;
  std::int64_t rows = 0, cols = 0, batch = 1;
  extents all_extents, order;       ///< of a permutation, say; empty where rows and columns say it all
  extents in_strides, out_strides;  ///< of a permutation, in elements; empty where it is packed
  std::int64_t gap = 0;             ///< elements between rows of the input
  std::string part;                 ///< the part of --grid, or the --sweep, that it belongs to
  std::string loop = "over", block;
  std::optional<quartiles> ms;  ///< of one repetition; empty where nothing was timed
  int reps = 0;                 ///< samples behind `ms`
  std::optional<double> gbps;
  std::string roof;               ///< the rung that `of_roof` is counted from: "memcpy", "read"
  std::optional<double> of_roof;  ///< fraction of its bandwidth, on the same device, for the same problem
  std::optional<double> of_memcpy, of_peak;
  std::optional<double> step_speedup;        ///< over the step before
  std::optional<double> cumulative_speedup;  ///< over the first step, where all steps do the whole operation
  std::optional<double> cpu_speedup;         ///< over cpu-naive
  bool valid = false;
  std::string status = "ok";              ///< or "wrong": its output is; or "failed": it could not be run
  std::string fault;                      ///< where the output is wrong first, or why it failed
  bool predicted = false;                 ///< the time comes from a model, not from a clock
  bool waits = false;                     ///< no time was predicted: blocks of its kernel wait for one another
  bool sampled = false;                   ///< predicted from the first blocks of a launch, not from all
  std::optional<double> busiest_channel;  ///< predicted: its bytes over those of a channel on average
  std::optional<double> expected_us;      ///< by the planner of the operation
  std::string plan;                       ///< what the operation's planner chose: kernel, tile, grid

  /// "1024x4096", "12x30x20 to 1,0,2", "1024x4096 to 0,1, in strides 4096,-1"
  std::string problem_text() const;
};

/// How a field of a result is written and read.
enum class field_is {
  required,  ///< always there
  nullable,  ///< null where it is empty; may be missing in files of older versions
  optional   ///< left out where it is empty
};

/// Calls f(name, field, presence) for every field, in the order of the JSON.
template <class Result, class F>
void each_field(Result& r, F&& f) {
  f("op", r.op, field_is::required);
  f("device", r.device, field_is::required);
  f("kernel", r.kernel, field_is::required);
  f("type", r.type, field_is::required);
  f("rows", r.rows, field_is::required);
  f("cols", r.cols, field_is::required);
  f("batch", r.batch, field_is::nullable);
  f("extents", r.all_extents, field_is::optional);
  f("order", r.order, field_is::optional);
  f("in_strides", r.in_strides, field_is::optional);
  f("out_strides", r.out_strides, field_is::optional);
  f("gap", r.gap, field_is::optional);
  f("part", r.part, field_is::optional);
  f("loop", r.loop, field_is::required);
  f("block", r.block, field_is::nullable);
  f("ms", r.ms, field_is::nullable);
  f("reps", r.reps, field_is::nullable);
  f("gbps", r.gbps, field_is::required);
  f("roof", r.roof, field_is::nullable);
  f("of_roof", r.of_roof, field_is::nullable);
  f("of_memcpy", r.of_memcpy, field_is::required);
  f("of_peak", r.of_peak, field_is::nullable);
  f("step_speedup", r.step_speedup, field_is::nullable);
  f("cumulative_speedup", r.cumulative_speedup, field_is::nullable);
  f("cpu_speedup", r.cpu_speedup, field_is::nullable);
  f("valid", r.valid, field_is::required);
  f("status", r.status, field_is::nullable);
  f("fault", r.fault, field_is::optional);
  f("predicted", r.predicted, field_is::required);
  f("waits", r.waits, field_is::optional);
  f("sampled", r.sampled, field_is::optional);
  f("busiest_channel", r.busiest_channel, field_is::optional);
  f("expected_us", r.expected_us, field_is::optional);
  f("plan", r.plan, field_is::optional);
}

/// Fractions of memcpy of one kernel on the cases of a list.
struct distribution {
  std::string kernel, device;
  std::int64_t element_bytes = 0;  ///< 0: of all sizes
  std::vector<double> shares;      ///< sorted

  double below(double share) const;
};

/// What one run of `twill bench` found.
struct bench_report {
  std::vector<device_properties> devices;
  std::vector<bench_result> results;
  std::vector<distribution> distributions;  ///< of --random
  std::vector<std::pair<std::string, std::string>> provenance;
  bool cold = true;
  bool partial = false;  ///< it was interrupted
};

}  // namespace twill::tool
