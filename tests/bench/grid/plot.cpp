#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "report.hpp"

namespace grid {
namespace {

std::string rectangle(double x, double y, double width, double height, const std::string& fill) {
  char text[256];
  std::snprintf(text, sizeof text, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x, y,
                width, height, fill.c_str());
  return text;
}

std::string label(double x, double y, const std::string& words, const char* anchor = "middle") {
  char text[256];
  std::snprintf(text, sizeof text, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor,
                words.c_str());
  return text;
}

std::string framed(double width, double height, const std::string& inner) {
  char head[320];
  std::snprintf(head, sizeof head,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" "
                "font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                width, height);
  return head + inner + "</svg>\n";
}

/// Dark blue for none of memcpy to yellow for all of it and more.
std::string color_of(double fraction) {
  const double t = std::clamp(fraction, 0.0, 1.0);
  char text[16];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", static_cast<int>(40 + 213 * t), static_cast<int>(20 + 211 * t),
                static_cast<int>(110 - 73 * t));
  return text;
}

/// A square a shape; its row is the shape's rows.
std::string map_of(const part_result& result) {
  std::set<std::int64_t> rows, cols;
  for (const cell& each : result.of.cells) {
    rows.insert(each.rows);
    cols.insert(each.cols);
  }
  const double edge = 15, left = 60, top = 50;
  const auto place = [](const std::set<std::int64_t>& in, std::int64_t of) {
    return static_cast<double>(std::distance(in.begin(), in.find(of)));
  };
  std::string inner = label(left, 18, result.of.title + ", fraction of memcpy (rows down, columns across)", "start");
  for (const outcome& each : result.outcomes) {
    if (each.kernel != "tuned") continue;
    const double x = left + edge * place(cols, each.on.cols), y = top + edge * place(rows, each.on.rows);
    inner += rectangle(x, y, edge - 1, edge - 1, each.fault.empty() ? color_of(each.of_memcpy) : "red");
  }
  for (const std::int64_t each : rows) {
    inner += label(left - 6, top + edge * (place(rows, each) + 0.75), std::to_string(each), "end");
  }
  for (const std::int64_t each : cols) {
    const double x = left + edge * (place(cols, each) + 0.5);
    char turned[160];
    std::snprintf(turned, sizeof turned, "<text transform=\"translate(%.1f,%.1f) rotate(-60)\">%lld</text>\n", x,
                  top - 4, static_cast<long long>(each));
    inner += turned;
  }
  const double right = left + edge * static_cast<double>(cols.size()) + 20;
  for (int tenth = 0; tenth <= 10; ++tenth) {
    inner += rectangle(right, top + 18.0 * (10 - tenth), 16, 17, color_of(tenth / 10.0));
    inner +=
        label(right + 22, top + 18.0 * (10 - tenth) + 12, tenth == 10 ? "1.0" : "0." + std::to_string(tenth), "start");
  }
  return framed(right + 60, top + edge * static_cast<double>(rows.size()) + 20, inner);
}

/// A line an element size, over the extent.
std::string lines_of(const part_result& result) {
  const double left = 50, top = 40, width = 820, height = 360;
  const char* const colors[] = {"#1b6ca8", "#d1495b", "#2e8b57", "#c98a00", "#6a4c93"};
  std::int64_t first = INT64_MAX, last = 0;
  std::map<std::int64_t, std::string> paths;
  for (const cell& each : result.of.cells) {
    first = std::min(first, each.rows);
    last = std::max(last, each.rows);
  }
  const auto across = [&](std::int64_t n) {
    return left + width * double(n - first) / double(std::max<std::int64_t>(1, last - first));
  };
  const auto down = [&](double fraction) { return top + height * (1 - std::min(fraction, 1.2) / 1.2); };
  for (const outcome& each : result.outcomes) {
    if (each.kernel != "tuned") continue;
    char point[48];
    std::snprintf(point, sizeof point, "%.1f,%.1f ", across(each.on.rows), down(each.of_memcpy));
    paths[each.on.element_bytes] += point;
  }
  std::string inner = label(left, 18, result.of.title + ", fraction of memcpy", "start");
  for (int fifth = 0; fifth <= 6; ++fifth) {
    inner += rectangle(left, down(fifth / 5.0), width, 0.5, "#999999");
    char text[8];
    std::snprintf(text, sizeof text, "%.1f", fifth / 5.0);
    inner += label(left - 6, down(fifth / 5.0) + 4, text, "end");
  }
  for (std::int64_t n = first; n <= last; n += 20) inner += label(across(n), top + height + 16, std::to_string(n));
  std::size_t index = 0;
  for (const auto& [bytes, points] : paths) {
    const std::string color = colors[index % std::size(colors)];
    inner.append("<polyline fill=\"none\" stroke-width=\"1.2\" stroke=\"").append(color);
    inner.append("\" points=\"").append(points).append("\"/>\n");
    inner += rectangle(left + width + 14, top + 18.0 * double(index), 12, 12, color);
    inner += label(left + width + 32, top + 18.0 * double(index) + 10, type_text(bytes), "start");
    ++index;
  }
  return framed(left + width + 90, top + height + 40, inner);
}

}  // namespace

std::string svg_of(const part_result& result) {
  if (result.of.name == "sweep-batched") return map_of(result);
  if (result.of.name == "sweep-square") return lines_of(result);
  return "";
}

}  // namespace grid
