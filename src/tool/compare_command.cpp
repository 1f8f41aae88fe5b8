// Results of several files side by side.

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"
#include "output_file.hpp"
#include "report.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

/// A device of one file. Where it has something to compare it has a letter in the tables.
struct compared_device {
  std::string name, model, file;
};

/// Results with their places among the devices.
struct compared {
  std::vector<compared_device> devices;  ///< those that have nothing to compare come last
  std::vector<std::pair<std::size_t, bench_result>> results;
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

/// A bandwidth, or a result that is not valid.
bool is_comparable(const bench_result& result) {
  return result.gbps || !result.valid;
}

/// CPUs come after the others: in most files they are only there beside another device.
compared gather(const std::vector<bench_file>& files) {
  compared all;
  for (const bool cpus : {false, true}) {
    for (const bench_file& file : files) {
      for (const bench_result& result : file.results) {
        if ((result.device == "cpu") == cpus && is_comparable(result)) place_of(all, file, result.device);
      }
    }
  }
  for (const bool cpus : {false, true}) {
    for (const bench_file& file : files) {
      for (const bench_result& result : file.results) {
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

std::string problem_of(const bench_result& result) {
  return fmt::format("{} {} {}, loop {} the kernel", result.op, result.problem_text(), result.type, result.loop);
}

std::string row_of(const bench_result& result) {
  return result.kernel + " " + result.block;
}

std::optional<double> spread_of(const bench_result& result) {
  if (!result.ms || result.predicted) return std::nullopt;
  return result.ms->spread();
}

/// How a result compares with another of the same problem and kernel.
struct ratio {
  double of_first = 1;
  bool noise = false;  ///< the difference is within the spreads of both
};

std::optional<ratio> ratio_of(const bench_result& first, const bench_result& other) {
  if (!first.valid || !other.valid || !first.gbps || !other.gbps || *first.gbps <= 0) return std::nullopt;
  const double of_first = *other.gbps / *first.gbps;
  const double spread = spread_of(first).value_or(0) + spread_of(other).value_or(0);
  return ratio{of_first, std::abs(of_first - 1) <= spread};
}

/// "3486.1", with a * where it is predicted, and the distance of its quartiles in percent.
std::vector<std::string> cells_of(const bench_result& result) {
  if (result.status == "failed") return {"FAILED", "", ""};
  if (!result.valid) return {"WRONG", "", ""};
  const auto spread = spread_of(result);
  return {result.gbps ? fmt::format("{:.1f}{}", *result.gbps, result.predicted ? "*" : "") : "",
          spread ? fmt::format("{:.0f}", *spread * 100) : "",
          result.of_memcpy ? fmt::format("{:.1f}", *result.of_memcpy * 100) : ""};
}

const bench_result* find(const compared& all, std::size_t device, const std::string& problem, const std::string& row) {
  for (const auto& [place, result] : all.results) {
    if (place == device && row_of(result) == row && problem_of(result) == problem) return &result;
  }
  return nullptr;
}

/// One problem on a device, and on another one beside it.
std::string table_of(const compared& all, const std::string& problem, std::size_t first,
                     std::optional<std::size_t> other) {
  using side = table::align;
  std::vector<table::column> columns = {{"kernel", side::left, true}, {"block", side::left}};
  for (const std::size_t place : {first, other.value_or(first)}) {
    if (columns.size() > 2 && !other) break;
    columns.insert(columns.end(), {{letter(place) + " GB/s"}, {"spread %"}, {"% memcpy"}});
  }
  if (other) columns.push_back({letter(*other) + "/" + letter(first)});
  table lines(columns);
  for (const std::string& row : distinct(all, row_of)) {
    const bench_result* a = find(all, first, problem, row);
    const bench_result* b = other ? find(all, *other, problem, row) : nullptr;
    if (a == nullptr && b == nullptr) continue;
    const bench_result& named = a != nullptr ? *a : *b;
    std::vector<std::string> cells = {named.kernel, named.block};
    const auto add = [&](const bench_result* each) {
      for (std::string& cell : each != nullptr ? cells_of(*each) : std::vector<std::string>(3)) {
        cells.push_back(std::move(cell));
      }
    };
    add(a);
    if (other) {
      add(b);
      const auto change = a != nullptr && b != nullptr ? ratio_of(*a, *b) : std::nullopt;
      cells.push_back(change ? fmt::format("{:.2f}{}", change->of_first, change->noise ? "~" : " ") : "");
    }
    if (std::any_of(cells.begin() + 2, cells.end(), [](const std::string& cell) { return !cell.empty(); })) {
      lines.add(cells);
    }
  }
  return lines.text();
}

/// What two devices differ in, over all rows that both have.
std::string summary_of(const compared& all, std::size_t first, std::size_t other) {
  std::vector<double> ratios;
  int faster = 0, slower = 0;
  for (const auto& [place, result] : all.results) {
    if (place != other) continue;
    const bench_result* base = find(all, first, problem_of(result), row_of(result));
    const auto change = base != nullptr ? ratio_of(*base, result) : std::nullopt;
    if (!change) continue;
    ratios.push_back(change->of_first);
    faster += !change->noise && change->of_first > 1;
    slower += !change->noise && change->of_first < 1;
  }
  if (ratios.empty()) return "";
  return wrapped(fmt::format("{0}/{1}: geometric mean {2:.3f} of {3} rows; beyond both spreads {0} is faster in "
                             "{4}, slower in {5}.",
                             letter(other), letter(first), geometric_mean(ratios), ratios.size(), faster, slower)) +
         "\n";
}

/// The devices that have something to compare in a problem.
std::vector<std::size_t> places_of(const compared& all, const std::string& problem) {
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < all.devices.size(); ++place) {
    const auto tells = [&](const auto& each) {
      const bench_result& result = each.second;
      return each.first == place && problem_of(result) == problem && is_comparable(result);
    };
    if (std::any_of(all.results.begin(), all.results.end(), tells)) places.push_back(place);
  }
  return places;
}

std::string text_of(const compared& all) {
  std::string tables, text;
  std::set<std::size_t> shown;
  for (const std::string& problem : distinct(all, problem_of)) {
    const std::vector<std::size_t> places = places_of(all, problem);
    shown.insert(places.begin(), places.end());
    if (places.size() == 1) tables += "\n" + problem + "\n" + table_of(all, problem, places[0], std::nullopt);
    for (std::size_t i = 1; i < places.size(); ++i) {
      tables += "\n" + problem + "\n" + table_of(all, problem, places[0], places[i]);
    }
  }
  for (std::size_t place = 0; place < all.devices.size(); ++place) {
    const compared_device& on = all.devices[place];
    const bool has_letter = shown.count(place) != 0;
    text += wrapped(fmt::format("{} {}, {} ({}){}", has_letter ? letter(place) : "-", on.name, on.model, on.file,
                                has_letter ? "" : ": valid, no bandwidth")) +
            "\n";
  }
  for (std::size_t place = 1; place < all.devices.size(); ++place) {
    const std::string summary = summary_of(all, 0, place);
    tables += (summary.empty() || place > 1 ? "" : "\n") + summary;
  }
  const auto any = [&](auto is) {
    return std::any_of(all.results.begin(), all.results.end(), [&](const auto& each) { return is(each.second); });
  };
  if (tables.find("~\n") != std::string::npos) tables += "~ noise: within the spreads of both\n";
  if (any([](const bench_result& each) { return each.predicted; })) tables += "* predicted by a model of the device\n";
  return text + tables;
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
  std::vector<named_path> inputs;
  for (const std::string& path : paths) inputs.push_back({"FILE", path});
  require_distinct({{"--json", json_path}}, inputs);
  const output_file out(json_path);
  std::vector<bench_file> files;
  files.reserve(paths.size());
  for (const std::string& path : paths) files.push_back(read_bench_file(path));
  out.write(json_text(merged(files)));
  if (!out.is_stdout()) fmt::print("{}", text_of(gather(files)));
}

}  // namespace

void add_compare_command(command_line& line) {
  command compare = line.add("compare", "Show the results of several bench files side by side");
  const auto paths = std::make_shared<std::vector<std::string>>();
  const auto json_path = std::make_shared<std::string>();
  compare.words("files", *paths, "Files that `twill bench --json FILE` wrote", "FILE");
  compare.path("--json", *json_path, "Write all of them here as one; - is standard output,\nand no tables");
  compare.run([paths, json_path] { run(*paths, *json_path); });
}

}  // namespace twill::tool
