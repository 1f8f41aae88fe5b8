// The grid that twill::transpose is judged by: every cell as a fraction of memcpy of the same bytes, measured turn
// about in one run, with the classic tile ("conflict-free") and the vendor's geam beside it.
//
//   transpose_grid [--device NAME] [--reps N] [--most MIB] [--json FILE] [--svg FOLDER] [PART...]
//
// Parts: main odd batched strided in-place small sweep-batched sweep-square; without one, all but the sweeps. --most
// leaves out cells with more than so many MiB of input. Exit code: 0 done, 1 an output was wrong, 2 bad usage.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <twill/twill.hpp>

#include "report.hpp"

namespace {

struct options {
  std::string device, json, svg;
  int reps = 15;
  std::int64_t most_bytes = INT64_MAX;
  std::vector<std::string> parts;
};

options parse(int count, char** words) {
  options o;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto value = [&]() -> std::string {
      if (++i >= count) throw std::invalid_argument(word + " needs a value");
      return words[i];
    };
    if (word == "--device") {
      o.device = value();
    } else if (word == "--json") {
      o.json = value();
    } else if (word == "--svg") {
      o.svg = value();
    } else if (word == "--reps") {
      o.reps = std::max(1, std::stoi(value()));
    } else if (word == "--most") {
      o.most_bytes = std::stoll(value()) << 20;
    } else {
      grid::make_part(word);
      o.parts.push_back(word);
    }
  }
  if (o.device.empty()) o.device = twill::device::default_name();
  if (o.parts.empty()) o.parts = {"main", "odd", "batched", "strided", "in-place", "small"};
  return o;
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw std::invalid_argument("cannot write " + path);
}

int run(const options& o) {
  std::vector<grid::part_result> results;
  std::int64_t largest = 0;
  for (const std::string& name : o.parts) {
    grid::part_result result{grid::make_part(name), {}};
    auto& cells = result.of.cells;
    const auto too_large = [&](const grid::cell& each) { return each.bytes() > o.most_bytes; };
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

}  // namespace

int main(int count, char** words) {
  try {
    return run(parse(count, words));
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "transpose_grid: %s\n", problem.what());
    return 2;
  }
}
