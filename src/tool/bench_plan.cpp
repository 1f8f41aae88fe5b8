#include "bench_plan.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "candidates.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_block(const std::vector<block_shape>& blocks, block_shape wanted) {
  return std::any_of(blocks.begin(), blocks.end(),
                     [&](block_shape each) { return each.x == wanted.x && each.y == wanted.y; });
}

bool takes_block(const rung& which) {
  return which.block.x != 0;
}

/// The path of a datasheet may have commas, at which --device is split: such parts go together again.
std::vector<std::string> with_paths_rejoined(const std::vector<std::string>& names) {
  std::vector<std::string> whole;
  const auto is_datasheet = [](const std::string& name) {
    constexpr std::string_view suffix = ".json";
    return name.size() > suffix.size() && name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
  };
  for (auto name = names.begin(); name != names.end(); ++name) {
    auto last = name;
    while (last != names.end() && name->rfind("simt:", 0) == 0 && !is_datasheet(*last) &&
           (last == name || last->rfind("simt", 0) != 0)) {
      ++last;
    }
    const bool is_path = last != names.end() && last != name && is_datasheet(*last) && last->rfind("simt", 0) != 0;
    whole.push_back(is_path ? joined({name, last + 1}, ",") : *name);
    if (is_path) name = last;
  }
  return whole;
}

std::string cases_text(const bench_plan& plan) {
  const planned_case& first = plan.cases.front();
  const bool is_one = plan.cases.size() == 1;
  return is_one ? fmt::format("{} {} on {}", first.problem->text(), first.type.name, first.on.properties().name)
                : "any of these cases";
}

bool has_planner(const bench_plan& plan) {
  return std::any_of(plan.cases.begin(), plan.cases.end(),
                     [](const planned_case& each) { return !each.problem->candidates(each.on).empty(); });
}

/// Of the kernels of a GPU a planner chooses one; the CPU has one each.
void require_choices(const bench_options& options, const std::vector<device>& devices) {
  for (const device& on : devices) {
    if (!options.regret || on.properties().backend != "cpu") continue;
    refuse("--regret has nothing to compare on cpu", "no planner chooses there: it has one kernel",
           "name a GPU, or a simulated one such as simt:h200, with --device");
  }
}

/// Refuses kernels that are neither rungs nor candidates of any case.
void require_known_kernels(const ladder_operation& operation, const bench_options& options, const bench_plan& plan) {
  std::vector<std::string> known;
  const auto learn = [&](const device& on) {
    for (const rung& each : operation.rungs(on)) {
      if (!contains(known, each.name)) known.emplace_back(each.name);
    }
  };
  std::vector<std::string> devices;
  for (const device& on : plan.devices) {
    learn(on);
    devices.push_back(on.properties().name);
  }
  if (plan.cpu) learn(*plan.cpu);
  for (const planned_case& each : plan.cases) {
    for (const rung& one : candidate_rungs(*each.problem, each.on)) {
      if (!contains(known, one.name)) known.emplace_back(one.name);
    }
  }
  const std::vector<kernel_family> families = kernel_families();
  for (const std::string& kernel : options.kernels) {
    if (contains(known, kernel)) continue;
    const auto one = std::find_if(families.begin(), families.end(), [&](const auto& f) { return f.name == kernel; });
    if (one != families.end() && has_planner(plan)) {
      refuse(fmt::format("kernel \"{}\" cannot move {}", kernel, cases_text(plan)), "it takes " + one->takes,
             "see which can with twill explain");
    }
    refuse(fmt::format("no {} kernel \"{}\" on {}", operation.name, kernel, joined(devices)), "known: " + joined(known),
           "choose one of these with --kernel");
  }
}

/// What is measured on sets of cases unless --kernel says: the operation itself and what is compared with it.
bool is_for_sets(std::string_view op, const rung& which) {
  if (op == "transpose" && which.name == "conflict-free") return true;
  return !which.is_step || which.name == "tuned" || which.name == "cpu-tuned";
}

/// The rungs of a device that are wanted, without its roof, which always runs.
std::vector<rung> wanted_rungs(const ladder_operation& operation, const device& on, const bench_options& options) {
  std::vector<rung> rungs;
  const bool is_set = options.set.layout != case_layout::tables;
  for (const rung& each : operation.rungs(on)) {
    const bool on_request = operation.is_on_request != nullptr && operation.is_on_request(each.name);
    const bool by_default = !on_request && (!is_set || is_for_sets(operation.name, each));
    const bool wanted = options.kernels.empty() ? by_default : contains(options.kernels, each.name);
    if (wanted && each.name != operation.roof) rungs.push_back(each);
  }
  return rungs;
}

std::optional<planned_rung> roof_of(const ladder_operation& operation, const device& on) {
  for (const rung& each : operation.rungs(on)) {
    if (each.name == operation.roof) return planned_rung{each, {}};
  }
  return std::nullopt;
}

