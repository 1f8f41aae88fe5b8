#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <twill/stream.hpp>

#include "bench_plan.hpp"
#include "progress.hpp"
#include "result.hpp"
#include "timing.hpp"
#include "working_set.hpp"

namespace twill::tool {

/// A rung with the way it is timed.
struct planned_run {
  planned_rung which;
  loop_kind loop = loop_kind::over;
};

/// Checks and times rungs on one device, case by case.
class case_runner {
 public:
  case_runner(const device& on, const bench_plan& plan, const bench_options& options, bench_report& report,
              progress& shown);

  /// Says beforehand which problem will come: see working_set.
  void expect(const ladder_problem& problem);

  /// Runs the rungs of a case, the roof first if there is one, and times all of them interleaved. Returns their places
  /// in the report: none for a rung that cannot do this problem, with a note, and for what an interrupt left undone.
  std::vector<std::optional<std::size_t>> run(const planned_case& each, const std::vector<planned_run>& runs,
                                              std::vector<std::string>& notes);

  /// Whether a cache holds what repeats inside one launch use: a block repeats its own tile, and the tiles of the
  /// blocks that are resident together are small.
  bool repeats_in_cache() const { return options_.cold && on_.properties().cache_bytes > 0; }
  bool lacks_pairs() const { return set_.lacks_pairs(); }

 private:
  /// A row that is being made.
  struct row {
    const planned_run* run = nullptr;
    std::optional<std::size_t> known;  ///< its place in the report, where another table has it already
    bench_result result;
    int repeats = 1;
    bool done = false;
  };

  bench_result start(const planned_case& each, const planned_run& run) const;
  std::optional<std::size_t> find(const bench_result& wanted) const;
  void launch(const planned_case& each, const row& of, int repeats, const void* in, void* out);
  int repeats_for(const planned_case& each, const row& of);
  void make(const planned_case& each, row& to, std::vector<std::string>& notes);
  void check(const planned_case& each, row& to);
  void predict(const planned_case& each, row& to);
  void time(const planned_case& each, std::vector<row*>& rows);
  void rate(const planned_case& each, row& to) const;
  void compare_with_roof(std::vector<row>& rows) const;

  device on_;
  const bench_plan& plan_;
  const bench_options& options_;
  bench_report& report_;
  progress& shown_;
  stream stream_;
  working_set set_;
};

/// Adds a note unless it is there.
void add_note(std::vector<std::string>& notes, const std::string& note);

}  // namespace twill::tool
