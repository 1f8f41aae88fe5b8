#include "text.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

namespace twill::tool {
namespace {

constexpr std::size_t column_gap = 2;

std::size_t total(const std::vector<std::size_t>& widths) {
  std::size_t sum = 0;
  for (const std::size_t width : widths) sum += width == 0 ? 0 : width + (sum == 0 ? 0 : column_gap);
  return sum;
}

}  // namespace

std::string joined(const std::vector<std::string>& words, const char* between) {
  return fmt::format("{}", fmt::join(words, between));
}

std::string block_text(block_shape block) {
  return block.x == 0 ? "" : fmt::format("{}x{}", block.x, block.y);
}

std::string extents_text(const std::vector<std::int64_t>& sizes) {
  return fmt::format("{}", fmt::join(sizes, "x"));
}

std::string order_text(const std::vector<std::int64_t>& order) {
  return fmt::format("{}", fmt::join(order, ","));
}

std::string permutation_text(const std::vector<std::int64_t>& order, const std::vector<std::int64_t>& in_strides,
                             const std::vector<std::int64_t>& out_strides) {
  std::string text = order.empty() ? "" : " to " + order_text(order);
  if (!in_strides.empty()) text += ", in strides " + order_text(in_strides);
  if (!out_strides.empty()) text += ", out strides " + order_text(out_strides);
  return text;
}

std::string bytes_text(double bytes, int decimals) {
  static const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
  return unit == 0 ? fmt::format("{:.0f} bytes", bytes) : fmt::format("{:.{}f} {}", bytes, decimals, units[unit]);
}

std::string wrapped(const std::string& text, std::size_t width) {
  std::istringstream words(text);
  std::string lines;
  std::string line;
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      lines += line + "\n";
      line = "  " + word;
    } else {
      line += line.empty() ? word : " " + word;
    }
  }
  return lines + line;
}

std::string shortened(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text;
  return width <= 2 ? text.substr(0, width) : text.substr(0, width - 2) + "..";
}

/// 0 for a column that is left out.
std::vector<std::size_t> table::widths() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    for (const auto& row : rows_) widths[c] = std::max(widths[c], row[c].size());
    if (widths[c] != 0) widths[c] = std::max(widths[c], columns_[c].head.size());
  }
  for (std::size_t c = columns_.size(); c-- > 0;) {
    const std::size_t all = total(widths);
    if (!columns_[c].elastic || all <= page_width) continue;
    const std::size_t least = columns_[c].head.size() + column_gap;
    widths[c] = std::max(least, widths[c] - std::min(widths[c], all - page_width));
  }
  return widths;
}

std::string table::line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const {
  std::string out;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (widths[c] == 0) continue;
    if (!out.empty()) out.append(column_gap, ' ');
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
