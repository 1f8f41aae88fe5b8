#include "profile_svg.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include <twill/version.hpp>

#include "profile_text.hpp"
#include "source_text.hpp"
#include "svg_page.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

using style = svg_page::style;

constexpr double text_width = 474, map_left = svg_page::margin + text_width + 10;
constexpr double map_width = 500, map_right = map_left + map_width, row_height = 13, most_map_height = 200, gap = 12;
constexpr std::size_t code_columns = 77;

constexpr char scale_words[] =
    "How much the busiest part slows the others down, on one scale for all. Banks of shared memory: wavefronts that a "
    "bank takes for each one that it would need without conflicts. Partitions of memory: bytes, over the mean of all "
    "partitions, of the blocks that run together.";

double conflict_factor(const bank_load& bank) {
  return bank.ideal_wavefronts == 0 ? 0
                                    : static_cast<double>(bank.wavefronts) / static_cast<double>(bank.ideal_wavefronts);
}

double busiest_bank(const line_profile& line) {
  double most = 0;
  for (const auto& bank : line.banks) most = std::max(most, conflict_factor(bank));
  return most;
}

std::uint64_t sum_of(const std::vector<std::uint64_t>& row) {
  return std::accumulate(row.begin(), row.end(), std::uint64_t{0});
}

// Bytes of one partition over the mean of its row.
double partition_load(const std::vector<std::uint64_t>& row, std::size_t partition) {
  const auto all = static_cast<double>(sum_of(row));
  return all == 0 ? 0 : static_cast<double>(row[partition]) * static_cast<double>(row.size()) / all;
}

bool has_banks(const kernel_profile& kernel) {
  return std::any_of(kernel.lines.begin(), kernel.lines.end(), [](const auto& line) { return !line.banks.empty(); });
}

bool has_partitions(const kernel_profile& kernel) {
  return !kernel.partitions.empty() && kernel.partitions.front().size() > 1 &&
         kernel.loads.bytes_moved + kernel.stores.bytes_moved > 0;
}

// Numbers of banks or partitions along the upper edge.
void draw_numbers(svg_page& to, std::size_t count, const char* of) {
  const std::size_t step = count <= 16 ? 2 : count <= 32 ? 4 : count <= 64 ? 8 : 16;
  const double width = map_width / static_cast<double>(count);
  for (std::size_t i = 0; i < count; i += step) {
    to.text(map_left + (static_cast<double>(i) + 0.5) * width, std::to_string(i), style::muted, "middle");
  }
  to.text(map_left - 8, of, style::muted, "end");
  to.skip(row_height + 3);
}

void draw_bank_row(svg_page& to, const line_profile& line, const std::string& words) {
  const auto text = folded(fmt::format("{:>4} {}", line.line, words), code_columns);
  const double width = map_width / static_cast<double>(line.banks.size());
  for (std::size_t bank = 0; bank < line.banks.size(); ++bank) {
    const double factor = conflict_factor(line.banks[bank]);
    to.cell(map_left + static_cast<double>(bank) * width, 1, width, row_height, heat_color(factor),
            fmt::format("line {}, bank {}: {:.3g}", line.line, bank, factor));
  }
  to.frame(map_left, 1, map_width, row_height);
  to.text(map_right + 8, fmt::format("{:.3g}x", busiest_bank(line)));
  for (const auto& part : text) {
    to.text(svg_page::margin, part, style::code);
    to.skip(row_height + 2);
  }
}

void draw_banks(svg_page& to, const kernel_profile& kernel, source_text& source) {
  std::size_t banks = 0;
  for (const auto& line : kernel.lines) banks = std::max(banks, line.banks.size());
  draw_numbers(to, banks, "bank of shared memory");
  std::string file = "?";
  for (const auto& line : kernel.lines) {
    if (line.banks.empty()) continue;
    if (line.file != file) {
      file = line.file;
      to.paragraph(source_heading(source, file), style::muted);
    }
    draw_bank_row(to, line, source.line(line.file, line.line));
  }
  to.skip(gap);
}

// Neighbours of one colour are one cell.
void draw_partition_row(svg_page& to, const std::vector<std::uint64_t>& row, std::size_t index, double down,
                        double height) {
  const double width = map_width / static_cast<double>(row.size());
  for (std::size_t first = 0, last = 0; first < row.size(); first = last) {
    const std::string color = heat_color(partition_load(row, first));
    double most = 0;
    for (last = first; last < row.size() && heat_color(partition_load(row, last)) == color; ++last) {
      most = std::max(most, partition_load(row, last));
    }
    to.cell(map_left + static_cast<double>(first) * width, down, static_cast<double>(last - first) * width, height,
            color, fmt::format("row {}, partitions {} to {}: {:.2f}", index, first, last - 1, most));
  }
}

