#include "case_runner.hpp"

#include <algorithm>
#include <new>

#include <fmt/core.h>

#include <twill/simt.hpp>

#include "candidates.hpp"
#include "interrupt.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

constexpr double in_loop_seconds = 20e-3;
constexpr double most_repeats = 100;
constexpr int untimed_repeats = 2;
constexpr int predicted_repeats = 4;  // in the kernel: enough for the first one not to count
constexpr double seconds_a_row = 2.0, seconds_a_row_of_a_set = 0.25;

void fail(bench_result& result, const std::string& why) {
  result.valid = false;
  result.status = "failed";
  result.fault = why;
}

}  // namespace

void add_note(std::vector<std::string>& notes, const std::string& note) {
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

case_runner::case_runner(const device& on, const bench_plan& plan, const bench_options& options, bench_report& report,
                         progress& shown)
    : on_(on),
      plan_(plan),
      options_(options),
      report_(report),
      shown_(shown),
      stream_(on),
      set_(stream_, options.cold && has_clock(on), !has_clock(on)) {}

void case_runner::expect(const ladder_problem& problem) {
  if (has_clock(on_)) set_.expect(problem);
}

std::vector<std::optional<std::size_t>> case_runner::run(const planned_case& each, const std::vector<planned_run>& runs,
                                                         std::vector<std::string>& notes) {
  std::vector<row> rows;
  for (const planned_run& run : runs) {
    row made{&run, std::nullopt, start(each, run), 1, false};
    made.known = find(made.result);
    rows.push_back(std::move(made));
  }
  std::string why;
  const bool all_known = std::all_of(rows.begin(), rows.end(), [](const row& one) { return one.known; });
  try {
    if (!all_known) set_.lay_out(*each.problem);
  } catch (const error& problem) {
    why = problem.what();
  }
  std::vector<row*> timed;
  for (row& one : rows) {
    if (one.known || interrupted() != 0) continue;
    if (why.empty()) {
      make(each, one, notes);
    } else {
      fail(one.result, why);
      one.done = true;
    }
    if (one.done && one.result.valid && has_clock(on_)) timed.push_back(&one);
  }
  if (!timed.empty()) time(each, timed);
  compare_with_roof(rows);
  std::vector<std::optional<std::size_t>> places;
  for (row& one : rows) {
    if (one.done && !one.known) {
      one.known = report_.results.size();
      report_.results.push_back(std::move(one.result));
    }
    places.push_back(one.known);
  }
  return places;
}

bench_result case_runner::start(const planned_case& each, const planned_run& run) const {
  const ladder_problem& problem = *each.problem;
  bench_result result;
  result.op = plan_.operation->name;
  result.roof = plan_.operation->roof;
  result.device = on_.properties().name;
  result.kernel = run.which.info.name;
  result.type = each.type.name;
  result.rows = problem.rows();
  result.cols = problem.cols();
  result.batch = problem.batch();
  result.all_extents = problem.all_extents();
  result.order = problem.order();
  result.in_strides = problem.in_strides();
  result.out_strides = problem.out_strides();
  result.gap = problem.gap();
  result.part = each.part;
  result.loop = loop_name(run.loop);
  result.block = block_text(run.which.block);
  if (const auto plan = plan_of(problem, on_, run.which.info)) {
    result.plan = plan_text(*plan);
    result.expected_us = plan->microseconds;
  }
  return result;
}

std::optional<std::size_t> case_runner::find(const bench_result& wanted) const {
  if (options_.set.layout != case_layout::tables) return std::nullopt;
  const auto same = [&](const bench_result& old) {
    return old.device == wanted.device && old.kernel == wanted.kernel && old.type == wanted.type &&
           old.problem_text() == wanted.problem_text() && old.loop == wanted.loop && old.block == wanted.block;
  };
  const auto found = std::find_if(report_.results.begin(), report_.results.end(), same);
  if (found == report_.results.end()) return std::nullopt;
  return static_cast<std::size_t>(found - report_.results.begin());
}

void case_runner::launch(const planned_case& each, const row& of, int repeats, const void* in, void* out) {
  each.problem->run(stream_, of.run->which.info, in, out, {of.run->which.block, repeats});
}

/// A rung that cannot do what others can is left out; one that fails is a row, and the rest goes on.
void case_runner::make(const planned_case& each, row& to, std::vector<std::string>& notes) {
  const bench_result& result = to.result;
  shown_.step(fmt::format("{}: {} {} {}, {} {}", result.device, result.op, each.problem->text(), result.type,
                          result.kernel, result.block));
  try {
    to.repeats = repeats_for(each, to);
    if (predicts(on_)) {
      predict(each, to);
    } else {
      check(each, to);
    }
    to.done = true;
  } catch (const error& problem) {
    if (problem.code() == errc::unsupported) return add_note(notes, fmt::format("Left out: {}.", problem.what()));
    fail(to.result, problem.what());
    to.done = true;
  } catch (const std::bad_alloc&) {
    fail(to.result, "out of memory (the host has too little for this)");
    to.done = true;
  }
}

int case_runner::repeats_for(const planned_case& each, const row& of) {
  if (of.run->loop == loop_kind::over) return 1;
  if (predicts(on_)) return predicted_repeats;
  if (!has_clock(on_)) return untimed_repeats;
  const double once = rough_seconds(stream_, set_, [&](const void* in, void* out) { launch(each, of, 1, in, out); });
  return static_cast<int>(std::clamp(in_loop_seconds / std::max(once, 1e-6), 2.0, most_repeats));
}

void case_runner::check(const planned_case& each, row& to) {
  const rung& which = to.run->which.info;
  each.problem->prepare(stream_, set_.in(0), set_.out(0));
  launch(each, to, to.repeats, set_.in(0), set_.out(0));
  stream_.wait();
  to.result.fault = each.problem->fault(stream_, which, to.run->which.block, set_.out(0));
  to.result.valid = to.result.fault.empty();
  if (!to.result.valid) to.result.status = "wrong";
}

// The run that is checked is the one that is predicted. What launches no kernel is the device's own copy.
void case_runner::predict(const planned_case& each, row& to) {
  const predicted_time found = twill::predict(on_, [&] { check(each, to); });
  bench_result& result = to.result;
  result.waits = found.waiting > 0;
  if (!result.valid || result.waits) return;
  result.sampled = found.sampled;
  if (found.launches > 0) result.busiest_channel = found.busiest_channel;
  const double moved = each.problem->moved_bytes_of(to.run->which.info);
  const double all =
      found.launches > 0 ? found.seconds : predicted_copy_seconds(on_, static_cast<std::size_t>(moved / 2));
  const double ms = all / to.repeats * 1e3;
  result.predicted = true;
  result.ms = quartiles{ms, ms, ms};
  rate(each, to);
}

void case_runner::time(const planned_case& each, std::vector<row*>& rows) {
  std::vector<launch_function> launches;
  for (const row* one : rows) {
    launches.push_back([this, &each, one](const void* in, void* out) { launch(each, *one, one->repeats, in, out); });
  }
  timing_limits limits{options_.reps, seconds_a_row, warm_up_seconds};
  if (options_.set.layout != case_layout::tables) limits = {options_.reps, seconds_a_row_of_a_set, 0};
  try {
    const std::vector<timing> taken = measure_interleaved(stream_, set_, launches, limits);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i]->done = taken[i].reps > 0;  // or interrupted before
      const double scale = 1e3 / rows[i]->repeats;
      const quartiles& s = taken[i].seconds;
      rows[i]->result.ms = quartiles{s.median * scale, s.p25 * scale, s.p75 * scale};
      rows[i]->result.reps = taken[i].reps;
      rate(each, *rows[i]);
    }
  } catch (const error& problem) {
    for (row* one : rows) {
      one->result.ms.reset();
      fail(one->result, fmt::format("while it was timed: {}", problem.what()));
    }
  }
}

void case_runner::rate(const planned_case& each, row& to) const {
  const bool cache_only = to.run->loop == loop_kind::in && repeats_in_cache();
  if (cache_only || to.result.ms->median <= 0) return;
  const double bytes_per_second = each.problem->moved_bytes_of(to.run->which.info) / (to.result.ms->median * 1e-3);
  to.result.gbps = bytes_per_second * 1e-9;
  const double peak = on_.properties().peak_bytes_per_second;
  if (peak > 0) to.result.of_peak = bytes_per_second / peak;
}

void case_runner::compare_with_roof(std::vector<row>& rows) const {
  std::optional<double> roof;
  for (const row& one : rows) {
    const bench_result& result = one.known ? report_.results[*one.known] : one.result;
    if (result.kernel == plan_.operation->roof && result.gbps) roof = result.gbps;
  }
  for (row& one : rows) {
    if (!roof || !one.result.gbps) continue;
    one.result.of_roof = *one.result.gbps / *roof;
    if (plan_.operation->roof == "memcpy") one.result.of_memcpy = one.result.of_roof;
  }
}

}  // namespace twill::tool
