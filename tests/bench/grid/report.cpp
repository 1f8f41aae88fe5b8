#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace grid {
namespace {

std::string printed(const char* format, ...) {
  char text[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return text;
}

bool is_sweep(const part& of) {
  return of.name.rfind("sweep", 0) == 0;
}

const outcome* find(const part_result& result, const std::string& shape, std::int64_t bytes,
                    const std::string& kernel) {
  for (const outcome& each : result.outcomes) {
    if (each.kernel == kernel && each.on.element_bytes == bytes && shape_text(each.on) == shape) return &each;
  }
  return nullptr;
}

std::string table_of(const part_result& result, const std::string& kernel) {
  std::vector<std::int64_t> sizes;
  std::vector<std::string> shapes;
  for (const cell& each : result.of.cells) {
    if (std::find(sizes.begin(), sizes.end(), each.element_bytes) == sizes.end()) sizes.push_back(each.element_bytes);
    const std::string shape = shape_text(each);
    if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
  }
  std::string text = printed("%-15s", kernel.c_str());
  for (const std::int64_t bytes : sizes) text += printed("%8s", type_text(bytes).c_str());
  text += "\n";
  for (const std::string& shape : shapes) {
    text += printed("  %-13s", shape.c_str());
    for (const std::int64_t bytes : sizes) {
      const outcome* found = find(result, shape, bytes, kernel);
      text += !found                  ? printed("%8s", "-")
              : !found->fault.empty() ? printed("%8s", "WRONG")
                                      : printed("%8.3f", found->of_memcpy);
    }
    text += "\n";
  }
  return text;
}

std::string figure_text(const part_result& result, const std::string& kernel) {
  const figure f = figure_of(result, kernel);
  if (f.cells == 0) return "";
  std::string text = printed("%-15s mean %.3f, worst %.3f (%s %s), %d cells", kernel.c_str(), f.mean, f.worst,
                             shape_text(f.where).c_str(), type_text(f.where.element_bytes).c_str(), f.cells);
  if (f.wrong > 0) text += printed(", %d WRONG", f.wrong);
  return text + "\n";
}

/// Of a sweep, the cell that is slowest against a neighbour: the shape before in its row of cells, or in its column.
std::string step_text(const part_result& result) {
  std::vector<const outcome*> cells;
  std::size_t across = 0;
  for (const outcome& each : result.outcomes) {
    if (each.kernel == "tuned") cells.push_back(&each);
  }
  while (across < cells.size() && cells[across]->on.rows == cells.front()->on.rows) ++across;
  double lowest = 1;
  std::string text;
  const auto compare = [&](const outcome& a, const outcome& b) {
    if (a.on.element_bytes != b.on.element_bytes) return;
    const outcome &slow = a.of_memcpy < b.of_memcpy ? a : b, &fast = a.of_memcpy < b.of_memcpy ? b : a;
    const double step = slow.of_memcpy / fast.of_memcpy;
    if (step >= lowest) return;
    lowest = step;
    text = printed("slowest against a neighbour: %s %s, %.2f of %s\n", shape_text(slow.on).c_str(),
                   type_text(slow.on.element_bytes).c_str(), step, shape_text(fast.on).c_str());
  };
  for (std::size_t i = 1; i < cells.size(); ++i) {
    if (across == 1 || cells[i - 1]->on.rows == cells[i]->on.rows) compare(*cells[i - 1], *cells[i]);
    if (i >= across && across > 1) compare(*cells[i - across], *cells[i]);
  }
  return text;
}

std::string faults_text(const part_result& result) {
  std::string text;
  for (const outcome& each : result.outcomes) {
    if (each.fault.empty()) continue;
    text += printed("WRONG: %s %s %s: first at %s of the output\n", each.kernel.c_str(), shape_text(each.on).c_str(),
                    type_text(each.on.element_bytes).c_str(), each.fault.c_str());
  }
  return text;
}

}  // namespace

figure figure_of(const part_result& result, const std::string& kernel) {
  figure f;
  double logs = 0;
  for (const outcome& each : result.outcomes) {
    if (each.kernel != kernel) continue;
    if (!each.fault.empty()) {
      ++f.wrong;
      continue;
    }
    if (f.cells == 0 || each.of_memcpy < f.worst) {
      f.worst = each.of_memcpy;
      f.where = each.on;
    }
    logs += std::log(each.of_memcpy);
    ++f.cells;
  }
  if (f.cells > 0) f.mean = std::exp(logs / f.cells);
  return f;
}

std::string text_of(const part_result& result) {
  std::string text = result.of.name + ": " + result.of.title + ", fraction of memcpy of the same bytes\n";
  for (const std::string& kernel : result.of.kernels) {
    if (!is_sweep(result.of) && figure_of(result, kernel).cells > 0) text += table_of(result, kernel);
  }
  for (const std::string& kernel : result.of.kernels) text += figure_text(result, kernel);
  if (is_sweep(result.of)) text += step_text(result);
  return text + faults_text(result);
}

std::string json_of(const twill::device_properties& on, const std::vector<part_result>& results) {
  std::string text = "{\n  \"schema\": 1,\n  \"twill\": \"" + std::string(twill::version()) + "\",\n";
  const std::string device =
      printed(R"({"name": "%s", "backend": "%s", "vendor": "%s", "model": "%s", "architecture": "%s", )",
              on.name.c_str(), on.backend.c_str(), on.vendor.c_str(), on.model.c_str(), on.architecture.c_str()) +
      printed("\"peak_bytes_per_second\": %.6g, \"cache_bytes\": %zu}", on.peak_bytes_per_second, on.cache_bytes);
  text += "  \"device\": " + device + ",\n  \"devices\": [" + device + "],\n  \"cache\": \"cold\",\n  \"results\": [";
  const char* comma = "\n";
  for (const part_result& result : results) {
    for (const outcome& each : result.outcomes) {
      const cell& c = each.on;
      const double rate = 2.0 * static_cast<double>(c.bytes()) / each.seconds.median;
      const bool turned = each.kernel == "least" || each.kernel == "fast";
      text += comma + printed(R"(    {"part": "%s", "op": "%s", "device": "%s", "kernel": "%s", "type": "%s", )",
                              result.of.name.c_str(), turned ? "transpose-in-place" : "transpose", on.name.c_str(),
                              each.kernel.c_str(), type_text(c.element_bytes).c_str());
      text += printed(R"("rows": %lld, "cols": %lld, "batch": %lld, "loop": "over", "block": null, )",
                      static_cast<long long>(c.rows), static_cast<long long>(c.cols), static_cast<long long>(c.batch));
      if (c.gap > 0) text += printed(R"("gap": %lld, )", static_cast<long long>(c.gap));
      text += printed(R"("ms": {"median": %.6g, "p25": %.6g, "p75": %.6g}, "gbps": %.6g, "of_memcpy": %.4g, )",
                      each.seconds.median * 1e3, each.seconds.p25 * 1e3, each.seconds.p75 * 1e3, rate * 1e-9,
                      each.of_memcpy);
      const std::int64_t windows = static_cast<std::int64_t>(window_bytes) * result.of.windows;
      text += printed(R"("valid": %s, "checked_bytes": %lld, "predicted": false})",
                      each.fault.empty() ? "true" : "false", static_cast<long long>(std::min(c.bytes(), windows)));
      comma = ",\n";
    }
  }
  return text + "\n  ]\n}\n";
}

}  // namespace grid
