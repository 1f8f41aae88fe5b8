#include "timing.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <twill/event.hpp>

namespace twill::tool {
namespace {

constexpr double row_seconds = 2.0;
constexpr double warm_up_seconds = 10e-3;
constexpr double sample_seconds = 100e-6;
constexpr double short_launch_seconds = 50e-6;

int launches_a_sample(double once) {
  if (once >= short_launch_seconds) return 1;
  return static_cast<int>(std::ceil(sample_seconds / std::max(once, 1e-6)));
}

/// At least three, and enough for a processor to raise its clock; one where that would take long.
int warm_ups(double once) {
  if (once * 3 > row_seconds / 4) return 1;
  return static_cast<int>(std::max(3.0, std::ceil(warm_up_seconds / std::max(once, 1e-6))));
}

}  // namespace

double rough_seconds(stream_ref stream, const working_set& pairs, const launch_function& launch) {
  event start(stream.on());
  event end(stream.on());
  const int pair = pairs.pairs() - 1;
  start.record(stream);
  launch(pairs.in(pair), pairs.out(pair));
  end.record(stream);
  return end.elapsed(start).count();
}

timing measure(stream_ref stream, const working_set& pairs, const launch_function& launch, int reps) {
  const double once = rough_seconds(stream, pairs, launch);
  const int batch = launches_a_sample(once);
  const double affordable = row_seconds / (once * batch + 1e-9);
  const int samples = affordable >= reps ? reps : std::max(static_cast<int>(affordable), std::min(3, reps));

  int pair = 0;
  const auto launch_next = [&] {
    launch(pairs.in(pair), pairs.out(pair));
    pair = (pair + 1) % pairs.pairs();
  };
  std::vector<event> marks;
  for (int i = 0; i <= samples; ++i) marks.emplace_back(stream.on());
  for (int i = warm_ups(once); i > 0; --i) launch_next();
  marks[0].record(stream);
  for (int sample = 1; sample <= samples; ++sample) {
    for (int i = 0; i < batch; ++i) launch_next();
    marks[static_cast<std::size_t>(sample)].record(stream);
  }

  std::vector<double> seconds;
  for (std::size_t i = 1; i < marks.size(); ++i) seconds.push_back(marks[i].elapsed(marks[i - 1]).count() / batch);
  return {quartiles_of(seconds), samples};
}

}  // namespace twill::tool
