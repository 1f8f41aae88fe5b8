#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <twill/device.hpp>

#include "bench_plan.hpp"
#include "candidates.hpp"
#include "cases.hpp"
#include "commands.hpp"
#include "output_file.hpp"
#include "parse.hpp"
#include "report.hpp"
#include "statistics.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

/// The command line as it was written.
struct explain_arguments {
  std::string operation = "transpose";
  std::vector<std::string> devices, sizes, types;
  std::string order, in_strides, out_strides, random, seed, json_path;
};

std::vector<device> devices_of(const explain_arguments& arguments) {
  std::vector<device> devices = open_devices(arguments.devices);
  for (const device& on : devices) {
    if (on.properties().backend != "cpu") continue;
    refuse("the cpu has no kernels to choose from", "no planner decides there",
           "name a GPU, or a simulated one such as simt:h200, with --device");
  }
  return devices;
}

json json_of(const ladder_operation& operation, const bench_case& which, const device& on,
             const std::vector<candidate>& found) {
  json list = json::array();
  for (const candidate& each : found) {
    list.push_back({{"kernel", each.kernel}, {"expected_us", each.microseconds}, {"plan", each.plan}});
  }
  json found_for = {{"op", operation.name},
                    {"device", on.properties().name},
                    {"type", which.type.name},
                    {"extents", which.size},
                    {"order", which.order}};
  if (!which.in_strides.empty()) found_for["in_strides"] = which.in_strides;
  if (!which.out_strides.empty()) found_for["out_strides"] = which.out_strides;
  found_for["candidates"] = list;
  return found_for;
}

/// The first is what would run.
std::string text_of(const ladder_operation& operation, const ladder_problem& problem, const bench_case& which,
                    const device& on, const std::vector<candidate>& found) {
  const auto& properties = on.properties();
  std::string text = wrapped(fmt::format("{} {} {} on {} ({})", operation.name, problem.text(), which.type.name,
                                         properties.name, properties.model)) +
                     "\n";
  if (found.empty()) return text + "A copy of contiguous bytes: nothing to choose.\n";
  using side = table::align;
  table lines({{"", side::left}, {"kernel", side::left}, {"expected us"}, {"plan", side::left, true}});
  for (const candidate& each : found) {
    lines.add({&each == &found.front() ? "*" : "", each.kernel, fmt::format("{:.1f}", each.microseconds), each.plan});
  }
  return text + lines.text();
}

/// Medians of 15 rounds over all cases, so that the branches of one are not learned.
std::vector<double> planning_us(const std::vector<std::unique_ptr<ladder_problem>>& problems, const device& on) {
  constexpr std::size_t rounds = 15;
  std::vector<std::vector<double>> times(problems.size());
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < problems.size(); ++i) {
      times[i].push_back(static_cast<double>(problems[i]->planning_time(on).count()) / 1000);
    }
  }
  std::vector<double> medians;
  for (auto& each : times) {
    std::sort(each.begin(), each.end());
    medians.push_back(percentile(each, 0.5));
  }
  return medians;
}

/// How often each kernel is chosen for random cases, and how long that takes on the host.
void run_random(const explain_arguments& arguments, const ladder_operation& operation, const output_file& file) {
  const auto seed = static_cast<std::uint64_t>(arguments.seed.empty() ? 1 : parse_count("--seed", arguments.seed, 0));
  const case_set set = random_cases(operation.name, parse_count("--random", arguments.random, 1), seed, 0);
  json results = json::array();
  std::string text = set.title + "\n";
  std::vector<std::unique_ptr<ladder_problem>> problems;
  for (const bench_case& which : set.cases) problems.push_back(problem_of(operation, which));
  for (const device& on : devices_of(arguments)) {
    std::map<std::string, int> chosen;
    std::vector<double> times = planning_us(problems, on);
    for (std::size_t i = 0; i < problems.size(); ++i) {
      const std::vector<candidate> found = problems[i]->candidates(on);
      ++chosen[found.empty() ? "copy" : found.front().kernel];
      results.push_back(json_of(operation, set.cases[i], on, found));
      results.back()["planning_us"] = times[i];
    }
    std::sort(times.begin(), times.end());
    text += fmt::format("\n{}: planned on the host in {:.2f} us, 95 % within {:.2f} us, at most {:.2f} us\n",
                        on.properties().name, percentile(times, 0.5), percentile(times, 0.95), times.back());
    table lines({{"kernel", table::align::left}, {"cases"}});
    for (const auto& [kernel, count] : chosen) lines.add({kernel, std::to_string(count)});
    text += lines.text();
  }
  file.write(json_text({{"schema", json_schema}, {"results", results}}));
  if (!file.is_stdout()) fmt::print("{}", text);
}

