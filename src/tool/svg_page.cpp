#include "svg_page.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace twill::tool {
namespace {

constexpr char unused_color[] = "#9aa1ab", even_color[] = "#cfe3f5";
constexpr double even_ratio = 1.1, most_ratio = 32;

struct color_stop {
  double ratio;
  int red, green, blue;
};
constexpr color_stop stops[] = {{even_ratio, 255, 244, 190}, {1.5, 254, 217, 118}, {2, 253, 187, 90},
                                {4, 239, 130, 60},           {8, 215, 48, 31},     {16, 150, 12, 20},
                                {most_ratio, 80, 0, 16}};

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

const char* class_of(svg_page::style as) {
  switch (as) {
    case svg_page::style::heading:
      return "h";
    case svg_page::style::muted:
      return "m";
    case svg_page::style::code:
      return "c";
    case svg_page::style::body:
      break;
  }
  return "t";
}

constexpr char sheet[] =
    "<style>\n"
    "text{font:12px sans-serif;fill:#1f2328}rect{shape-rendering:crispEdges}\n"
    ".h{font-weight:bold;font-size:14px}\n"
    ".m{fill:#57606a;font-size:11px}\n"
    ".c{font:10px monospace}\n"
    ".page{fill:#ffffff}\n"
    ".f{fill:none;stroke:#8c959f;stroke-width:1}\n"
    "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.m{fill:#9198a1}.page{fill:#0d1117}}\n"
    "</style>\n";

}  // namespace

std::string heat_color(double ratio) {
  if (ratio <= 0) return unused_color;
  if (ratio <= even_ratio) return even_color;
  ratio = std::min(ratio, most_ratio);
  const auto* above = std::find_if(std::begin(stops), std::end(stops), [&](const auto& s) { return s.ratio >= ratio; });
  const auto& below = *std::prev(above);
  const double part = std::log(ratio / below.ratio) / std::log(above->ratio / below.ratio);
  const auto mixed = [part](int from, int to) { return static_cast<int>(std::lround(from + part * (to - from))); };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(below.red, above->red), mixed(below.green, above->green),
                     mixed(below.blue, above->blue));
}

std::vector<std::string> folded(const std::string& words, std::size_t columns) {
  std::vector<std::string> lines;
  std::string rest = words;
  while (rest.size() > columns) {
    const auto blank = rest.rfind(' ', columns);
    const bool breaks = blank != std::string::npos && blank >= columns / 2;
    lines.push_back(rest.substr(0, breaks ? blank : columns));
    rest.erase(0, breaks ? blank + 1 : columns);
  }
  lines.push_back(rest);
  return lines;
}

void svg_page::text(double x, const std::string& words, style as, const char* anchor) {
  body_ +=
      fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\" xml:space=\"preserve\">{}</text>\n",
                  x, y_ + 12, class_of(as), anchor, escaped(words));
}

void svg_page::paragraph(const std::string& words, style as) {
  const double letter = as == style::heading ? 9 : 7;  // at most, on average
  for (const auto& line : folded(words, static_cast<std::size_t>((width - 2 * margin) / letter))) {
    text(margin, line, as);
    skip(line_height);
  }
}

void svg_page::cell(double x, double down, double cell_width, double height, const std::string& color,
                    const std::string& tooltip) {
  body_ += fmt::format(
      "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" fill=\"{}\"><title>{}</title></rect>\n", x,
      y_ + down, cell_width, height, color, escaped(tooltip));
}

void svg_page::frame(double x, double down, double frame_width, double height) {
  body_ += fmt::format("<rect class=\"f\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n", x,
                       y_ + down, frame_width, height);
}

void svg_page::legend(const std::string& words) {
  double x = margin;
  const auto add = [&](double ratio, const std::string& label, double step) {
    constexpr double swatch = 28;
    cell(x, 0, swatch, 14, heat_color(ratio), label);
    frame(x, 0, swatch, 14);
    text(x + swatch + 6, label);
    x += step;
  };
  add(1, fmt::format("1 to {:g}", even_ratio), 100);
  for (const double ratio : {1.5, 2.0, 4.0, 8.0, 16.0}) add(ratio, fmt::format("{:g}", ratio), 84);
  add(most_ratio, fmt::format("{:g} or more", most_ratio), 140);
  add(0, "unused: no access", 0);
  skip(line_height + 6);
  paragraph(words, style::muted);
}

std::string svg_page::svg(const std::string& title) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\">\n<title>{2}</title>\n{3}<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n{4}</svg>\n",
      width, y_ + margin, escaped(title), sheet, body_);
}

}  // namespace twill::tool
