#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "set_text.hpp"

namespace twill::tool {
namespace {

std::string rectangle(double x, double y, double width, double height, const std::string& fill) {
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x, y, width,
                     height, fill);
}

std::string label(double x, double y, const std::string& words, const char* anchor = "middle", int turned = 0) {
  return fmt::format("<text transform=\"translate({:.1f},{:.1f}) rotate({})\" text-anchor=\"{}\">{}</text>\n", x, y,
                     turned, anchor, words);
}

std::string framed(double width, double height, const std::string& inner) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"white\"/>\n{2}</svg>\n",
      width, height, inner);
}

/// Dark blue for none of memcpy to yellow for all of it and more.
std::string color_of(double fraction) {
  const double t = std::clamp(fraction, 0.0, 1.0);
  return fmt::format("#{:02x}{:02x}{:02x}", static_cast<int>(40 + 213 * t), static_cast<int>(20 + 211 * t),
                     static_cast<int>(110 - 73 * t));
}

using points = std::vector<const bench_result*>;

std::string title_of(const bench_report& report, const case_set& set, const points& all) {
  const device_properties& on = report.devices.front();
  const bool one_type = all.front()->type == all.back()->type;
  return fmt::format("{}{} on {} ({}): fraction of memcpy", part_title(all.front()->part, set.most_bytes),
                     one_type ? ", " + all.front()->type : "", on.name, on.model);
}

/// A square a shape.
std::string map_of(const bench_report& report, const case_set& set, const points& all) {
  std::set<std::int64_t> rows, cols;
  for (const bench_result* each : all) {
    rows.insert(each->rows);
    cols.insert(each->cols);
  }
  const double edge = 15, left = 70, top = 70;
  const auto place = [](const std::set<std::int64_t>& in, std::int64_t of) {
    return static_cast<double>(std::distance(in.begin(), in.find(of)));
  };
  const double width = edge * static_cast<double>(cols.size()), height = edge * static_cast<double>(rows.size());
  std::string inner = label(left, 18, title_of(report, set, all), "start");
  inner += label(left + width / 2, 34, "columns") + label(14, top + height / 2, "rows", "middle", -90);
  for (const bench_result* each : all) {
    const double x = left + edge * place(cols, each->cols), y = top + edge * place(rows, each->rows);
    inner += rectangle(x, y, edge - 1, edge - 1, each->of_roof ? color_of(*each->of_roof) : "red");
  }
  for (const std::int64_t each : rows) {
    inner += label(left - 6, top + edge * (place(rows, each) + 0.75), std::to_string(each), "end");
  }
  for (const std::int64_t each : cols) {
    inner += label(left + edge * (place(cols, each) + 0.7), top - 4, std::to_string(each), "start", -60);
  }
  const double right = left + width + 20;
  for (int tenth = 0; tenth <= 10; ++tenth) {
    inner += rectangle(right, top + 18.0 * (10 - tenth), 16, 17, color_of(tenth / 10.0));
    inner += label(right + 22, top + 18.0 * (10 - tenth) + 12, fmt::format("{:.1f}", tenth / 10.0), "start");
  }
  inner += rectangle(right, top + 18.0 * 12, 16, 17, "red") + label(right + 22, top + 18.0 * 12 + 12, "wrong", "start");
  return framed(right + 70, top + height + 20, inner);
}

/// A line a type, over the extent.
std::string lines_of(const bench_report& report, const case_set& set, const points& all) {
  const double left = 60, top = 40, width = 820, height = 360;
  const char* const colors[] = {"#1b6ca8", "#d1495b", "#2e8b57", "#c98a00", "#6a4c93"};
  std::int64_t first = all.front()->rows, last = first;
  for (const bench_result* each : all) {
    first = std::min(first, each->rows);
    last = std::max(last, each->rows);
  }
  const auto across = [&](std::int64_t n) {
    return left + width * static_cast<double>(n - first) / static_cast<double>(std::max<std::int64_t>(1, last - first));
  };
  const auto down = [&](double fraction) { return top + height * (1 - std::min(fraction, 1.2) / 1.2); };
  std::map<std::int64_t, std::pair<std::string, std::string>> paths;  // by size, so that the legend is in order
  for (const bench_result* each : all) {
    auto& [type, path] = paths[parse_type(each->type).bytes];
    type = each->type;
    if (each->of_roof) path += fmt::format("{:.1f},{:.1f} ", across(each->rows), down(*each->of_roof));
  }
  std::string inner = label(left, 18, title_of(report, set, all), "start") +
                      label(left + width / 2, top + height + 34, "rows and columns");
  for (int fifth = 0; fifth <= 6; ++fifth) {
    inner += rectangle(left, down(fifth / 5.0), width, 0.5, "#999999");
    inner += label(left - 6, down(fifth / 5.0) + 4, fmt::format("{:.1f}", fifth / 5.0), "end");
  }
  for (std::int64_t n = first; n <= last; n += 20) inner += label(across(n), top + height + 16, std::to_string(n));
  std::size_t index = 0;
  for (const auto& [bytes, line] : paths) {
    const char* color = colors[index % std::size(colors)];
    inner +=
        fmt::format("<polyline fill=\"none\" stroke-width=\"1.2\" stroke=\"{}\" points=\"{}\"/>\n", color, line.second);
    inner += rectangle(left + width + 14, top + 18.0 * static_cast<double>(index), 12, 12, color);
    inner += label(left + width + 32, top + 18.0 * static_cast<double>(index) + 10, line.first, "start");
    ++index;
  }
  return framed(left + width + 90, top + height + 46, inner);
}

}  // namespace

std::string sweep_svg(const bench_report& report, const case_set& set) {
  points all;
  for (const bench_result& each : report.results) {
    const bool first = all.empty() || (each.part == all.front()->part && each.kernel == all.front()->kernel &&
                                       each.device == all.front()->device);
    if (each.kernel != each.roof && first) all.push_back(&each);
  }
  if (all.empty()) return framed(400, 40, label(10, 24, "no results", "start"));
  return all.front()->part == "sweep-batched" ? map_of(report, set, all) : lines_of(report, set, all);
}

}  // namespace twill::tool
