#include "timing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <twill/buffer.hpp>
#include <twill/event.hpp>
#include <twill/fill.hpp>

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

/// Delays the GPU while the host queues a sample of short launches, so that host issue time is excluded: fills memory
/// of its own. What takes no time, as where there is no memory for it, delays nothing.
class delay {
 public:
  explicit delay(stream_ref stream) : stream_(stream) {
    constexpr int first = 20, timed = 4;  // the host has queued the timed ones before they begin
    try {
      memory_.emplace(stream.on(), bytes);
    } catch (const error& problem) {
      if (problem.code() != errc::out_of_memory) throw;
      return;
    }
    event start(stream.on()), end(stream.on());
    for (int i = 0; i < first; ++i) fill();
    start.record(stream);
    for (int i = 0; i < timed; ++i) fill();
    end.record(stream);
    fill_seconds_ = std::max(end.elapsed(start).count() / timed, 1e-6);
  }

  /// Queues at least so many seconds; returns how many.
  double queue(double seconds) {
    if (!memory_) return 0;
    const int fills = static_cast<int>(std::min(std::ceil(seconds / fill_seconds_), most_fills));
    for (int i = 0; i < fills; ++i) fill();
    return fills * fill_seconds_;
  }

 private:
  static constexpr std::size_t bytes = std::size_t{64} << 20;
  static constexpr double most_fills = 400;

  void fill() { fill_bytes(stream_, memory_->data(), 0, bytes); }

  stream_ref stream_;
  std::optional<raw_buffer> memory_;
  double fill_seconds_ = 0;
};

/// Takes samples: launches back to back between two marks in the stream.
class sampler {
 public:
  explicit sampler(stream_ref stream) : stream_(stream) {}

  template <class Launch>
  void take(sampled_launch& each, Launch launch_next) {
    if (each.launches == 1 || !stream_.on().properties().is_gpu) return between_marks(each, launch_next);
    if (!delay_) delay_.emplace(stream_);
    constexpr double host_seconds = 10e-6;  // of a launch, as a rule; where the host takes longer, a longer delay
    constexpr int tries = 4;
    const int untimed = (each.launches + 1) / 2;  // 50 us: they replace what the delay left in the cache
    double wanted = (each.launches + untimed) * host_seconds;
    for (int i = 0; i < tries; ++i, wanted *= 2) {
      stream_.wait();
      const auto begin = std::chrono::steady_clock::now();
      const double lasts = delay_->queue(wanted);
      for (int k = 0; k < untimed; ++k) launch_next(each);
      between_marks(each, launch_next);
      const std::chrono::duration<double> host = std::chrono::steady_clock::now() - begin;
      if (host.count() < lasts || lasts == 0 || i == tries - 1) return;
      taken_.pop_back();
    }
  }

  void collect() {
    for (const interval& one : taken_) one.of->samples.push_back(one.end.elapsed(one.start).count() / one.of->launches);
  }

 private:
  struct interval {
    sampled_launch* of;
    event start, end;
  };

  template <class Launch>
  void between_marks(sampled_launch& each, Launch launch_next) {
    interval one{&each, event(stream_.on()), event(stream_.on())};
    one.start.record(stream_);
    for (int i = 0; i < each.launches; ++i) launch_next(each);
    one.end.record(stream_);
    taken_.push_back(std::move(one));
  }

  stream_ref stream_;
  std::optional<delay> delay_;
  std::vector<interval> taken_;
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
    double once = rough_seconds(stream, pairs, each);
    if (once < 10 * short_launch_seconds) once = std::min(once, rough_seconds(stream, pairs, each));  // host hiccups
    sampled.push_back(make_sampled(each, once, sampled.empty(), limits));
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

  sampler taken(stream);
  for (int round = 0; round < rounds; ++round) {
    for (sampled_launch& each : sampled) {
      if (interrupted() == 0 && each.takes_part(round, rounds)) taken.take(each, launch_next);
    }
  }
  taken.collect();
  std::vector<timing> found;
  for (sampled_launch& each : sampled) {
    const int reps = static_cast<int>(each.samples.size());
    found.push_back({reps > 0 ? quartiles_of(std::move(each.samples)) : quartiles{}, reps});
  }
  return found;
}

}  // namespace twill::tool