planned_table plan_table(const ladder_operation& operation, const device& on, const std::vector<rung>& rungs,
                         const element_type& type, loop_kind loop, std::optional<block_shape> block) {
  planned_table table;
  table.loop = loop;
  table.block = block;
  std::vector<std::string> left_out;
  for (const rung& each : rungs) {
    if (!takes_block(each)) {
      if (loop == loop_kind::over) table.rungs.push_back({each, {}});
      continue;
    }
    const std::vector<block_shape> blocks = operation.blocks(on, each.name, type.bytes);
    const block_shape wanted = block ? *block : each.block;
    if (has_block(blocks, wanted)) {
      table.rungs.push_back({each, wanted});
    } else if (!block && !blocks.empty()) {
      table.rungs.push_back({each, blocks.front()});
    } else {
      left_out.emplace_back(each.name);
    }
  }
  if (!left_out.empty()) {
    const std::string what = block
                                 ? "they do not have block " + block_text(*block)
                                 : fmt::format("{} has no block they can run {} with", on.properties().name, type.name);
    table.notes.push_back(fmt::format("Left out: {} ({}).", joined(left_out), what));
  }
  return table;
}

/// Refuses a block that the device, or every wanted rung on it, does not allow.
void require_block(const ladder_operation& operation, const device& on, const std::vector<rung>& rungs,
                   const element_type& type, block_shape block) {
  const device_properties& properties = on.properties();
  const std::int64_t threads = static_cast<std::int64_t>(block.x) * block.y;
  if (threads > properties.max_threads_per_block) {
    refuse(fmt::format("block {} is too large", block_text(block)),
           fmt::format("it has {} threads; {} allows {} a block", threads, properties.name,
                       properties.max_threads_per_block),
           "choose a smaller --block");
  }
  std::vector<std::string> known;
  for (const rung& each : rungs) {
    for (const block_shape& has : operation.blocks(on, each.name, type.bytes)) {
      if (has.x == block.x && has.y == block.y) return;
      if (!contains(known, block_text(has))) known.push_back(block_text(has));
    }
  }
  refuse(fmt::format("no chosen kernel has block {} for {} on {}", block_text(block), type.name, properties.name),
         known.empty() ? "they take no block" : "known: " + joined(known),
         known.empty() ? "leave --block out" : "choose one of these with --block");
}

std::vector<planned_table> plan_tables(const ladder_operation& operation, const device& on,
                                       const std::vector<rung>& rungs, const element_type& type,
                                       const bench_options& options) {
  if (std::none_of(rungs.begin(), rungs.end(), takes_block)) {
    return {plan_table(operation, on, rungs, type, loop_kind::over, std::nullopt)};
  }
  std::vector<std::optional<block_shape>> blocks(options.blocks.begin(), options.blocks.end());
  if (blocks.empty()) blocks.emplace_back(std::nullopt);
  std::vector<planned_table> tables;
  for (const auto& block : blocks) {
    if (block) require_block(operation, on, rungs, type, *block);
    for (const loop_kind loop : options.loops) {
      tables.push_back(plan_table(operation, on, rungs, type, loop, block));
    }
  }
  return tables;
}

void require_memory(const planned_case& each) {
  if (fits_memory(each.on, *each.problem)) return;
  const double needed = static_cast<double>(each.problem->in_bytes()) + static_cast<double>(each.problem->out_bytes());
  throw error(errc::out_of_memory,
              fmt::format("size {} {} needs {} ({} has {} free) choose a smaller --size or --type",
                          each.problem->text(), each.type.name, bytes_text(needed), each.on.properties().name,
                          bytes_text(static_cast<double>(each.on.memory().free_bytes))));
}

/// The CPU's rungs run beside every other device, unless --kernel leaves them out; not for sets of cases.
void plan_cpu(bench_plan& plan, const bench_options& options) {
  const auto is_cpu = [](const device& on) { return on.properties().name == base_device; };
  if (options.set.layout != case_layout::tables) return;
  if (std::all_of(plan.devices.begin(), plan.devices.end(), is_cpu)) return;
  plan.cpu = device::open(base_device);
  for (const rung& each : wanted_rungs(*plan.operation, *plan.cpu, options)) {
    if (each.name != "memcpy") plan.cpu_rungs.push_back({each, {}});  // the other device has its own
  }
  plan.cpu_roof = roof_of(*plan.operation, *plan.cpu);
}

void require_use_of_block(const bench_plan& plan, const bench_options& options) {
  if (options.blocks.empty()) return;
  for (const planned_case& each : plan.cases) {
    for (const planned_table& table : each.tables) {
      if (table.block) return;
    }
  }
  refuse("--block " + block_text(options.blocks.front()) + " means nothing here", "no chosen kernel takes a block",
         "leave --block out, or choose a GPU or simt with --device");
}

