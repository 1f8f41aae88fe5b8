#include "bench_run.hpp"

#include <algorithm>

#include <fmt/core.h>

#include <twill/error.hpp>
#include <twill/simt.hpp>

#include "case_runner.hpp"
#include "format.hpp"
#include "progress.hpp"

namespace twill::tool {
namespace {

int steps_of(const bench_plan& plan) {
  std::size_t steps = 0;
  for (const planned_case& each : plan.cases) {
    steps += each.roof ? 1 : 0;
    for (const planned_table& table : each.tables) steps += table.rungs.size();
    const bool first_device = each.on.properties().name == plan.cases.front().on.properties().name;
    if (plan.cpu && first_device && !predicts(each.on)) steps += plan.cpu_rungs.size() + 1;
  }
  return static_cast<int>(steps);
}

std::vector<std::string> title_of(const bench_plan& plan, const planned_case& each, const planned_table& table,
                                  const bench_options& options) {
  const device_properties& on = each.on.properties();
  const std::string block = table.block ? "block " + block_text(*table.block) : "default blocks";
  std::string how = fmt::format("loop {} the kernel, {}", loop_name(table.loop), block);
  if (table.rungs.empty() || table.rungs.front().block.x == 0) how = "loop over the kernel";
  const bool has_times = has_clock(each.on) || predicts(each.on);
  how += predicts(each.on)     ? ", times predicted"
         : !has_clock(each.on) ? ", checked but not timed"
         : options.cold        ? ", cold cache"
                               : ", warm cache";
  if (has_times && on.peak_bytes_per_second > 0)
    how += fmt::format(", peak {:.1f} GB/s", on.peak_bytes_per_second * 1e-9);
  return {
      fmt::format("{} {} {} on {} ({})", plan.operation->name, each.problem->text(), each.type.name, on.name, on.model),
      how};
}

/// Several rungs may have the same to say.
void add_note(std::vector<std::string>& notes, const std::string& note) {
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

/// The place of a rung's result; empty, with a note, where the rung cannot do this problem.
std::optional<std::size_t> try_row(case_runner& runner, const planned_rung& which, loop_kind loop,
                                   std::vector<std::string>& notes) {
  try {
    return runner.row(which, loop);
  } catch (const error& problem) {
    if (problem.code() != errc::unsupported) throw;
    add_note(notes, fmt::format("Left out: {}.", problem.what()));
    return std::nullopt;
  }
}

/// Runs the rungs of a table and adds their rows; each step's speedup is over the step before.
void run_rungs(case_runner& runner, const planned_table& table, bench_report& report, bench_table& shown) {
  std::optional<double> step, first;
  for (const planned_rung& which : table.rungs) {
    const auto place = try_row(runner, which, table.loop, shown.notes);
    if (!place) continue;
    shown.rows.push_back(*place);
    bench_result& result = report.results[*place];
    const std::optional<double> own = result.seconds ? std::optional(result.seconds->median) : std::nullopt;
    if (!which.info.is_step) continue;
    if (step && own && *own > 0) result.step_speedup = *step / *own;
    step = own;
    if (which.info.promise != rung_promise::result || !own) continue;
    if (!first) first = own;
    if (*own > 0) result.cumulative_speedup = *first / *own;
  }
}

/// Speedups over the CPU for every row that does the operation: for all but the roof.
void compare_with_cpu(const std::vector<std::size_t>& rows, bench_report& report) {
  for (const std::size_t place : rows) {
    bench_result& row = report.results[place];
    if (!row.seconds || row.kernel == row.roof) continue;
    for (const bench_result& base : report.results) {
      const bool same_problem = base.type == row.type && base.rows == row.rows && base.cols == row.cols;
      if (base.kernel != base_name || !base.seconds || !same_problem) continue;
      row.cpu_speedup = base.seconds->median / row.seconds->median;
    }
  }
}

std::vector<std::string> notes_of(const case_runner& runner, const planned_case& each, const planned_table& table) {
  std::vector<std::string> notes = table.notes;
  const device_properties& on = each.on.properties();
  if (predicts(each.on)) {
    notes.push_back(fmt::format(
        "Predicted from the kernels' memory accesses and the datasheet of the {}, not measured.", on.model));
  } else if (!has_clock(each.on)) {
    notes.push_back(fmt::format(
        "{} runs the kernels on the CPU: its times are not GPU times, and neither they nor a bandwidth are shown.",
        on.name));
    return notes;
  }
  const std::string cache = bytes_text(static_cast<double>(on.cache_bytes));
  if (table.loop == loop_kind::in) {
    notes.push_back("Rows without a block are timed with the loop over the kernel.");
    if (runner.repeats_in_cache()) {
      notes.push_back(fmt::format(
          "In the kernel a block repeats its own tile, which the cache ({}) serves: no bandwidth (--warm gives it).",
          cache));
    }
  }
  if (runner.lacks_pairs()) {
    notes.push_back(
        fmt::format("Memory is too small to go round four times the cache ({}): it may have served a part.", cache));
  }
  return notes;
}

class bench_runner {
 public:
  bench_runner(const bench_plan& plan, const bench_options& options, bench_report& report, const show_function& show)
      : plan_(plan), options_(options), report_(report), show_(show), progress_(steps_of(plan)) {}

  void run(const planned_case& each) {
    std::vector<std::string> cpu_notes;
    const std::vector<std::size_t> cpu_rows = run_cpu(each, cpu_notes);
    case_runner runner(each.on, each, plan_, options_, report_, progress_);
    runner.run_roof(each.roof);
    for (const planned_table& table : each.tables) {
      bench_table shown;
      shown.title = title_of(plan_, each, table, options_);
      shown.timed = has_clock(each.on) || predicts(each.on);
      if (shown.timed || !cpu_is_shown()) shown.rows = cpu_rows;
      if (const auto roof = runner.roof()) shown.rows.push_back(*roof);
      run_rungs(runner, table, report_, shown);
      compare_with_cpu(shown.rows, report_);
      for (std::string& note : notes_of(runner, each, table)) shown.notes.push_back(std::move(note));
      for (const std::string& note : cpu_notes) add_note(shown.notes, note);
      progress_.clear();
      show_(shown);
    }
  }

 private:
  bool cpu_is_shown() const {
    return std::any_of(plan_.devices.begin(), plan_.devices.end(),
                       [](const device& on) { return on.properties().name == base_device; });
  }

  /// The CPU's rows of a case on another device; none beside predictions.
  std::vector<std::size_t> run_cpu(const planned_case& each, std::vector<std::string>& notes) {
    std::vector<std::size_t> rows;
    if (!plan_.cpu || plan_.cpu_rungs.empty() || each.on.properties().name == base_device) return rows;
    if (predicts(each.on)) return rows;
    if (!fits_memory(*plan_.cpu, *each.problem)) {
      notes.emplace_back("Left out: the CPU's rungs (in and out do not fit its free memory).");
      return rows;
    }
    case_runner runner(*plan_.cpu, each, plan_, options_, report_, progress_);
    runner.run_roof(plan_.cpu_roof);
    for (const planned_rung& which : plan_.cpu_rungs) {
      if (const auto place = try_row(runner, which, loop_kind::over, notes)) rows.push_back(*place);
    }
    return rows;
  }

  const bench_plan& plan_;
  const bench_options& options_;
  bench_report& report_;
  const show_function& show_;
  progress progress_;
};

}  // namespace

void run_bench(const bench_plan& plan, const bench_options& options, bench_report& report, const show_function& show) {
  report.cold = options.cold;
  for (const device& on : plan.devices) report.devices.push_back(on.properties());
  bench_runner runner(plan, options, report, show);
  for (const planned_case& each : plan.cases) runner.run(each);
  if (plan.cpu && !plan.cpu_rungs.empty()) report.devices.push_back(plan.cpu->properties());
}

}  // namespace twill::tool
