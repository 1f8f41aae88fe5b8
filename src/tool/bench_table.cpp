#include "bench_table.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "text.hpp"

namespace twill::tool {
namespace {

constexpr double noisy_spread = 0.10;
constexpr std::size_t most_noisy_names = 3;
constexpr double camping = 1.5;

std::string number(const std::optional<double>& value, int decimals, double scale = 1.0) {
  return value ? fmt::format("{:.{}f}", *value * scale, decimals) : "";
}

/// Decimals that give the shortest time four figures, or three where it is predicted.
int time_decimals(const std::vector<const bench_result*>& rows) {
  double shortest = 1.0;
  bool predicted = false;
  for (const bench_result* row : rows) {
    if (row->ms && row->ms->median > 0) shortest = std::min(shortest, row->ms->median);
    predicted = predicted || row->predicted;
  }
  const int figures = predicted ? 3 : 4;
  return std::clamp(figures - 1 - static_cast<int>(std::floor(std::log10(shortest))), 3, 5);
}

std::vector<std::string> cells(const bench_result& row, bool timed, bool cumulative, int decimals) {
  std::optional<double> ms;
  if (row.ms) ms = row.ms->median;
  std::string time = number(ms, decimals);
  const char* bad = row.status == "failed" ? "FAILED" : "WRONG";
  if (timed && !row.valid) time = bad;
  return {row.kernel,
          row.block,
          row.predicted ? "predicted"
          : row.waits   ? "valid"
          : timed       ? ""
          : row.valid   ? "valid"
                        : bad,
          time,
          number(row.gbps, 1),
          number(row.of_roof, 1, 100),
          cumulative ? "" : number(row.of_peak, 1, 100),
          number(row.step_speedup, 2),
          cumulative ? number(row.cumulative_speedup, 2) : "",
          number(row.cpu_speedup, 2)};
}

/// Names the noisy rows (the interquartile range over the median), or where they are many, says how many.
std::string noise_note(const std::vector<const bench_result*>& rows) {
  std::vector<std::string> noisy;
  double widest = 0;
  for (const bench_result* row : rows) {
    if (!row->ms) continue;
    const double spread = row->ms->spread();
    if (spread > noisy_spread) noisy.push_back(fmt::format("{} {:.0f} %", row->kernel, spread * 100));
    widest = std::max(widest, spread);
  }
  if (noisy.empty()) return "";
  if (noisy.size() <= most_noisy_names)
    return fmt::format("Noisy (interquartile range over median): {}.", joined(noisy));
  return fmt::format("Noisy: {} of {} rows have an interquartile range above {:.0f} % of the median, up to {:.0f} %.",
                     noisy.size(), rows.size(), noisy_spread * 100, widest * 100);
}

/// "What: names." of the rows for which `says` has a word; "" where there are none.
template <class Says>
std::string named_note(const char* what, const std::vector<const bench_result*>& rows, Says says) {
  std::vector<std::string> names;
  for (const bench_result* row : rows) {
    const std::string name = says(*row);
    if (!name.empty()) names.push_back(name);
  }
  return names.empty() ? "" : wrapped(fmt::format("{}: {}.", what, joined(names))) + "\n";
}

/// What predictions are made of, where that is not all blocks, and which rungs do not use memory's channels alike.
std::string prediction_notes(const std::vector<const bench_result*>& rows) {
  return named_note("Not predicted, for their blocks wait for one another, which takes as long as the CPU here has it",
                    rows, [](const auto& row) { return row.waits ? row.kernel : ""; }) +
         named_note("Predicted from the first blocks, the others at their rate", rows,
                    [](const auto& row) { return row.sampled ? row.kernel : ""; }) +
         named_note("Load of the busiest memory channel over the mean, from 1.5 on", rows, [](const auto& row) {
           const double load = row.busiest_channel.value_or(0);
           return load < camping ? "" : fmt::format("{} {:.1f}", row.kernel, load);
         });
}

}  // namespace

std::string fault_line(const bench_result& row) {
  const char* what = row.status == "failed" ? "FAILED" : "WRONG";
  return wrapped(fmt::format("{}: {} {}{}{}: {}", what, row.kernel, row.block, row.block.empty() ? "" : " ",
                             row.problem_text() + " " + row.type, row.fault)) +
         "\n";
}

int exit_code_of(const std::vector<bench_result>& results) {
  const auto wrong = std::count_if(results.begin(), results.end(),
                                   [](const auto& each) { return !each.valid && each.status != "failed"; });
  const auto failed =
      std::count_if(results.begin(), results.end(), [](const auto& each) { return each.status == "failed"; });
  if (wrong + failed == 0) return 0;
  fmt::print(stderr,
             "twill: {} of {} results wrong, {} failed (an output was not what its kernel promises, or a kernel "
             "could not run) see the rows WRONG and FAILED\n",
             wrong, results.size(), failed);
  return 1;
}

std::string table_text(const bench_table& shown, const std::vector<bench_result>& results) {
  std::vector<const bench_result*> rows;
  rows.reserve(shown.rows.size());
  for (const std::size_t place : shown.rows) rows.push_back(&results[place]);

  using side = table::align;
  table lines({{"kernel", side::left},
               {"block", side::left},
               {"result", side::left},
               {"time ms"},
               {"GB/s"},
               {"% " + (rows.empty() ? "roof" : rows.front()->roof)},
               {"% peak"},
               {"step"},
               {"total"},
               {"vs CPU"}});
  const int decimals = time_decimals(rows);
  // Both would make the page too narrow: a ladder that counts up from its first rung shows that.
  const bool cumulative =
      std::any_of(rows.begin(), rows.end(), [](const auto* row) { return row->cumulative_speedup; });
  for (const bench_result* row : rows) lines.add(cells(*row, shown.timed, cumulative, decimals));

  std::string text;
  for (const std::string& line : shown.title) text += wrapped(line) + "\n";
  text += lines.text();
  for (const bench_result* row : rows) {
    if (!row->valid) text += fault_line(*row);
  }
  for (const std::string& note : shown.notes) text += wrapped(note) + "\n";
  text += prediction_notes(rows);
  const std::string noise = noise_note(rows);
  if (!noise.empty()) text += wrapped(noise) + "\n";
  return text;
}

}  // namespace twill::tool
