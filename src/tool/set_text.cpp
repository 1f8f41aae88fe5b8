#include "set_text.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "bench_table.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

using side = table::align;
using rows = std::vector<const bench_result*>;

constexpr std::size_t worst_shown = 10;

std::int64_t element_bytes_of(const bench_result& row) {
  return parse_type(row.type).bytes;
}

std::string fraction(double share) {
  return fmt::format("{:.3f}", share);
}

/// Distinct values in the order of their first appearance.
template <class Text>
std::vector<std::string> distinct(const rows& all, Text text) {
  std::vector<std::string> values;
  for (const bench_result* row : all) {
    const std::string value = text(*row);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

std::string case_text(const bench_result& row) {
  return row.type + " " + row.problem_text();
}

/// "tuned", and where there are several devices which one.
std::string kernel_text(const bench_result& row) {
  return fmt::format("{} on {}", row.kernel, row.device);
}

/// All rows but the roof's, by kernel and device.
std::vector<std::pair<std::string, rows>> by_kernel(const std::vector<bench_result>& results) {
  std::vector<std::pair<std::string, rows>> groups;
  for (const bench_result& row : results) {
    if (row.kernel == row.roof) continue;
    const auto same = [&](const auto& group) { return group.first == kernel_text(row); };
    auto found = std::find_if(groups.begin(), groups.end(), same);
    if (found == groups.end()) found = groups.insert(groups.end(), {kernel_text(row), {}});
    found->second.push_back(&row);
  }
  return groups;
}

std::string faults_text(const std::vector<bench_result>& results) {
  std::string text;
  for (const bench_result& row : results) {
    if (!row.valid) text += fault_line(row);
  }
  return text;
}

/// A case and its fraction, as a line of what is slowest.
const bench_result* worst_of(const rows& all) {
  const bench_result* worst = nullptr;
  for (const bench_result* row : all) {
    if (row->of_roof && (worst == nullptr || *row->of_roof < *worst->of_roof)) worst = row;
  }
  return worst;
}

std::string figures(const std::string& kernel, const rows& all) {
  std::vector<double> shares;
  for (const bench_result* row : all) {
    if (row->of_roof) shares.push_back(*row->of_roof);
  }
  if (shares.empty()) return wrapped(fmt::format("{}: {} cases, none timed", kernel, all.size())) + "\n";
  std::sort(shares.begin(), shares.end());
  const bench_result& worst = *worst_of(all);
  return wrapped(fmt::format("{}: {} cases, geometric mean {}, median {}, worst {} ({})", kernel, shares.size(),
                             fraction(geometric_mean(shares)), fraction(percentile(shares, 0.5)),
                             fraction(shares.front()), case_text(worst))) +
         "\n";
}

std::string list_text(const std::vector<bench_result>& results) {
  table lines({{"case", side::left, true}, {"kernel", side::left}, {"time ms"}, {"GB/s"}, {"% roof"}});
  for (const bench_result& each : results) {
    if (each.kernel == each.roof) continue;
    const std::string time = each.status == "wrong"    ? "WRONG"
                             : each.status == "failed" ? "FAILED"
                             : each.ms                 ? fmt::format("{:.4f}", each.ms->median)
                                                       : "";
    const std::string rate = each.gbps ? fmt::format("{:.1f}", *each.gbps) : "";
    const std::string share = each.of_roof ? fmt::format("{:.1f}", *each.of_roof * 100) : "";
    lines.add({case_text(each), each.kernel, time, rate, share});
  }
  std::string text = lines.text();
  for (const auto& [kernel, all] : by_kernel(results)) text += figures(kernel, all);
  return text;
}

/// A row a shape, a column a type.
std::string matrix_text(const rows& all) {
  const auto types = distinct(all, [](const bench_result& row) { return row.type; });
  const auto shape_of = [](const bench_result& row) {  // the number of matrices differs from type to type
    return fmt::format("{}x{}{}", row.rows, row.cols, row.gap > 0 ? fmt::format("+{}", row.gap) : "");
  };
  std::vector<table::column> columns = {{"rows x cols", side::left}};
  for (const std::string& type : types) columns.push_back({type});
  table lines(columns);
  for (const std::string& shape : distinct(all, shape_of)) {
    std::vector<std::string> cells(columns.size());
    cells[0] = shape;
    for (const bench_result* row : all) {
      if (shape_of(*row) != shape) continue;
      const auto column = static_cast<std::size_t>(std::find(types.begin(), types.end(), row->type) - types.begin());
      cells[1 + column] = row->status == "wrong"    ? "WRONG"
                          : row->status == "failed" ? "FAILED"
                          : row->of_roof            ? fraction(*row->of_roof)
                                                    : "-";
    }
    lines.add(cells);
  }
  return lines.text();
}

/// Of a sweep, the case that is slowest against a neighbour: the shape before in its row of shapes, or in its column.
std::string step_text(const rows& all) {
  std::size_t across = 0;
  while (across < all.size() && all[across]->rows == all.front()->rows) ++across;
  double lowest = 1;
  std::string text;
  const auto compare = [&](const bench_result& a, const bench_result& b) {
    if (a.type != b.type || !a.of_roof || !b.of_roof) return;
    const bench_result &slow = *a.of_roof < *b.of_roof ? a : b, &fast = *a.of_roof < *b.of_roof ? b : a;
    const double step = *slow.of_roof / *fast.of_roof;
    if (step >= lowest) return;
    lowest = step;
    text = fmt::format("Slowest against a neighbour: {}, {:.2f} of {}", case_text(slow), step, fast.problem_text());
  };
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (across == 1 || all[i - 1]->rows == all[i]->rows) compare(*all[i - 1], *all[i]);
    if (i >= across && across > 1) compare(*all[i - across], *all[i]);
  }
  return text.empty() ? "" : wrapped(text) + "\n";
}

std::string parts_text(const case_set& set, const std::vector<bench_result>& results) {
  rows everything;
  for (const bench_result& row : results) everything.push_back(&row);
  std::string text;
  for (const std::string& part : distinct(everything, [](const bench_result& row) { return row.part; })) {
    text += (text.empty() ? "" : "\n") +
            wrapped(part + ": " + part_title(part, set.most_bytes) + ", fraction of memcpy") + "\n";
    std::vector<bench_result> own;
    std::copy_if(results.begin(), results.end(), std::back_inserter(own),
                 [&](const bench_result& row) { return row.part == part; });
    for (const auto& [kernel, all] : by_kernel(own)) {
      if (set.layout == case_layout::grid) text += kernel + "\n" + matrix_text(all);
      text += figures(kernel, all);
      if (set.layout == case_layout::sweep) text += step_text(all);
    }
  }
  return text;
}

/// "ahead in 202 of 348, more than 10 % behind in 99" of kernels that did the same cases.
std::string beside_text(const std::vector<std::pair<std::string, rows>>& groups) {
  std::string text;
  const auto& [first, own] = groups.front();
  std::map<std::string, double> times;
  for (const bench_result* row : own) {
    if (row->ms) times[row->device + case_text(*row)] = row->ms->median;
  }
  for (auto group = groups.begin() + 1; group != groups.end(); ++group) {
    int cases = 0, ahead = 0, behind = 0;
    for (const bench_result* row : group->second) {
      const auto found = times.find(row->device + case_text(*row));
      if (!row->ms || found == times.end()) continue;
      ++cases;
      ahead += found->second <= row->ms->median;
      behind += found->second > 1.1 * row->ms->median;
    }
    if (cases == 0) continue;
    text += wrapped(fmt::format("{} beside {}: ahead in {} of {}, more than 10 % behind in {}.", first, group->first,
                                ahead, cases, behind)) +
            "\n";
  }
  return text;
}

std::string worst_text(rows all) {
  all.erase(std::remove_if(all.begin(), all.end(), [](const bench_result* row) { return !row->of_roof; }), all.end());
  std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) { return *a->of_roof < *b->of_roof; });
  if (all.size() > worst_shown) all.resize(worst_shown);
  table lines({{"worst"}, {"case", side::left, true}, {"plan", side::left, true}});
  for (const bench_result* row : all) lines.add({fraction(*row->of_roof), case_text(*row), row->plan});
  return all.empty() ? "" : lines.text();
}

