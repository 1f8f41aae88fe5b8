// Predicted or measured bandwidths beside those of a file.

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "bench_plan.hpp"
#include "commands.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

// Rows this close in the reference are in no order: published tables have three digits.
constexpr double same_rate = 0.02;

struct pair_of_rows {
  const bench_result* own;
  const bench_result* other;
  double own_rate, other_rate;  // GB/s

  double error() const { return own_rate / other_rate - 1; }
};

/// Published rows, and lengths, may have rows and columns alone.
bool same_shape(const bench_result& a, const bench_result& b) {
  const bool same_extents = a.all_extents.empty() || b.all_extents.empty() || a.all_extents == b.all_extents;
  return a.rows == b.rows && a.cols == b.cols && a.batch == b.batch && same_extents && a.order == b.order &&
         a.in_strides == b.in_strides && a.out_strides == b.out_strides && a.gap == b.gap;
}

bool same_problem(const bench_result& a, const bench_result& b) {
  return a.op == b.op && a.type == b.type && a.loop == b.loop && same_shape(a, b);
}

/// The part of a grid is not asked for: a run that has a reference has no parts. Of several devices, the one of the
/// same name comes first; cpu is compared with cpu alone.
const bench_result* same_row(const bench_result& row, const bench_file& reference) {
  const bench_result* found = nullptr;
  for (const bench_result& each : reference.results) {
    const bool same_block = each.block.empty() || each.block == row.block;
    const bool same_kind = (each.device == base_device) == (row.device == base_device);
    if (each.kernel != row.kernel || !same_block || !same_kind || !each.valid || !each.gbps) continue;
    if (!same_problem(each, row)) continue;
    if (each.device == row.device) return &each;
    if (found == nullptr) found = &each;
  }
  return found;
}

std::vector<pair_of_rows> pairs_of(const std::vector<bench_result>& results, const bench_file& reference) {
  std::vector<pair_of_rows> pairs;
  for (const bench_result& row : results) {
    if (!row.gbps) continue;
    const bench_result* other = same_row(row, reference);
    if (other != nullptr) pairs.push_back({&row, other, *row.gbps, *other->gbps});
  }
  return pairs;
}

/// Pairs of rows of one column that stand the other way round in the reference; `all`: that stand in some order there.
int swapped_pairs(const std::vector<pair_of_rows>& pairs, int& all) {
  int swapped = 0;
  for (const pair_of_rows& a : pairs) {
    for (const pair_of_rows& b : pairs) {
      const bool same_column = a.own->device == b.own->device && same_problem(*a.own, *b.own);
      if (!same_column || a.other_rate <= b.other_rate * (1 + same_rate)) continue;
      ++all;
      if (a.own_rate <= b.own_rate) ++swapped;
    }
  }
  return swapped;
}

std::string summary(const std::vector<pair_of_rows>& pairs, std::size_t without) {
  std::vector<double> errors;
  for (const pair_of_rows& each : pairs) errors.push_back(std::abs(each.error()));
  std::sort(errors.begin(), errors.end());
  int ordered = 0;
  const int swapped = swapped_pairs(pairs, ordered);
  std::string text = fmt::format(
      "{} rows: median error {:.1f} %, largest {:.1f} %. Of {} pairs that the file has in an order (rates that differ "
      "by more than "
      "{:.0f} %), {} are ranked the other way round.",
      errors.size(), percentile(errors, 0.5) * 100, errors.back() * 100, ordered, same_rate * 100, swapped);
  if (without > 0) text += fmt::format(" Left out: {} more rows, for which the file has no bandwidth.", without);
  return text;
}

std::string table_of(const std::vector<pair_of_rows>& pairs) {
  using side = table::align;
  table lines({{"device", side::left},
               {"kernel", side::left, true},
               {"type", side::left},
               {"size", side::left, true},
               {"block", side::left},
               {"loop", side::left},
               {"GB/s"},
               {"there"},
               {"error %"}});
  const std::string& first = pairs.front().own->device;
  const bool several =
      std::any_of(pairs.begin(), pairs.end(), [&](const pair_of_rows& each) { return each.own->device != first; });
  for (const pair_of_rows& each : pairs) {
    const bench_result& own = *each.own;
    lines.add({several ? own.device : "", own.kernel, own.type, own.problem_text(), own.block, own.loop,
               fmt::format("{:.1f}", each.own_rate), fmt::format("{:.1f}", each.other_rate),
               fmt::format("{:+.1f}", each.error() * 100)});
  }
  return lines.text();
}

}  // namespace

std::string beside_reference(const bench_report& report, const bench_file& reference) {
  std::string title = "Beside " + reference.path;
  const auto source = reference.document.find("source");
  if (source != reference.document.end() && source->is_string()) title += ": " + source->get<std::string>();
  std::string text = wrapped(title) + "\n";
  const std::string own_cache = report.cold ? "cold" : "warm", cache = reference.cache();
  if (!cache.empty() && cache != own_cache) {
    return text +
           wrapped(fmt::format("Nothing is compared: its caches are {0}, these are {1}. Run with --{0} for that.",
                               cache, own_cache)) +
           "\n";
  }
  const std::vector<pair_of_rows> pairs = pairs_of(report.results, reference);
  if (pairs.empty()) {
    return text + wrapped("No row of it is one of these (operation, kernel, type, size, loop; cpu beside cpu alone).") +
           "\n";
  }
  const auto rated = std::count_if(report.results.begin(), report.results.end(),
                                   [](const bench_result& row) { return row.gbps.has_value(); });
  return text + table_of(pairs) + wrapped(summary(pairs, static_cast<std::size_t>(rated) - pairs.size())) + "\n";
}

}  // namespace twill::tool
