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

const bench_result* same_row(const bench_result& row, const bench_file& reference) {
  for (const bench_result& each : reference.results) {
    const bool same_problem = each.op == row.op && each.kernel == row.kernel && each.type == row.type &&
                              each.rows == row.rows && each.cols == row.cols && each.loop == row.loop;
    const bool same_block = each.block.empty() || each.block == row.block;
    if (same_problem && same_block && each.valid && each.gbps && each.device != base_device) return &each;
  }
  return nullptr;
}

std::vector<pair_of_rows> pairs_of(const std::vector<bench_result>& results, const bench_file& reference) {
  std::vector<pair_of_rows> pairs;
  for (const bench_result& row : results) {
    if (!row.gbps || row.device == base_device) continue;
    const bench_result* other = same_row(row, reference);
    if (other != nullptr) pairs.push_back({&row, other, *row.gbps, *other->gbps});
  }
  return pairs;
}

bool same_column(const bench_result& a, const bench_result& b) {
  return a.device == b.device && a.loop == b.loop && a.type == b.type && a.rows == b.rows && a.cols == b.cols;
}

/// Pairs of rows of one column that stand the other way round in the reference; `all`: that stand in some order there.
int swapped_pairs(const std::vector<pair_of_rows>& pairs, int& all) {
  int swapped = 0;
  for (const pair_of_rows& a : pairs) {
    for (const pair_of_rows& b : pairs) {
      const bool ordered = same_column(*a.own, *b.own) && a.other_rate > b.other_rate * (1 + same_rate);
      if (!ordered) continue;
      ++all;
      if (a.own_rate <= b.own_rate) ++swapped;
    }
  }
  return swapped;
}

std::string summary(const std::vector<pair_of_rows>& pairs) {
  std::vector<double> errors;
  for (const pair_of_rows& each : pairs) errors.push_back(std::abs(each.error()));
  std::sort(errors.begin(), errors.end());
  int ordered = 0;
  const int swapped = swapped_pairs(pairs, ordered);
  return fmt::format(
      "{} rows: median error {:.1f} %, largest {:.1f} %. Of {} pairs that the file has in an order (rates that differ "
      "by more than "
      "{:.0f} %), {} are ranked the other way round.",
      errors.size(), percentile(errors, 0.5) * 100, errors.back() * 100, ordered, same_rate * 100, swapped);
}

}  // namespace

std::string beside_reference(const std::vector<bench_result>& results, const bench_file& reference) {
  std::string title = "Beside " + reference.path;
  const auto source = reference.document.find("source");
  if (source != reference.document.end() && source->is_string()) title += ": " + source->get<std::string>();
  std::string text = wrapped(title) + "\n";
  const std::vector<pair_of_rows> pairs = pairs_of(results, reference);
  if (pairs.empty())
    return text + wrapped("No row of it is one of these (operation, kernel, type, size, loop).") + "\n";
  using side = table::align;
  table lines({{"kernel", side::left, true},
               {"type", side::left},
               {"size", side::left},
               {"block", side::left},
               {"loop", side::left},
               {"GB/s"},
               {"there"},
               {"error %"}});
  for (const pair_of_rows& each : pairs) {
    const bench_result& own = *each.own;
    lines.add({own.kernel, own.type, extents_text({own.rows, own.cols}), own.block, own.loop,
               fmt::format("{:.1f}", each.own_rate), fmt::format("{:.1f}", each.other_rate),
               fmt::format("{:+.1f}", each.error() * 100)});
  }
  return text + lines.text() + wrapped(summary(pairs)) + "\n";
}

}  // namespace twill::tool