/// The choice of a case beside the best of all candidates that ran, each by its name: as itself, an operation takes
/// another time in each sample, and plans fewer candidates.
struct choice {
  const bench_result* tuned = nullptr;
  const bench_result* chosen = nullptr;
  const bench_result* best = nullptr;

  double regret() const { return chosen->ms->median / best->ms->median; }
};

std::string kernel_of(const bench_result& row) {
  return row.plan.substr(0, row.plan.find(':'));
}

/// Rows with a plan are candidates, and the operation itself, whose plan names the choice.
std::vector<choice> choices_of(const std::vector<bench_result>& results) {
  std::map<std::string, choice> cases;
  const auto case_of = [&](const bench_result& row) -> choice& { return cases[row.device + " " + case_text(row)]; };
  for (const bench_result& row : results) {
    if (!row.plan.empty() && row.kernel == "tuned") case_of(row).tuned = &row;
  }
  for (const bench_result& row : results) {
    if (row.plan.empty() || !row.ms || !row.valid || row.kernel == "tuned") continue;
    choice& of = case_of(row);
    if (of.tuned == nullptr) continue;
    if (row.kernel == kernel_of(*of.tuned)) of.chosen = &row;
    if (of.best == nullptr || row.ms->median < of.best->ms->median) of.best = &row;
  }
  std::vector<choice> all;
  for (const auto& [name, of] : cases) {
    if (of.chosen != nullptr) all.push_back(of);
  }
  std::sort(all.begin(), all.end(), [](const choice& a, const choice& b) { return a.regret() > b.regret(); });
  return all;
}

