#include "timing.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <twill/event.hpp>

#include "interrupt.hpp"

namespace twill::tool {
namespace {

constexpr double sample_seconds = 100e-6;
constexpr double short_launch_seconds = 50e-6;

/// A launch that is timed, and its share of the rounds.
struct sampled_launch {
  const launch_function* launch;
  int launches = 1;  ///< a sample
  int reps = 0;
  int warm_ups = 1;
  std::vector<double> samples;

  /// Spreads fewer samples than there are rounds evenly over them.
  bool takes_part(int round, int rounds) const {
    const auto share = [&](int n) { return static_cast<std::int64_t>(n) * reps / rounds; };
    return share(round + 1) > share(round);
  }
};

sampled_launch make_sampled(const launch_function& launch, double once, bool first, const timing_limits& limits) {
  sampled_launch made{&launch, 1, 0, 1, {}};
  if (once < short_launch_seconds) made.launches = static_cast<int>(std::ceil(sample_seconds / std::max(once, 1e-6)));
  const double affordable = limits.row_seconds / (once * made.launches + 1e-9);
  made.reps =
      affordable >= limits.reps ? limits.reps : std::max(static_cast<int>(affordable), std::min(3, limits.reps));
  if (once * 3 <= limits.row_seconds / 4) {
    made.warm_ups = first ? std::max(3, static_cast<int>(std::ceil(limits.warm_up / std::max(once, 1e-6)))) : 3;
  }
  return made;
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

std::vector<timing> measure_interleaved(stream_ref stream, const working_set& pairs,
                                        const std::vector<launch_function>& launches, const timing_limits& limits) {
  std::vector<sampled_launch> sampled;
  for (const launch_function& each : launches) {
    sampled.push_back(make_sampled(each, rough_seconds(stream, pairs, each), sampled.empty(), limits));
  }
  int pair = 0, rounds = 0;
  const auto launch_next = [&](const sampled_launch& each) {
    (*each.launch)(pairs.in(pair), pairs.out(pair));
    pair = (pair + 1) % pairs.pairs();
  };
  for (const sampled_launch& each : sampled) {
    rounds = std::max(rounds, each.reps);
    for (int i = 0; i < each.warm_ups && interrupted() == 0; ++i) launch_next(each);
  }

  std::vector<event> marks;
  std::vector<sampled_launch*> between;  // whose launches lie before the next mark
  marks.emplace_back(stream.on()).record(stream);
  for (int round = 0; round < rounds; ++round) {
    for (sampled_launch& each : sampled) {
      if (interrupted() != 0 || !each.takes_part(round, rounds)) continue;
      for (int i = 0; i < each.launches; ++i) launch_next(each);
      marks.emplace_back(stream.on()).record(stream);
      between.push_back(&each);
    }
  }
  for (std::size_t i = 0; i < between.size(); ++i) {
    between[i]->samples.push_back(marks[i + 1].elapsed(marks[i]).count() / between[i]->launches);
  }
  std::vector<timing> found;
  for (sampled_launch& each : sampled) {
    const int taken = static_cast<int>(each.samples.size());
    found.push_back({taken > 0 ? quartiles_of(std::move(each.samples)) : quartiles{}, taken});
  }
  return found;
}

}  // namespace twill::tool