/// Where no kernel takes a block none can repeat inside of a launch: says for which devices --loop is not followed.
void note_loops(bench_plan& plan, const bench_options& options) {
  if (std::find(options.loops.begin(), options.loops.end(), loop_kind::in) == options.loops.end()) return;
  for (const device& on : plan.devices) {
    const auto repeats_inside = [&](const planned_case& each) {
      return each.on.properties().name == on.properties().name &&
             std::any_of(each.tables.begin(), each.tables.end(),
                         [](const planned_table& table) { return table.loop == loop_kind::in; });
    };
    if (std::any_of(plan.cases.begin(), plan.cases.end(), repeats_inside)) continue;
    plan.notes.push_back(fmt::format("On {} no chosen kernel repeats inside of a launch: timed with --loop over.",
                                     on.properties().name));
  }
}

/// A part of the grid has what the memory allows; of cases that the user named, each must fit.
bool skips_large_cases(const bench_options& options) {
  return options.set.layout == case_layout::grid || options.set.layout == case_layout::sweep;
}

/// The candidates of the planner that are wanted. Where --kernel names one that cannot move the case, it is left out.
void add_candidates(planned_case& each, const bench_options& options) {
  if (!options.regret && options.kernels.empty()) return;
  for (const rung& one : candidate_rungs(*each.problem, each.on)) {
    if (options.regret || contains(options.kernels, one.name)) each.tables.front().rungs.push_back({one, {}});
  }
}

void plan_cases(bench_plan& plan, const device& on, const bench_options& options) {
  const ladder_operation& operation = *plan.operation;
  const std::vector<rung> rungs = wanted_rungs(operation, on, options);
  int too_large = 0;
  for (const bench_case& wanted : options.set.cases) {
    planned_case each{on, wanted.type, wanted.part, problem_of(operation, wanted), roof_of(operation, on), {}};
    if (skips_large_cases(options) && !fits_memory(on, *each.problem)) {
      ++too_large;
      continue;
    }
    require_memory(each);
    each.tables = plan_tables(operation, on, rungs, wanted.type, options);
    add_candidates(each, options);
    plan.cases.push_back(std::move(each));
  }
  if (too_large > 0) {
    plan.notes.push_back(
        fmt::format("Left out: {} cases that do not fit the memory of {}.", too_large, on.properties().name));
  }
}

}  // namespace

std::vector<device> open_devices(std::vector<std::string> names) {
  if (names.empty()) {
    names.push_back(device::default_name());
    if (names.front() == base_device) names.push_back("simt");
  }
  std::vector<device> devices;
  std::set<std::string> seen;
  for (const std::string& name : with_paths_rejoined(names)) {
    device on = device::open(name);
    if (seen.insert(on.properties().name).second) devices.push_back(std::move(on));
  }
  return devices;
}

std::unique_ptr<ladder_problem> problem_of(const ladder_operation& operation, const bench_case& wanted) {
  if (!wanted.order.empty() && !operation.has_order) {
    refuse("an order means nothing to " + operation.name, "only permute has one", "leave --order out");
  }
  if ((!wanted.in_strides.empty() || !wanted.out_strides.empty()) && !operation.has_order) {
    refuse("strides mean nothing to " + operation.name, "only permute has them", "leave them out");
  }
  if (wanted.gap > 0 && !operation.has_gap) {
    refuse("a gap means nothing to " + operation.name, "only transpose and scan-rows have one", "leave \"+N\" out");
  }
  return operation.problem(wanted);
}

bool has_clock(const device& on) {
  return on.properties().backend != "simt";
}

bool fits_memory(const device& on, const ladder_problem& problem) {
  const std::size_t free = on.memory().free_bytes;
  return problem.in_bytes() <= free && problem.out_bytes() <= free - problem.in_bytes();
}

bench_plan plan_bench(const ladder_operation& operation, const bench_options& options) {
  bench_plan plan;
  plan.operation = &operation;
  plan.devices = open_devices(options.devices);
  require_choices(options, plan.devices);
  plan_cpu(plan, options);
  for (const auto& [part, count] : options.set.too_large) {
    plan.notes.push_back(fmt::format("Left out: {} of {} with more than --max-bytes.",
                                     count == 1 ? "1 case" : fmt::format("{} cases", count), part));
  }
  for (const device& on : plan.devices) plan_cases(plan, on, options);
  require_known_kernels(operation, options, plan);
  if (plan.cases.empty()) {
    refuse("nothing to measure", "no case is that small, or fits the memory", "give a larger --max-bytes");
  }
  require_use_of_block(plan, options);
  note_loops(plan, options);
  return plan;
}

}  // namespace twill::tool
