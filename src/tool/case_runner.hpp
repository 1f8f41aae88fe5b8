#pragma once

#include <cstddef>
#include <optional>

#include <twill/stream.hpp>

#include "bench_plan.hpp"
#include "progress.hpp"
#include "result.hpp"
#include "working_set.hpp"

namespace twill::tool {

/// Checks and times rungs on one device, size and type.
class case_runner {
 public:
  case_runner(const device& on, const planned_case& each, const bench_plan& plan, const bench_options& options,
              bench_report& report, progress& shown)
      : on_(on), case_(each), plan_(plan), options_(options), report_(report), shown_(shown), stream_(on) {}

  /// Runs what the other rungs are measured against; does nothing without one.
  void run_roof(const std::optional<planned_rung>& roof);
  std::optional<std::size_t> roof() const { return roof_; }

  /// The place of this rung's result in the report; runs it unless it is there already.
  std::size_t row(const planned_rung& which, loop_kind loop);

  /// Whether a cache serves the repeats inside one launch: a block repeats its own tile, and the tiles of the blocks
  /// that are resident together are small.
  bool repeats_in_cache() const { return options_.cold && on_.properties().cache_bytes > 0; }
  /// Whether memory was too small for all the pairs that a cold run should go round.
  bool lacks_pairs() const;

 private:
  std::size_t pair_bytes() const { return case_.problem->in_bytes() + case_.problem->out_bytes(); }
  const working_set& pairs();
  bench_result start(const planned_rung& which, loop_kind loop) const;
  std::optional<std::size_t> known(const bench_result& wanted) const;
  void run(const planned_rung& which, int repeats, const void* in, void* out) {
    case_.problem->run(stream_, which.info, in, out, {which.block, repeats});
  }
  int repeats_for(const planned_rung& which, loop_kind loop);
  void check(const planned_rung& which, int repeats, bench_result& result);
  void predict(const planned_rung& which, int repeats, bench_result& result);
  void time(const planned_rung& which, int repeats, bench_result& result);
  void rate(bench_result& result, double bytes_per_second) const;

  device on_;
  const planned_case& case_;
  const bench_plan& plan_;
  const bench_options& options_;
  bench_report& report_;
  progress& shown_;
  stream stream_;
  std::optional<working_set> pairs_;
  std::optional<std::size_t> roof_;
};

}  // namespace twill::tool