void run(const explain_arguments& arguments) {
  const ladder_operation& operation = operation_named(arguments.operation);
  if (operation.name != "transpose" && operation.name != "permute") {
    refuse(fmt::format("no planner chooses the kernels of {}", operation.name), "known: transpose, permute",
           "explain one of these");
  }
  if (arguments.random.empty() && !arguments.seed.empty()) {
    refuse("--seed belongs to --random", "nothing else is drawn", "add --random, or leave it out");
  }
  const bool is_named = !arguments.sizes.empty() || !arguments.types.empty() || !arguments.order.empty() ||
                        !arguments.in_strides.empty() || !arguments.out_strides.empty();
  if (!arguments.random.empty() && is_named) {
    refuse("--random and --size, --type, --order or strides do not go together", "random cases are drawn",
           "leave one out");
  }
  const output_file file(arguments.json_path);
  if (!arguments.random.empty()) return run_random(arguments, operation, file);
  const std::vector<bench_case> cases =
      parse_cases({arguments.sizes, arguments.types, arguments.order, arguments.in_strides, arguments.out_strides},
                  operation.default_size, operation.default_type);
  json results = json::array();
  std::string text;
  for (const device& on : devices_of(arguments)) {
    for (const bench_case& which : cases) {
      const auto problem = problem_of(operation, which);
      const std::vector<candidate> found = problem->candidates(on);
      results.push_back(json_of(operation, which, on, found));
      text += (text.empty() ? "" : "\n") + text_of(operation, *problem, which, on, found);
    }
  }
  json families = json::array();
  for (const kernel_family& each : kernel_families()) families.push_back({{"name", each.name}, {"takes", each.takes}});
  file.write(json_text({{"schema", json_schema}, {"families", families}, {"results", results}}));
  if (!file.is_stdout()) fmt::print("{}", text);
}

}  // namespace

void add_explain_command(command_line& line) {
  command explain = line.add("explain", "Show which kernel would move a shape, and what else");
  const auto to = std::make_shared<explain_arguments>();
  explain.text("operation", to->operation, "transpose (the default) or permute", "OP");
  explain.list("--device", to->devices, "As `twill devices` names it. Default: the first GPU", "NAME");
  explain.list("--size", to->sizes, "As of bench: RxC, BxRxC, or all extents", "RxC");
  explain.text("--order", to->order, "Permutation: which dimension comes where", "I,J,K");
  explain.text("--in-strides", to->in_strides, "As of bench: of the input's dimensions, in elements", "S,T,U");
  explain.text("--out-strides", to->out_strides, "The same of the output, in its order", "S,T,U");
  explain.list("--type", to->types, "As of bench: f32, u8, b12 ...", "TYPE");
  explain.text("--random", to->random, "N random transposes or permutations: kernels chosen and\nplanning time", "N");
  explain.text("--seed", to->seed, "Which random cases. Default: 1", "S");
  explain.path("--json", to->json_path, "Write the same here; - is standard output, and no\ntable");
  explain.footer(
      "Exit code: 0 done, 2 bad usage, 3 it could not run (no such device, full disk),\n"
      "130 interrupted.");
  explain.run([to] { run(*to); });
}

}  // namespace twill::tool
