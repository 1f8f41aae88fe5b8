#include "timing.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

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

/// Work in front of a sample of short launches, during which the host issues all of them: what is timed is what the GPU
/// takes for launches one behind another, and not how fast the host issues them. Fills memory of its own.
class lead {
 public:
  explicit lead(stream_ref stream) : stream_(stream) {}

  /// In front of so many launches.
  void issue(int launches) {
    if (!memory_) make();
    if (!memory_) return;
    const double wanted = launches * host_seconds / std::max(fill_seconds_, 1e-6);
    for (int i = 0; i < std::min(wanted, most_fills); ++i) fill();
  }

 private:
  static constexpr std::size_t bytes = std::size_t{64} << 20;
  static constexpr double most_fills = 100;
  static constexpr double host_seconds = 10e-6;  // of a launch, and more than it takes

  void fill() { fill_bytes(stream_, memory_->data(), 0, bytes); }

  void make() {
    if (failed_) return;
    try {
      memory_.emplace(stream_.on(), bytes);
    } catch (const error&) {  // the host then keeps up or does not
      failed_ = true;
      return;
    }
    event start(stream_.on()), end(stream_.on());
    fill();
    start.record(stream_);
    for (int i = 0; i < 4; ++i) fill();
    end.record(stream_);
    fill_seconds_ = end.elapsed(start).count() / 4;
  }

  stream_ref stream_;
  std::optional<raw_buffer> memory_;
  double fill_seconds_ = 0;
  bool failed_ = false;
};

/// Launches between two marks in the stream. Of short ones, the lead and one launch that is not timed go before.
class samples {
 public:
  explicit samples(stream_ref stream) : stream_(stream), ahead_(stream) {}

  template <class Launch>
  void take(sampled_launch& each, Launch launch_next) {
    const bool is_led = each.launches > 1 && stream_.on().properties().is_gpu;
    if (is_led) {
      ahead_.issue(each.launches);
      launch_next(each);
    }
    if (is_led || marks_.empty()) marks_.emplace_back(stream_.on()).record(stream_);
    const std::size_t start = marks_.size() - 1;
    for (int i = 0; i < each.launches; ++i) launch_next(each);
    marks_.emplace_back(stream_.on()).record(stream_);
    between_.push_back({&each, start});
  }

  void collect() {
    for (const auto& [each, start] : between_) {
      each->samples.push_back(marks_[start + 1].elapsed(marks_[start]).count() / each->launches);
    }
  }

 private:
  struct interval {
    sampled_launch* of;
    std::size_t start;  // the mark before it
  };

  stream_ref stream_;
  lead ahead_;
  std::vector<event> marks_;
  std::vector<interval> between_;
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
    const double once = std::min(rough_seconds(stream, pairs, each), rough_seconds(stream, pairs, each));
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

  samples taken(stream);
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