// Of the choices of one device, the worst first.
std::string regret_text(const std::string& title, const std::vector<choice>& all) {
  std::vector<double> regrets;
  std::size_t near = 0;
  for (const choice& each : all) {
    regrets.push_back(each.regret());
    near += each.regret() <= 1.05 ? 1 : 0;
  }
  std::reverse(regrets.begin(), regrets.end());
  const double share = 100 * static_cast<double>(near) / static_cast<double>(all.size());
  std::string text = wrapped(fmt::format("{}, the time of the choice over the best candidate's: {} cases, geometric "
                                         "mean {}, p95 {}, worst {}, at most 1.05 in {:.0f} %",
                                         title, all.size(), fraction(geometric_mean(regrets)),
                                         fraction(percentile(regrets, 0.95)), fraction(regrets.back()), share)) +
                     "\n";
  table lines({{"regret"}, {"case", side::left, true}, {"best", side::left}, {"chosen", side::left, true}});
  for (std::size_t i = 0; i < all.size() && i < worst_shown; ++i) {
    lines.add({fraction(all[i].regret()), case_text(*all[i].chosen), kernel_of(*all[i].best), all[i].chosen->plan});
  }
  return text + lines.text();
}

std::string regret_text(const std::vector<bench_result>& results) {
  std::map<std::string, std::vector<choice>> devices;
  for (const choice& each : choices_of(results)) devices[each.chosen->device].push_back(each);
  std::string text;
  for (const auto& [device, all] : devices) {
    text += (text.empty() ? "" : "\n") + regret_text(devices.size() > 1 ? "Regret on " + device : "Regret", all);
  }
  return text;
}

std::string random_text(const case_set& set, const bench_report& report, bool regret) {
  std::string text = wrapped(set.title + ", fraction of " + set.roof + " of the same bytes") + "\n";
  const auto groups = by_kernel(report.results);
  for (const auto& [kernel, all] : groups) {
    if (regret && all.front()->kernel != "tuned") continue;
    table lines(
        {{"bytes"}, {"cases"}, {"mean"}, {"p5"}, {"p10"}, {"p50"}, {"p90"}, {"<0.85"}, {"<0.7"}, {"<0.5"}, {"worst"}});
    for (const distribution& each : report.distributions) {
      if (fmt::format("{} on {}", each.kernel, each.device) != kernel) continue;
      std::vector<std::string> cells = {each.element_bytes == 0 ? "all" : std::to_string(each.element_bytes),
                                        std::to_string(each.shares.size()), fraction(geometric_mean(each.shares))};
      for (const double at : {0.05, 0.1, 0.5, 0.9}) cells.push_back(fraction(percentile(each.shares, at)));
      for (const double limit : {0.85, 0.7, 0.5}) cells.push_back(fmt::format("{:.0f} %", 100 * each.below(limit)));
      cells.push_back(fraction(each.shares.front()));
      lines.add(cells);
    }
    const bool timed = worst_of(all) != nullptr;
    text +=
        "\n" + kernel +
        (timed ? "\n" + lines.text() + worst_text(all) : fmt::format(": {} cases checked, not timed\n", all.size()));
  }
  if (regret) return text;
  return groups.size() > 1 ? text + "\n" + beside_text(groups) : text;
}

}  // namespace

std::vector<distribution> distributions_of(const std::vector<bench_result>& results) {
  std::vector<distribution> found;
  for (const auto& [kernel, all] : by_kernel(results)) {
    std::map<std::int64_t, std::vector<double>> shares;  // 0, all sizes, comes first
    for (const bench_result* row : all) {
      if (!row->of_roof) continue;
      shares[0].push_back(*row->of_roof);
      shares[element_bytes_of(*row)].push_back(*row->of_roof);
    }
    for (auto& [bytes, list] : shares) {
      std::sort(list.begin(), list.end());
      found.push_back({all.front()->kernel, all.front()->device, bytes, list});
    }
  }
  return found;
}

std::string set_text(const case_set& set, const bench_report& report, bool regret) {
  std::string text = set.layout == case_layout::list     ? list_text(report.results)
                     : set.layout == case_layout::random ? random_text(set, report, regret)
                                                         : parts_text(set, report.results);
  if (const std::string more = regret ? regret_text(report.results) : ""; !more.empty()) text += "\n" + more;
  return text + faults_text(report.results);
}

}  // namespace twill::tool
