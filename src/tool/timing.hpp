#pragma once

#include <functional>

#include <twill/stream.hpp>

#include "statistics.hpp"
#include "working_set.hpp"

namespace twill::tool {

/// Gives one launch to the stream, on the given input and output.
using launch_function = std::function<void(const void* in, void* out)>;

struct timing {
  quartiles seconds;  ///< of one launch
  int reps = 0;       ///< samples taken
};

/// Times launches by events in the stream, without waiting between them, going round the pairs of the working set.
/// A sample is one launch, or as many as make about 100 us. Takes `reps` samples, but only as many as fit about two
/// seconds, at least three.
timing measure(stream_ref stream, const working_set& pairs, const launch_function& launch, int reps);

/// Seconds of a single launch, roughly: for choosing how often to repeat it.
double rough_seconds(stream_ref stream, const working_set& pairs, const launch_function& launch);

}  // namespace twill::tool
