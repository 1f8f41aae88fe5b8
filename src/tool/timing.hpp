#pragma once

#include <functional>
#include <vector>

#include <twill/stream.hpp>

#include "statistics.hpp"
#include "working_set.hpp"

namespace twill::tool {

/// Gives one launch to the stream, on the given input and output.
using launch_function = std::function<void(const void* in, void* out)>;

struct timing {
  quartiles seconds;  ///< of one launch
  int reps = 0;       ///< samples taken; 0 when it was interrupted before the first
};

constexpr double warm_up_seconds = 10e-3;  ///< for a processor to raise its clock

struct timing_limits {
  int reps = 31;                     ///< samples of each launch
  double row_seconds = 2.0;          ///< fewer where they would take longer, but at least three
  double warm_up = warm_up_seconds;  ///< of the first launch; at least three launches
};

/// Times launches by events in the stream, cycling through the pairs of the working set. A sample is one launch, or as
/// many as make about 100 us: on GPUs these are queued behind a delay, so that host issue time is excluded. Samples of
/// all launches are interleaved, so that a change of clocks, or a slow second of the machine, meets all of them.
std::vector<timing> measure_interleaved(stream_ref stream, const working_set& pairs,
                                        const std::vector<launch_function>& launches, const timing_limits& limits);

/// Seconds of a single launch, roughly: for choosing how often to repeat it.
double rough_seconds(stream_ref stream, const working_set& pairs, const launch_function& launch);

}  // namespace twill::tool
