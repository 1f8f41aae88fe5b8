#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <twill/device.hpp>

#include "bench_plan.hpp"
#include "candidates.hpp"
#include "commands.hpp"
#include "output_file.hpp"
#include "report.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

/// The command line as it was written.
struct explain_arguments {
  std::string operation = "transpose";
  std::vector<std::string> devices, sizes, types;
  std::string order, json_path;
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
  return {{"op", operation.name},  {"device", on.properties().name}, {"type", which.type.name},
          {"extents", which.size}, {"order", which.order},           {"candidates", list}};
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

void run(const explain_arguments& arguments) {
  const ladder_operation& operation = operation_named(arguments.operation);
  if (operation.name != "transpose" && operation.name != "permute") {
    refuse(fmt::format("no planner chooses the kernels of {}", operation.name), "known: transpose, permute",
           "explain one of these");
  }
  const output_file file(arguments.json_path);
  const std::vector<std::string> sizes =
                                     arguments.sizes.empty() ? std::vector{operation.default_size} : arguments.sizes,
                                 types =
                                     arguments.types.empty() ? std::vector{operation.default_type} : arguments.types;
  const extents order = arguments.order.empty() ? extents{} : parse_order(arguments.order);
  json results = json::array();
  std::string text;
  for (const device& on : devices_of(arguments)) {
    for (const std::string& size : sizes) {
      for (const std::string& type : types) {
        const bench_case which{parse_type(type), parse_size(size), order, 0, ""};
        const auto problem = problem_of(operation, which);
        const std::vector<candidate> found = problem->candidates(on);
        results.push_back(json_of(operation, which, on, found));
        text += (text.empty() ? "" : "\n") + text_of(operation, *problem, which, on, found);
      }
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
  explain.list("--type", to->types, "As of bench: f32, u8, b12 ...", "TYPE");
  explain.path("--json", to->json_path, "Write the same here; - is standard output, and no\ntable");
  explain.run([to] { run(*to); });
}

}  // namespace twill::tool