void draw_partitions(svg_page& to, const kernel_profile& kernel) {
  std::vector<std::vector<std::uint64_t>> rows;  // of windows that were recorded
  for (const auto& row : kernel.partitions) {
    if (sum_of(row) > 0) rows.push_back(row);
  }
  draw_numbers(to, rows.front().size(), "partition of memory");
  const double height = std::min(row_height, most_map_height / static_cast<double>(rows.size()));
  double mean = 0, worst = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    draw_partition_row(to, rows[r], r, static_cast<double>(r) * height, height);
    double most = 0;
    for (std::size_t p = 0; p < rows[r].size(); ++p) most = std::max(most, partition_load(rows[r], p));
    mean += most / static_cast<double>(rows.size());
    worst = std::max(worst, most);
  }
  const double map_height = height * static_cast<double>(rows.size());
  to.frame(map_left, 0, map_width, map_height);
  to.text(map_right + 8, fmt::format("{:.2f}x", mean));
  to.text(svg_page::margin, fmt::format("busiest partition: {:.2f} times the mean, at worst {:.2f}", mean, worst),
          style::body);
  to.skip(row_height + 3);
  to.text(svg_page::margin,
          rows.size() == 1 ? "all blocks run together"
                           : fmt::format("time runs down: {} rows of blocks that run together", rows.size()),
          style::muted);
  to.skip(std::max(map_height - row_height - 3, row_height) + gap);
}

// What a picture shows, coarsely: equal for launches that look alike.

long level_of(double ratio) {
  return ratio <= 0 ? -1 : std::lround(4 * std::log2(std::max(1.0, ratio)));
}

std::string look_of_banks(const kernel_profile& kernel) {
  std::string look;
  for (const auto& line : kernel.lines) {
    if (line.banks.empty()) continue;
    look += fmt::format("|{}:{}", line.file, line.line);
    for (const auto& bank : line.banks) look += fmt::format(" {}", level_of(conflict_factor(bank)));
  }
  return look;
}

std::string look_of_partitions(const kernel_profile& kernel) {
  double most = 0;
  for (const auto& row : kernel.partitions) {
    for (std::size_t p = 0; p < row.size(); ++p) most = std::max(most, partition_load(row, p));
  }
  return fmt::format("{} rows of {}", kernel.partitions.size(), level_of(most));
}

std::string launch_line(const kernel_profile& kernel) {
  const auto grid = fmt::format(", grid {}x{}x{} of {}x{}x{} threads", kernel.grid[0], kernel.grid[1], kernel.grid[2],
                                kernel.block[0], kernel.block[1], kernel.block[2]);
  const std::string full = bare_name(kernel.name) + grid;
  constexpr std::size_t columns = 140;
  return full.size() <= columns ? full : name_without_arguments(kernel.name) + grid;
}

class drawing {
 public:
  void add(const profile_result& result) {
    const auto name = fmt::format("{} {}, {} {}", result.operation, result.kernel, result.size, result.type);
    if (result.device != device_) {
      device_ = result.device;
      drawn_.clear();
      to_.skip(gap);
      to_.paragraph(fmt::format("{}: {}", result.device, result.model), style::heading);
      to_.paragraph(result.compared_with, style::muted);
    }
    to_.skip(gap);
    to_.paragraph(name, style::heading);
    for (const auto& kernel : result.seen.kernels) add(kernel, name);
  }

  svg_page& page() { return to_; }

 private:
  void add(const kernel_profile& kernel, const std::string& name) {
    if (!has_banks(kernel) && !has_partitions(kernel)) {
      return to_.paragraph(launch_line(kernel) + ": no use of shared memory, no traffic");
    }
    const std::string bare = name_without_arguments(kernel.name);
    const std::string banks = seen(has_banks(kernel), bare + " banks" + look_of_banks(kernel), name);
    const std::string partitions = seen(has_partitions(kernel), bare + look_of_partitions(kernel), name);
    std::string above;
    if (!banks.empty()) above += "; banks as drawn above for " + banks;
    if (!partitions.empty()) above += "; partitions as drawn above for " + partitions;
    to_.paragraph(launch_line(kernel) + above);
    if (has_banks(kernel) && banks.empty()) draw_banks(to_, kernel, source_);
    if (has_partitions(kernel) && partitions.empty()) draw_partitions(to_, kernel);
  }

  // The result that the same look was drawn for; "" when it is to be drawn now.
  std::string seen(bool is_shown, const std::string& look, const std::string& name) {
    if (!is_shown) return {};
    const auto [found, is_new] = drawn_.emplace(look, name);
    return is_new ? std::string() : found->second;
  }

  svg_page to_;
  source_text source_;
  std::string device_;
  std::map<std::string, std::string> drawn_;  // the result of each look
};

}  // namespace

std::string svg_of(const std::vector<profile_result>& results) {
  drawing all;
  std::string title = fmt::format("twill {} profile", version());
  if (!results.empty()) {
    std::vector<std::string> devices;
    for (const auto& result : results) {
      if (devices.empty() || devices.back() != result.device) devices.push_back(result.device);
    }
    title += fmt::format(": {} on {}", results.front().operation, joined(devices));
  }
  all.page().paragraph(title, style::heading);
  all.page().skip(4);
  all.page().legend(scale_words);
  for (const auto& result : results) all.add(result);
  return all.page().svg(title);
}

}  // namespace twill::tool
