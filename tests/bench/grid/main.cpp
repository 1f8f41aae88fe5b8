// The grid that twill::transpose is judged by: every cell as a fraction of memcpy of the same bytes, measured turn
// about in one run, with the classic tile ("conflict-free") and the vendor's geam beside it.
//
//   transpose_grid [--device NAME] [--reps N] [--most MIB] [--json FILE] [--svg FOLDER] [PART...]
//
// Exit code: 0 done, 1 an output was wrong, 2 bad usage.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <twill/twill.hpp>

#include "report.hpp"

namespace {

struct options {
  std::string device = twill::device::default_name(), json, svg;
  int reps = 15;
  std::int64_t most_mib = std::int64_t{1} << 40;
  std::vector<std::string> parts;
};

void add_options(CLI::App& app, options& to) {
  app.add_option("part", to.parts,
                 "main, odd, batched, strided, in-place, small (all of them by default), sweep-batched, sweep-square")
      ->option_text("PART ...")
      ->check([](const std::string& name) {
        try {
          grid::make_part(name);
          return std::string();
        } catch (const std::exception& problem) {
          return std::string(problem.what());
        }
      });
  app.add_option("--device", to.device, "As `twill devices` names it. Default: the first GPU; without one, cpu")
      ->option_text("NAME");
  app.add_option("--reps", to.reps, "Samples a cell. Default: 15")->option_text("N")->check(CLI::Range(1, 100000));
  app.add_option("--most", to.most_mib, "Leave out cells with more than so many MiB of input")
      ->option_text("MIB")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  app.add_option("--json", to.json, "Write the results here")->option_text("FILE");
  app.add_option("--svg", to.svg, "Draw the sweeps into this folder")->option_text("FOLDER");
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw std::invalid_argument("cannot write " + path);
}

int run(const options& o) {
  // What cannot be written is found out before the work, and what is there stays until there is something better.
  if (!o.json.empty() && !std::ofstream(o.json, std::ios::app)) throw std::invalid_argument("cannot write " + o.json);
  if (!o.svg.empty()) std::filesystem::create_directories(o.svg);
  std::vector<grid::part_result> results;
  std::int64_t largest = 0;
  for (const std::string& name : o.parts) {
    grid::part_result result{grid::make_part(name), {}};
    auto& cells = result.of.cells;
    const auto too_large = [&](const grid::cell& each) { return each.bytes() > o.most_mib << 20; };
    cells.erase(std::remove_if(cells.begin(), cells.end(), too_large), cells.end());
    for (const grid::cell& each : cells) largest = std::max(largest, each.in_bytes());
    results.push_back(std::move(result));
  }
  const twill::device on = twill::device::open(o.device);
  grid::laboratory laboratory(on, static_cast<std::size_t>(largest), o.reps);
  int wrong = 0;
  for (grid::part_result& result : results) {
    for (const grid::cell& each : result.of.cells) {
      for (auto& found : laboratory.measure(each, result.of.kernels, result.of.windows)) {
        wrong += found.fault.empty() ? 0 : 1;
        result.outcomes.push_back(std::move(found));
      }
    }
    std::printf("%s\n", text_of(result).c_str());
    std::fflush(stdout);
    const std::string picture = o.svg.empty() ? "" : svg_of(result);
    if (!picture.empty()) write(o.svg + "/" + result.of.name + ".svg", picture);
  }
  if (!o.json.empty()) write(o.json, json_of(on.properties(), results));
  return wrong == 0 ? 0 : 1;
}

int run_command(int count, char** words) {
  CLI::App app("The grid that twill::transpose is judged by, beside memcpy, the classic tile and the vendor's library.",
               "transpose_grid");
  options asked;
  add_options(app, asked);
  try {
    app.parse(count, words);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  }
  if (asked.parts.empty()) asked.parts = {"main", "odd", "batched", "strided", "in-place", "small"};
  return run(asked);
}

}  // namespace

int main(int count, char** words) {
  try {
    return run_command(count, words);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "transpose_grid: %s\n", problem.what());
    return 2;
  }
}
