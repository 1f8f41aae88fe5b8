#include "bench_team.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/core.h>

#include <twill/twill.hpp>

#include "interrupt.hpp"
#include "parse.hpp"
#include "processes.hpp"
#include "team_runner.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

/// Those that are named, else the GPUs of one backend, else the CPU.
std::vector<device> devices_of(const team_bench_arguments& arguments) {
  std::vector<device> all;
  for (const std::string& name : arguments.devices) all.push_back(device::open(name));
  if (all.empty()) {
    for (const std::string& name : device::list()) {
      const device on = device::open(name);
      if (on.properties().is_gpu && (all.empty() || on.properties().backend == all[0].properties().backend)) {
        all.push_back(on);
      }
    }
  }
  if (all.empty()) all.push_back(device::open("cpu"));
  return all;
}

/// In one process a rank for each device, or as many as are asked for; else a rank for each process.
team team_of(const processes& world, const team_bench_arguments& arguments) {
  std::vector<device> members;
  world.together([&] {
    const std::vector<device> all = devices_of(arguments);
    if (world.size() > 1 && arguments.ranks > 0 && arguments.ranks != world.size()) {
      refuse(fmt::format("--team {} in {} processes", arguments.ranks, world.size()), "each process is a rank",
             "leave --team out, or start as many");
    }
    const int asked = world.size() == 1 ? arguments.ranks : 0;
    const auto count = asked > 0 ? static_cast<std::size_t>(asked) : all.size();
    for (std::size_t i = 0; i < count; ++i) members.push_back(all[i % all.size()]);
  });
  return world.make_team(members);
}

std::pair<std::int64_t, std::int64_t> parse_grid(const std::string& text, int ranks) {
  if (text == "slab") return {ranks, 1};
  const extents parts = parse_size(text);
  if (parts.size() != 2 || parts[0] > ranks || parts[1] > ranks || parts[0] * parts[1] != ranks) {
    refuse(fmt::format("grid {} is not one of {} ranks", text, ranks), "it is slab, or PxQ with P * Q ranks",
           fmt::format("write for example --grid {}x1", ranks));
  }
  return {parts[0], parts[1]};
}

/// A matrix is transposed from slabs to slabs. Of three dimensions, slabs change the dimension that is cut, pencils the
/// second one of the two: what was cut before is contiguous afterwards.
team_case case_of(const std::string& type, const std::string& size, const std::string& grid, int ranks) {
  team_case one{parse_type(type), parse_size(size), grid, {}};
  const auto [p, q] = parse_grid(grid, ranks);
  if (one.size.size() == 1) one.size.push_back(one.size[0]);
  one.shape.extents = {one.size.data(), one.size.size()};
  if (one.size.size() == 2) {
    if (q > 1) refuse(fmt::format("grid {} cuts a matrix twice", grid), "pencils have three dimensions", "write slab");
    one.shape.in = {{p, 1}, {}, {}};
    one.shape.out = {{1, p}, {1, 0}, {}};
  } else if (one.size.size() == 3 && q == 1) {
    one.shape.in = {{p, 1, 1}, {}, {}};
    one.shape.out = {{1, p, 1}, {1, 2, 0}, {}};
  } else if (one.size.size() == 3) {
    one.shape.in = {{p, q, 1}, {}, {}};
    one.shape.out = {{p, 1, q}, {0, 2, 1}, {}};
  } else {
    refuse(fmt::format("size {} has {} extents", extents_text(one.size), one.size.size()),
           "a global transpose is measured of two or three", "write --size ROWSxCOLS or --size AxBxC");
  }
  return one;
}

transport parse_transport(const std::string& text) {
  std::string known;
  for (const transport via :
       {transport::automatic, transport::direct, transport::copy, transport::nccl, transport::mixed, transport::mpi}) {
    if (text == name(via)) return via;
    known.append(known.empty() ? "" : ", ").append(name(via));
  }
  refuse(fmt::format("no transport \"{}\"", text), "known: " + known, "choose one of these");
}

std::vector<std::string> or_default(const std::vector<std::string>& given, const std::vector<std::string>& standard) {
  return given.empty() ? standard : given;
}

team_measures measures_of(const team_bench_arguments& arguments, bool several_processes) {
  team_measures measures;
  std::vector<std::string> standard{"direct", "copy", "nccl"};
  if (several_processes) standard.emplace_back("mpi");
  for (const std::string& text : or_default(arguments.transports, standard)) {
    measures.transports.push_back(parse_transport(text));
  }
  measures.tune = arguments.tune;
  measures.tuning = arguments.tuning;
  measures.ranks_per_node = arguments.ranks_per_node;
  measures.blocks_per_peer = arguments.blocks_per_peer;
  measures.reps = arguments.reps;
  return measures;
}

void require_counts(const team_bench_arguments& arguments) {
  if (!arguments.tuning.empty() &&
      std::max({arguments.grids.size(), arguments.types.size(), arguments.sizes.size()}) > 1) {
    refuse("--tuning is given for several cases", "a line is of one plan", "name one size, type and grid");
  }
  for (const auto& [option, value] : {std::pair{"--team", arguments.ranks},
                                      {"--ranks-per-node", arguments.ranks_per_node},
                                      {"--blocks", arguments.blocks_per_peer},
                                      {"--reps", arguments.reps - 1}}) {
    if (value < 0) refuse(fmt::format("{} is too small", option), "it counts from 1", "give 1 or more");
  }
}

}  // namespace

void run_team_bench(const processes& world, const team_bench_arguments& arguments, bench_report& report, bool quiet) {
  require_counts(arguments);
  const team_measures measures = measures_of(arguments, world.size() > 1);
  const team on = team_of(world, arguments);
  for (std::size_t i = 0; i < on.local_ranks().size(); ++i) {
    for (const device_properties& one : world.all_properties(on.local_device(static_cast<int>(i)).properties())) {
      const auto known = [&](const device_properties& p) { return p.name == one.name; };
      if (std::none_of(report.devices.begin(), report.devices.end(), known)) report.devices.push_back(one);
    }
  }
  const interrupt_guard guard;
  team_runner runner(world, on, measures, report);
  for (const std::string& grid : or_default(arguments.grids, {"slab"})) {
    for (const std::string& type : or_default(arguments.types, {"f32"})) {
      for (const std::string& size : or_default(arguments.sizes, {"8192x8192"})) {
        const team_case one = case_of(type, size, grid, on.size());
        runner.run(one);
        if (!quiet) fmt::print("{}", runner.text(one));
        report.partial = world.any(interrupted() != 0);
        if (report.partial) return;
      }
    }
  }
}

}  // namespace twill::tool
