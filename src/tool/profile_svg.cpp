#include "profile_svg.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "profile_text.hpp"
#include "source_text.hpp"

namespace twill::tool {
namespace {

constexpr double page_width = 900, margin = 20, text_width = 330, map_width = page_width - text_width - 2 * margin;
constexpr double line_height = 16, most_map_height = 200, gap = 14;

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

// White for a share of 1, through orange to dark red for `most`, in steps of its logarithm; less than a share fades to
// grey.
std::string color_of(double share, double most) {
  if (share <= 0) return "#d8dce2";
  const double heat = share <= 1 ? 0 : std::min(1.0, std::log(share) / std::log(std::max(most, 2.0)));
  const auto mixed = [heat](double cold, double warm, double hot) {
    return static_cast<int>(heat < 0.5 ? cold + (warm - cold) * 2 * heat : warm + (hot - warm) * (2 * heat - 1));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(255, 250, 120), mixed(250, 150, 0), mixed(235, 40, 20));
}

class page {
 public:
  void text(double x, const std::string& words, const char* style = "") {
    body_ += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y_ + 12, style, escaped(words));
  }
  void line(const std::string& words, const char* style = "") {
    text(margin, words, style);
    y_ += line_height;
  }
  void cell(double x, double width, double height, const std::string& color, const std::string& says) {
    body_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"><title>{}</title></rect>\n", x,
        y_, width, height, color, escaped(says));
  }
  void skip(double height) { y_ += height; }

  std::string svg() const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" font-family=\"sans-serif\" "
        "font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{2}</svg>\n",
        page_width, y_ + margin, body_);
  }

 private:
  std::string body_;
  double y_ = margin;
};

// What a color stands for, from 1 to `most`.
void draw_scale(page& to, double most, const std::string& unit) {
  constexpr int steps = 6;
  for (int i = 0; i < steps; ++i) {
    const double share = std::pow(most, static_cast<double>(i) / (steps - 1));
    const double x = margin + text_width + i * map_width / steps;
    to.cell(x, 14, 12, color_of(share, most), unit);
    to.text(x + 18, fmt::format("{:.3g}", share));
  }
  to.text(margin, unit, "fill=\"#555\"");
  to.skip(line_height + 4);
}

double turns_a_use(const bank_load& bank) {
  return bank.uses == 0 ? 0 : static_cast<double>(bank.turns) / static_cast<double>(bank.uses);
}

void draw_banks(page& to, const kernel_profile& kernel) {
  double most = 2;
  bool any = false;
  for (const auto& line : kernel.lines) {
    any = any || !line.banks.empty();
    for (const auto& bank : line.banks) most = std::max(most, turns_a_use(bank));
  }
  if (!any) return;
  to.line("Banks of shared memory, left to right, by line of source: a request takes as long as its busiest bank");
  draw_scale(to, most, "turns a bank takes where one would do, on average");
  source_text source;
  for (const auto& line : kernel.lines) {
    if (line.banks.empty()) continue;
    const std::string words = fmt::format("{} {}", line.line, source.line(line.file, line.line));
    to.text(margin, words.size() <= 52 ? words : words.substr(0, 50) + "..",
            "font-family=\"monospace\" font-size=\"10\"");
    const double width = map_width / static_cast<double>(line.banks.size());
    for (std::size_t bank = 0; bank < line.banks.size(); ++bank) {
      const double share = turns_a_use(line.banks[bank]);
      to.cell(margin + text_width + static_cast<double>(bank) * width, width - 1, line_height - 2,
              color_of(share, most), fmt::format("line {}, bank {}: {:.3g} turns", line.line, bank, share));
    }
    to.skip(line_height);
  }
  to.skip(gap);
}

void draw_partitions(page& to, const kernel_profile& kernel) {
  const auto& rows = kernel.partitions;
  if (rows.empty() || rows.front().size() < 2 || kernel.loads.bytes_moved + kernel.stores.bytes_moved == 0) return;
  const auto partitions = static_cast<double>(rows.front().size());
  to.line("Partitions of memory, left to right; time, top to bottom: a row for the blocks that run together");
  draw_scale(to, partitions, "times what each partition would have on average");
  const double width = map_width / partitions;
  const double height = std::min(line_height, most_map_height / static_cast<double>(rows.size()));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double all = static_cast<double>(std::accumulate(rows[r].begin(), rows[r].end(), std::uint64_t{0}));
    if (all == 0) continue;  // none of its blocks was recorded
    for (std::size_t p = 0; p < rows[r].size(); ++p) {
      const double share = static_cast<double>(rows[r][p]) * partitions / all;
      to.cell(margin + text_width + static_cast<double>(p) * width, std::max(width - 1, width * 0.9), height,
              color_of(share, partitions), fmt::format("row {}, partition {}: {:.2f}", r, p, share));
    }
    to.skip(height);
  }
  to.skip(gap);
}

// Tells the launches of one result apart.
std::string grid_line(const kernel_profile& kernel) {
  return fmt::format("{}, grid {}x{}x{} of {}x{}x{} threads", bare_name(kernel.name), kernel.grid[0], kernel.grid[1],
                     kernel.grid[2], kernel.block[0], kernel.block[1], kernel.block[2]);
}

}  // namespace

std::string svg_of(const std::vector<profile_result>& results) {
  page to;
  for (const auto& result : results) {
    to.line(fmt::format("{} {}, {} {} on {}", result.operation, result.kernel, result.size, result.type, result.device),
            "font-weight=\"bold\"");
    for (const auto& kernel : result.seen.kernels) {
      to.skip(4);
      to.line(grid_line(kernel));
      draw_banks(to, kernel);
      draw_partitions(to, kernel);
    }
    to.skip(gap);
  }
  return to.svg();
}

}  // namespace twill::tool
