#include "table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "format.hpp"

namespace twill::tool {
namespace {

constexpr std::size_t gap = 2;

std::size_t total(const std::vector<std::size_t>& widths) {
  std::size_t sum = 0;
  for (const std::size_t width : widths) sum += width == 0 ? 0 : width + (sum == 0 ? 0 : gap);
  return sum;
}

}  // namespace

/// 0 for a column that is left out.
std::vector<std::size_t> table::widths() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    for (const auto& row : rows_) widths[c] = std::max(widths[c], row[c].size());
    if (widths[c] != 0) widths[c] = std::max(widths[c], columns_[c].head.size());
  }
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const std::size_t all = total(widths);
    if (!columns_[c].elastic || all <= page_width) continue;
    const std::size_t least = columns_[c].head.size() + gap;
    widths[c] = std::max(least, widths[c] - std::min(widths[c], all - page_width));
  }
  return widths;
}

std::string table::line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const {
  std::string out;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (widths[c] == 0) continue;
    if (!out.empty()) out.append(gap, ' ');
    const std::string cell = shortened(cells[c], widths[c]);
    out += columns_[c].side == align::left ? fmt::format("{:<{}}", cell, widths[c])
                                           : fmt::format("{:>{}}", cell, widths[c]);
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

std::string table::text() const {
  const std::vector<std::size_t> widths = this->widths();
  std::vector<std::string> heads;
  for (const column& each : columns_) heads.push_back(each.head);
  std::string out = line(heads, widths) + std::string(total(widths), '-') + "\n";
  for (const auto& row : rows_) out += line(row, widths);
  return out;
}

}  // namespace twill::tool
