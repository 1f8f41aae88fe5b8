#include "bench_run.hpp"

#include <algorithm>

#include <fmt/core.h>

#include <twill/error.hpp>
#include <twill/simt.hpp>

#include "case_runner.hpp"
#include "compared_with.hpp"
#include "interrupt.hpp"
#include "progress.hpp"
#include "text.hpp"

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

/// Each step's speedup is over the step before.
void add_step_speedups(const planned_table& table, const std::vector<std::optional<std::size_t>>& places,
                       bench_report& report) {
  std::optional<double> step, first;
  for (std::size_t i = 0; i < table.rungs.size(); ++i) {
    const rung& info = table.rungs[i].info;
    if (!places[i] || !info.is_step) continue;
    bench_result& result = report.results[*places[i]];
    const std::optional<double> own = result.ms ? std::optional(result.ms->median) : std::nullopt;
    if (step && own && *own > 0) result.step_speedup = *step / *own;
    step = own;
    if (info.promise != rung_promise::result || !own) continue;
    if (!first) first = own;
    if (*own > 0) result.cumulative_speedup = *first / *own;
  }
}

/// Speedups over the CPU for every row that does the operation: for all but the roof.
void compare_with_cpu(const std::vector<std::size_t>& rows, bench_report& report) {
  for (const std::size_t place : rows) {
    bench_result& row = report.results[place];
    if (!row.ms || row.kernel == row.roof) continue;
    for (const bench_result& base : report.results) {
      const bool same_problem = base.type == row.type && base.problem_text() == row.problem_text();
      if (base.kernel != base_name || !base.ms || !same_problem) continue;
      row.cpu_speedup = base.ms->median / row.ms->median;
    }
  }
}

std::vector<std::string> notes_of(const case_runner& runner, const planned_case& each, const planned_table& table) {
  std::vector<std::string> notes = table.notes;
  const device_properties& on = each.on.properties();
  if (predicts(each.on)) {
    notes.push_back(
        fmt::format("Predicted from the kernels' memory accesses and the datasheet of the {}, not measured. {}",
                    on.model, compared_with_text(each.on)));
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
          "With the loop in the kernel a block repeats its own tile, from cache ({}): no bandwidth (--warm shows it).",
          cache));
    }
  }
  if (runner.lacks_pairs()) {
    notes.push_back(fmt::format(
        "Memory is too small for working sets of four times the cache ({}): some accesses may hit it.", cache));
  }
  return notes;
}

/// All rungs of a case, each once: the roof, then those of its tables.
std::vector<planned_run> runs_of(const planned_case& each) {
  std::vector<planned_run> runs;
  if (each.roof) runs.push_back({*each.roof, loop_kind::over});
  for (const planned_table& table : each.tables) {
    for (const planned_rung& which : table.rungs) runs.push_back({which, table.loop});
  }
  const auto same = [](const planned_run& a, const planned_run& b) {
    const planned_rung &x = a.which, &y = b.which;
    return x.info.name == y.info.name && x.block.x == y.block.x && x.block.y == y.block.y && a.loop == b.loop;
  };
  for (auto run = runs.begin(); run != runs.end();) {
    const bool again = std::any_of(runs.begin(), run, [&](const planned_run& before) { return same(before, *run); });
    run = again ? runs.erase(run) : run + 1;
  }
  return runs;
}

class bench_runner {
 public:
  bench_runner(const bench_plan& plan, const bench_options& options, bench_report& report, const show_function& show)
      : plan_(plan), options_(options), report_(report), show_(show), progress_(steps_of(plan)) {
    if (plan.cpu && !plan.cpu_rungs.empty()) cpu_.emplace(*plan.cpu, plan, options, report, progress_);
  }

  void run(const planned_case& each) {
    std::vector<std::string> notes;
    const std::vector<std::size_t> cpu_rows = run_cpu(each, notes);
    case_runner& runner = runner_on(each.on);
    const std::vector<planned_run> runs = runs_of(each);
    std::vector<std::optional<std::size_t>> places(runs.size());
    if (interrupted() == 0) places = runner.run(each, runs, notes);
    for (const planned_table& table : each.tables) show(each, table, runs, places, cpu_rows, notes);
  }

