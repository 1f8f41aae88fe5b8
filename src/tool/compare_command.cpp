// Results of several files side by side.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench_plan.hpp"
#include "bench_table.hpp"
#include "commands.hpp"
#include "output_file.hpp"
#include "report.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

/// A device of one file. Where it has something to compare it has a letter in the tables.
struct compared_device {
  std::size_t file;  ///< its place on the command line: a file that is named twice is two
  std::string name, model, path, cache;
  bool is_partial;
};

/// A result with its place among the devices.
struct compared_row {
  std::size_t device;
  std::string kernel;  ///< with a number where a file has the same row again
  bench_result result;
};

/// What is shown together: the rows of one problem.
struct compared_problem {
  std::string title;
  std::vector<compared_row> rows;
};

struct compared {
  std::vector<compared_device> devices;
  std::size_t letters = 0;  ///< devices that have something to compare; the others come last
  std::vector<compared_problem> problems;
  std::vector<bench_result> results;
};

std::string letter(std::size_t place) {
  return place < 26 ? std::string(1, static_cast<char>('A' + place)) : fmt::format("D{}", place);
}

/// A bandwidth, or a result that is not valid.
bool is_comparable(const bench_result& result) {
  return result.gbps || !result.valid;
}

/// Parts of a grid, and the grids of a global transpose, are problems of their own.
std::string problem_of(const bench_result& result) {
  const std::string part = result.part.empty() ? "" : ", " + result.part;
  return fmt::format("{} {} {}{}, loop {} the kernel", result.op, result.problem_text(), result.type, part,
                     result.loop);
}

std::string row_of(const compared_row& row) {
  return row.kernel + " " + row.result.block;
}

std::size_t place_of(compared& all, const std::vector<bench_file>& files, std::size_t file, const std::string& device) {
  for (std::size_t place = 0; place < all.devices.size(); ++place) {
    if (all.devices[place].file == file && all.devices[place].name == device) return place;
  }
  const bench_file& from = files[file];
  all.devices.push_back({file, device, from.model_of(device), from.path, from.cache(), from.is_partial()});
  return all.devices.size() - 1;
}

void add_row(compared& all, std::size_t device, const bench_result& result) {
  all.results.push_back(result);
  const std::string title = problem_of(result);
  const auto same = [&](const compared_problem& each) { return each.title == title; };
  auto found = std::find_if(all.problems.begin(), all.problems.end(), same);
  if (found == all.problems.end()) found = all.problems.insert(found, {title, {}});
  const auto again =
      1 + std::count_if(found->rows.begin(), found->rows.end(), [&](const compared_row& each) {
        return each.device == device && each.result.kernel == result.kernel && each.result.block == result.block;
      });
  found->rows.push_back({device, again == 1 ? result.kernel : fmt::format("{} ({})", result.kernel, again), result});
}

/// CPUs come after the others: in most files they are only there beside another device.
compared gather(const std::vector<bench_file>& files) {
  compared all;
  const auto each_result = [&](const auto& f) {
    for (const bool cpus : {false, true}) {
      for (std::size_t file = 0; file < files.size(); ++file) {
        for (const bench_result& result : files[file].results) {
          if ((result.device == base_device) == cpus) f(file, result);
        }
      }
    }
  };
  each_result([&](std::size_t file, const bench_result& result) {
    if (is_comparable(result)) place_of(all, files, file, result.device);
  });
  all.letters = all.devices.size();
  each_result([&](std::size_t file, const bench_result& result) {
    add_row(all, place_of(all, files, file, result.device), result);
  });
  return all;
}

