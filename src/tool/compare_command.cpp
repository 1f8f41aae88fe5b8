#include "compare_command.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench_file.hpp"
#include "format.hpp"
#include "output_file.hpp"
#include "report_file.hpp"
#include "table.hpp"

namespace twill::tool {
namespace {

constexpr std::size_t devices_a_table = 3;

/// A device of one file; it has a letter in the tables.
struct compared_device {
  std::string name, model, file;
};

/// Results with their places among the devices.
struct compared {
  std::vector<compared_device> devices;
  std::vector<std::pair<std::size_t, filed_result>> results;
};

std::string letter(std::size_t place) {
  return place < 26 ? std::string(1, static_cast<char>('A' + place)) : fmt::format("D{}", place);
}

std::size_t place_of(compared& all, const bench_file& file, const std::string& device) {
  for (std::size_t place = 0; place < all.devices.size(); ++place) {
    if (all.devices[place].file == file.path && all.devices[place].name == device) return place;
  }
  all.devices.push_back({device, file.model_of(device), file.path});
  return all.devices.size() - 1;
}

/// CPUs come last: in most files they are only there beside another device.
compared gather(const std::vector<bench_file>& files) {
  compared all;
  for (const bool cpus : {false, true}) {
    for (const bench_file& file : files) {
      for (const filed_result& result : file.results) {
        if ((result.device == "cpu") == cpus) all.results.emplace_back(place_of(all, file, result.device), result);
      }
    }
  }
  return all;
}

/// Distinct values in the order of their first appearance.
template <class Text>
std::vector<std::string> distinct(const compared& all, Text text) {
  std::vector<std::string> values;
  for (const auto& [place, result] : all.results) {
    const std::string value = text(result);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

std::string problem_of(const filed_result& result) {
  const std::string size = result.extents.empty() ? fmt::format("{}x{}", result.rows, result.cols) : result.extents;
  const std::string order = result.order.empty() ? "" : " to " + result.order;
  return fmt::format("{} {}{} {}, loop {} the kernel", result.op, size, order, result.type, result.loop);
}

std::string row_of(const filed_result& result) {
  return result.kernel + " " + result.block;
}

std::string figure(const std::optional<double>& value, double scale, bool predicted) {
  return value ? fmt::format("{:.1f}{}", *value * scale, predicted ? "*" : "") : "";
}

/// Columns of one problem's table: some of the devices, two columns each.
std::string table_of(const compared& all, const std::string& problem, const std::vector<std::size_t>& places) {
  using side = table::align;
  std::vector<table::column> columns = {{"kernel", side::left}, {"block", side::left}};
  for (const std::size_t place : places) {
    columns.push_back({letter(place) + " GB/s"});
    columns.push_back({"% memcpy"});
  }
  table lines(columns);
  for (const std::string& row : distinct(all, row_of)) {
    std::vector<std::string> cells(columns.size());
    for (const auto& [place, result] : all.results) {
      const auto column = std::find(places.begin(), places.end(), place);
      if (row_of(result) != row || problem_of(result) != problem || column == places.end()) continue;
      const std::size_t at = 2 + 2 * static_cast<std::size_t>(column - places.begin());
      if (result.valid && !result.gbps) continue;
      cells[0] = result.kernel;
      cells[1] = result.block;
      cells[at] = result.valid ? figure(result.gbps, 1, result.predicted) : "WRONG";
      cells[at + 1] = figure(result.of_memcpy, 100, false);
    }
    if (!cells[0].empty()) lines.add(cells);
  }
  return lines.text();
}

/// The devices that have something to compare in a problem: a bandwidth, or a wrong result.
std::vector<std::size_t> places_of(const compared& all, const std::string& problem) {
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < all.devices.size(); ++place) {
    const auto tells = [&](const auto& each) {
      const filed_result& result = each.second;
      return each.first == place && problem_of(result) == problem && (result.gbps || !result.valid);
    };
    if (std::any_of(all.results.begin(), all.results.end(), tells)) places.push_back(place);
  }
  return places;
}

std::string text_of(const compared& all) {
  std::string tables;
  std::set<std::size_t> shown;
  for (const std::string& problem : distinct(all, problem_of)) {
    const std::vector<std::size_t> places = places_of(all, problem);
    shown.insert(places.begin(), places.end());
    for (std::size_t first = 0; first < places.size(); first += devices_a_table) {
      const auto begin = places.begin() + static_cast<std::ptrdiff_t>(first);
      const auto count = static_cast<std::ptrdiff_t>(std::min(devices_a_table, places.size() - first));
      tables += "\n" + problem + "\n" + table_of(all, problem, {begin, begin + count});
    }
  }
  std::string text;
  for (std::size_t place = 0; place < all.devices.size(); ++place) {
    const compared_device& on = all.devices[place];
    const char* nothing = shown.count(place) == 0 ? ": checked, not timed" : "";
    text += wrapped(fmt::format("{} {}, {} ({}){}", letter(place), on.name, on.model, on.file, nothing)) + "\n";
  }
  const bool predicted =
      std::any_of(all.results.begin(), all.results.end(), [](const auto& each) { return each.second.predicted; });
  return text + tables + (predicted ? "* predicted by a model of the device\n" : "");
}

json merged(const std::vector<bench_file>& files) {
  json parts = json::array();
  for (const bench_file& file : files) {
    json part = {{"file", file.path}};
    part.update(file.document);
    parts.push_back(part);
  }
  return {{"schema", json_schema}, {"files", parts}};
}

void run(const std::vector<std::string>& paths, const std::string& json_path) {
  const output_file out(json_path);
  std::vector<bench_file> files;
  files.reserve(paths.size());
  for (const std::string& path : paths) files.push_back(read_bench_file(path));
  out.write(json_text(merged(files)));
  if (!out.is_stdout()) fmt::print("{}", text_of(gather(files)));
}

}  // namespace

void add_compare_command(CLI::App& app) {
  CLI::App* compare = app.add_subcommand("compare", "Show the results of several bench files side by side");
  const auto paths = std::make_shared<std::vector<std::string>>();
  const auto json_path = std::make_shared<std::string>();
  compare->add_option("files", *paths, "Files that `twill bench --json FILE` wrote")->required()->type_name("FILE");
  compare->add_option("--json", *json_path, "Write all of them here as one; - is standard output,\nand no tables")
      ->type_name("FILE");
  compare->callback([paths, json_path] { run(*paths, *json_path); });
}

}  // namespace twill::tool