 private:
  void show(const planned_case& each, const planned_table& table, const std::vector<planned_run>& runs,
            const std::vector<std::optional<std::size_t>>& places, const std::vector<std::size_t>& cpu_rows,
            const std::vector<std::string>& notes) {
    const auto place_of = [&](const planned_rung& which, loop_kind loop) {
      for (std::size_t i = 0; i < runs.size(); ++i) {
        const planned_rung& own = runs[i].which;
        const bool same =
            own.info.name == which.info.name && own.block.x == which.block.x && own.block.y == which.block.y;
        if (same && runs[i].loop == loop) return places[i];
      }
      return std::optional<std::size_t>();
    };
    bench_table shown;
    shown.title = title_of(plan_, each, table, options_);
    shown.timed = has_clock(each.on) || predicts(each.on);
    if (shown.timed || !cpu_is_shown()) shown.rows = cpu_rows;
    if (each.roof && places.front()) shown.rows.push_back(*places.front());
    std::vector<std::optional<std::size_t>> own;
    for (const planned_rung& which : table.rungs) {
      own.push_back(place_of(which, table.loop));
      if (own.back()) shown.rows.push_back(*own.back());
    }
    if (interrupted() != 0) {
      const bool has_own = std::any_of(own.begin(), own.end(), [](const auto& place) { return place.has_value(); });
      if (!has_own && (shown.rows.empty() || &table != &each.tables.front())) return;
    }
    add_step_speedups(table, own, report_);
    compare_with_cpu(shown.rows, report_);
    shown.notes = notes_of(*runner_, each, table);
    for (const std::string& note : notes) add_note(shown.notes, note);
    if (interrupted() != 0) add_note(shown.notes, "Interrupted: rows may be missing, or have fewer samples.");
    progress_.clear();
    show_(shown);
  }

  /// Devices come one after the other: the memory of the one before is released.
  case_runner& runner_on(const device& on) {
    const std::string& name = on.properties().name;
    if (runner_ && runner_name_ == name) return *runner_;
    runner_.reset();
    runner_.emplace(on, plan_, options_, report_, progress_);
    runner_name_ = name;
    for (const planned_case& each : plan_.cases) {
      if (each.on.properties().name == name) runner_->expect(*each.problem);
    }
    return *runner_;
  }

  bool cpu_is_shown() const {
    return std::any_of(plan_.devices.begin(), plan_.devices.end(),
                       [](const device& on) { return on.properties().name == base_device; });
  }

  /// The CPU's rows of a case on another device; none beside predictions.
  std::vector<std::size_t> run_cpu(const planned_case& each, std::vector<std::string>& notes) {
    std::vector<std::size_t> rows;
    if (!cpu_ || each.on.properties().name == base_device || predicts(each.on)) return rows;
    if (!fits_memory(*plan_.cpu, *each.problem)) {
      notes.emplace_back("Left out: the CPU's rungs (in and out do not fit its free memory).");
      return rows;
    }
    std::vector<planned_run> runs;
    if (plan_.cpu_roof) runs.push_back({*plan_.cpu_roof, loop_kind::over});
    const std::size_t own = runs.size();
    for (const planned_rung& which : plan_.cpu_rungs) runs.push_back({which, loop_kind::over});
    const auto places = cpu_->run(each, runs, notes);
    for (std::size_t i = own; i < places.size(); ++i) {
      if (places[i]) rows.push_back(*places[i]);
    }
    return rows;
  }

  const bench_plan& plan_;
  const bench_options& options_;
  bench_report& report_;
  const show_function& show_;
  progress progress_;
  std::optional<case_runner> cpu_, runner_;
  std::string runner_name_;
};

}  // namespace

void run_bench(const bench_plan& plan, const bench_options& options, bench_report& report, const show_function& show) {
  const interrupt_guard guard;
  report.cold = options.cold;
  for (const device& on : plan.devices) report.devices.push_back(on.properties());
  if (plan.cpu && !plan.cpu_rungs.empty()) report.devices.push_back(plan.cpu->properties());
  bench_runner runner(plan, options, report, show);
  for (const planned_case& each : plan.cases) {
    runner.run(each);
    if (interrupted() == 0) continue;
    report.partial = true;
    return;
  }
}

}  // namespace twill::tool