/// The device that a letter or a name says, of those that have letters; the first of several of one name.
std::optional<std::size_t> named_reference(const compared& all, const std::string& name) {
  if (name.empty()) return std::nullopt;
  std::vector<std::string> known;
  std::optional<std::size_t> found;
  for (std::size_t place = all.letters; place-- > 0;) {
    if (all.devices[place].name == name) found = place;
  }
  for (std::size_t place = 0; place < all.letters; ++place) {
    if (letter(place) == name) found = place;
    known.push_back(letter(place) + " " + all.devices[place].name);
  }
  if (found) return found;
  refuse(fmt::format("no device \"{}\" to compare with", name), "there are: " + joined(known),
         "choose a letter or a name with --reference");
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

/// "3486.1", with a * where it is predicted, or "-" where there is none, and the distance of its quartiles in percent.
std::vector<std::string> cells_of(const bench_result& result) {
  if (result.status == "failed") return {"FAILED", "", ""};
  if (!result.valid) return {"WRONG", "", ""};
  const auto spread = spread_of(result);
  return {result.gbps ? fmt::format("{:.1f}{}", *result.gbps, result.predicted ? "*" : "") : "-",
          spread ? fmt::format("{:.0f}", *spread * 100) : "",
          result.of_memcpy ? fmt::format("{:.1f}", *result.of_memcpy * 100) : ""};
}

const bench_result* find(const compared_problem& in, std::size_t device, const std::string& row) {
  for (const compared_row& each : in.rows) {
    if (each.device == device && row_of(each) == row) return &each.result;
  }
  return nullptr;
}

/// One device beside another.
struct compared_pair {
  std::size_t first, other;
};

/// What two devices differ in, over all rows that both have, by pair of devices.
struct differences {
  std::vector<double> ratios;
  int faster = 0, slower = 0;
};
using all_differences = std::map<std::pair<std::size_t, std::size_t>, differences>;

/// "0.52", with a ~ where it is noise; what it says is added to `to`.
std::string ratio_cell(const bench_result* first, const bench_result* other, differences& to) {
  const auto change = first != nullptr && other != nullptr ? ratio_of(*first, *other) : std::nullopt;
  if (!change) return "";
  to.ratios.push_back(change->of_first);
  to.faster += !change->noise && change->of_first > 1;
  to.slower += !change->noise && change->of_first < 1;
  return fmt::format("{:.2f}{}", change->of_first, change->noise ? "~" : " ");
}

/// One problem on a device, and on another one beside it where `pair` has two.
std::string table_of(const compared_problem& in, const compared_pair& pair, all_differences& found) {
  using side = table::align;
  const bool has_other = pair.first != pair.other;
  std::vector<std::size_t> places = {pair.first};
  if (has_other) places.push_back(pair.other);
  std::vector<table::column> columns = {{"kernel", side::left, true}, {"block", side::left}};
  for (const std::size_t place : places) {
    columns.insert(columns.end(), {{letter(place) + " GB/s"}, {"spread %"}, {"% memcpy"}});
  }
  if (has_other) columns.push_back({letter(pair.other) + "/" + letter(pair.first)});
  table lines(columns);
  std::set<std::string> done;
  for (const compared_row& named : in.rows) {
    const std::string row = row_of(named);
    if (!done.insert(row).second) continue;
    std::vector<std::string> cells = {named.kernel, named.result.block};
    for (const std::size_t place : places) {
      const bench_result* each = find(in, place, row);
      const std::vector<std::string> own = each != nullptr ? cells_of(*each) : std::vector<std::string>(3);
      cells.insert(cells.end(), own.begin(), own.end());
    }
    if (has_other) {
      cells.push_back(
          ratio_cell(find(in, pair.first, row), find(in, pair.other, row), found[{pair.first, pair.other}]));
    }
    if (std::any_of(cells.begin() + 2, cells.end(), [](const std::string& cell) { return !cell.empty(); })) {
      lines.add(cells);
    }
  }
  return lines.text();
}

/// The devices that have something to compare in a problem, the reference first.
std::vector<std::size_t> places_of(const compared_problem& in, std::optional<std::size_t> reference) {
  std::set<std::size_t> found;
  for (const compared_row& each : in.rows) {
    if (is_comparable(each.result)) found.insert(each.device);
  }
  std::vector<std::size_t> places(found.begin(), found.end());
  std::stable_partition(places.begin(), places.end(), [&](std::size_t place) { return place == reference; });
  return places;
}

/// Whether the caches of two devices were alike, as far as their files say.
bool same_caches(const compared_device& a, const compared_device& b) {
  return a.cache.empty() || b.cache.empty() || a.cache == b.cache;
}

/// Each device with the one that its ratios are to, or with itself where it stands alone: the wanted one, else of those
/// before it the first CPU for a CPU and the first other device for another, else the first.
std::vector<compared_pair> pairs_of(const compared& all, const std::vector<std::size_t>& places,
                                    std::optional<std::size_t> wanted) {
  std::vector<compared_pair> pairs;
  std::set<std::size_t> references;
  for (const std::size_t place : places) {
    const compared_device& own = all.devices[place];
    std::optional<std::size_t> first, same_kind;
    for (const std::size_t other : places) {
      if (other == place) break;
      const compared_device& on = all.devices[other];
      if (!same_caches(own, on)) continue;
      if (!first) first = other;
      if (!same_kind && (on.name == base_device) == (own.name == base_device)) same_kind = other;
    }
    if (first != wanted && same_kind) first = same_kind;
    if (first) references.insert(*first);
    pairs.push_back({first.value_or(place), place});
  }
  const auto is_reference = [&](const compared_pair& pair) {
    return pair.first == pair.other && references.count(pair.first) != 0;
  };
  pairs.erase(std::remove_if(pairs.begin(), pairs.end(), is_reference), pairs.end());
  return pairs;
}

std::string devices_text(const compared& all) {
  std::string text;
  for (std::size_t place = 0; place < all.devices.size(); ++place) {
    const compared_device& on = all.devices[place];
    const bool has_letter = place < all.letters;
    std::string from = on.path;
    if (!on.cache.empty()) from += fmt::format(", {} cache", on.cache);
    if (on.is_partial) from += ", partial";
    text += wrapped(fmt::format("{} {}, {} ({}){}", has_letter ? letter(place) : "-", on.name, on.model, from,
                                has_letter ? "" : ": valid, no bandwidth")) +
            "\n";
  }
  if (all.letters < 2) return text;
  return text + "Letters follow the files, CPUs last. Ratios are to the first of the same kind,\n" +
         "CPU or not, that has the problem, else to the first; or to --reference.\n";
}

std::string summaries_text(const all_differences& found) {
  std::string text;
  for (const auto& [pair, each] : found) {
    if (each.ratios.empty()) continue;
    text += wrapped(fmt::format("{0}/{1}: geometric mean {2:.3f} of {3} rows; beyond both spreads {0} is faster in "
                                "{4}, slower in {5}.",
                                letter(pair.second), letter(pair.first), geometric_mean(each.ratios),
                                each.ratios.size(), each.faster, each.slower)) +
            "\n";
  }
  return text.empty() ? "" : "\n" + text;
}

std::string text_of(const compared& all, std::optional<std::size_t> reference) {
  std::string tables;
  all_differences found;
  bool caches_differ = false;
  for (const compared_problem& each : all.problems) {
    const std::vector<std::size_t> places = places_of(each, reference);
    std::set<std::string> caches;
    for (const std::size_t place : places) caches.insert(all.devices[place].cache);
    caches.erase("");
    caches_differ = caches_differ || caches.size() > 1;
    for (const compared_pair& pair : pairs_of(all, places, reference)) {
      tables += "\n" + wrapped(each.title) + "\n" + table_of(each, pair, found);
    }
  }
  const auto predicted = [](const bench_result& each) { return each.predicted; };
  const auto has_none = [&](const compared_problem& each) {
    return std::any_of(each.rows.begin(), each.rows.end(),
                       [&](const compared_row& row) { return row.device < all.letters && !is_comparable(row.result); });
  };
  tables += summaries_text(found);
  if (std::any_of(all.problems.begin(), all.problems.end(), has_none)) tables += "- valid, no bandwidth\n";
  if (caches_differ) tables += "Cold and warm caches are not compared with one another.\n";
  if (tables.find("~\n") != std::string::npos) tables += "~ noise: within the spreads of both\n";
  if (std::any_of(all.results.begin(), all.results.end(), predicted)) {
    tables += "* predicted by a model of the device\n";
  }
  return devices_text(all) + tables;
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

int run(const std::vector<std::string>& paths, const std::string& json_path, const std::string& reference) {
  std::vector<named_path> inputs;
  for (const std::string& path : paths) inputs.push_back({"FILE", path});
  require_distinct({{"--json", json_path}}, inputs);
  const output_file out(json_path);
  std::vector<bench_file> files;
  for (const std::string& path : paths) {
    std::vector<bench_file> read = read_bench_files(path);
    std::move(read.begin(), read.end(), std::back_inserter(files));
  }
  const compared all = gather(files);
  const std::optional<std::size_t> first = named_reference(all, reference);
  out.write(json_text(merged(files)));
  if (!out.is_stdout()) fmt::print("{}", text_of(all, first));
  return exit_code_of(all.results);
}

}  // namespace

void add_compare_command(command_line& line, tool_run& tool) {
  command compare = line.add("compare", "Show the results of several bench files side by side");
  const auto paths = std::make_shared<std::vector<std::string>>();
  const auto json_path = std::make_shared<std::string>(), reference = std::make_shared<std::string>();
  compare.words("files", *paths, "Files that `twill bench --json FILE` wrote, or --json\nbelow", "FILE");
  compare.text("--reference", *reference,
               "What ratios are to, where it has the problem: a\nletter of the tables, or a device. See below", "NAME");
  compare.path("--json", *json_path,
               "Write all of them here as one, which compare reads\ntoo; - is standard output, and no tables");
  compare.footer(
      "Devices have letters in the order of the files, CPUs last. Ratios are to the\n"
      "first device of the same kind, CPU or not, that has the problem, else to the\n"
      "first; cold and warm caches are not compared.\n"
      "Exit code: 0 done, 1 a file has a row that is wrong or failed, 2 bad usage,\n"
      "3 a file could not be written.");
  compare.run([=, &tool] { tool.exit_code = run(*paths, *json_path, *reference); });
}

}  // namespace twill::tool
