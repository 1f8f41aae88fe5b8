#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <twill/buffer.hpp>
#include <twill/profile.hpp>
#include <twill/simt.hpp>

#include "bench_plan.hpp"
#include "candidates.hpp"
#include "case_runner.hpp"
#include "commands.hpp"
#include "compared_with.hpp"
#include "output_file.hpp"
#include "profile_svg.hpp"
#include "profile_text.hpp"
#include "progress.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

/// The command line as it was written.
struct profile_arguments {
  std::string operation = "transpose";
  std::vector<std::string> devices, kernels, sizes, types, blocks;
  std::string order, in_strides, out_strides, threads, json_path, svg_path;
  bool check = false;
};

bench_options options_of(const profile_arguments& arguments, const ladder_operation& operation) {
  bench_options options;
  options.devices = arguments.devices;
  options.kernels = arguments.kernels;
  options.set.cases =
      parse_cases({arguments.sizes, arguments.types, arguments.order, arguments.in_strides, arguments.out_strides},
                  "1024", operation.default_type);
  for (const std::string& block : arguments.blocks) options.blocks.push_back(parse_block(block));
  options.loops = {loop_kind::over};
  return options;
}

void require_models(const bench_plan& plan) {
  for (const device& on : plan.devices) {
    const auto& properties = on.properties();
    if (properties.backend == "simt" && properties.name != "simt") continue;
    std::vector<std::string> known;
    for (const std::string& name : device::list()) {
      if (name.rfind("simt:", 0) == 0) known.push_back(name);
    }
    refuse(fmt::format("no profile can be taken on {}", properties.name),
           properties.backend == "simt" ? "it is no GPU in particular" : "it is not a simulated device",
           known.empty() ? "build with simt in TWILL_BACKENDS" : "choose one of " + joined(known));
  }
}

// The bench knows rungs that a profile cannot be taken of: what it compares with, and what the CPU runs.
void require_kernels(const bench_plan& plan, const std::vector<std::string>& kernels) {
  std::vector<std::string> known;
  const auto learn = [&](const rung& each) {
    const bool is_new = std::find(known.begin(), known.end(), each.name) == known.end();
    if (is_new && each.name != plan.operation->roof) known.emplace_back(each.name);
  };
  for (const device& on : plan.devices) {
    for (const rung& each : plan.operation->rungs(on)) learn(each);
  }
  for (const planned_case& each : plan.cases) {
    for (const rung& one : candidate_rungs(*each.problem, each.on)) learn(one);
  }
  for (const std::string& kernel : kernels) {
    if (std::find(known.begin(), known.end(), kernel) != known.end()) continue;
    refuse(fmt::format("no profile can be taken of {} {}", plan.operation->name, kernel), "known: " + joined(known),
           "choose one of these with --kernel");
  }
}

// Pseudo-random bytes would cost more than the recording; no kernel's accesses depend on what it moves.
// The rest of the output stays unwritten: a check shall find who reads it.
profile_result profile_of(const planned_case& each, const planned_rung& which, const std::string& operation,
                          const profile_options& options) {
  const stream work(each.on);
  const raw_buffer in(each.on, each.problem->in_bytes()), out(each.on, each.problem->out_bytes());
  fill_bytes(work, in.data(), 0x11, in.size_bytes());
  if (each.problem->in_place()) copy_bytes(work, in.data(), out.data(), in.size_bytes());
  profile_result result{operation,
                        each.on.properties().name,
                        each.on.properties().model,
                        std::string(which.info.name),
                        each.type.name,
                        each.problem->text(),
                        which.block,
                        compared_with_text(each.on),
                        {}};
  result.seen = take_profile(
      each.on,
      [&] {
        each.problem->run(work, which.info, in.data(), out.data(), {which.block, 1});
        work.wait();
      },
      options);
  return result;
}

struct profiles {
  std::vector<profile_result> results;
  std::vector<std::string> notes;  // which rungs are left out, and why
  std::optional<error> refusal;    // of the last of these
  int wrong = 0;
};

// A rung that cannot do what others can is left out; a faulty kernel is reported at once.
void add_profile(const planned_case& each, const planned_rung& which, const std::string& operation,
                 const profile_options& options, profiles& to) {
  try {
    profile_result taken = profile_of(each, which, operation, options);
    if (taken.seen.kernels.empty())
      leave_out(fmt::format("{} cannot be profiled", which.info.name), "it launches no kernel",
                "choose another --kernel, --size or --type");
    to.results.push_back(std::move(taken));
  } catch (const error& e) {
    if (e.code() == errc::unsupported) {
      to.refusal = e;
      return add_note(to.notes, fmt::format("Left out: {}.", e.what()));
    }
    if (e.code() != errc::device_fault) throw;
    ++to.wrong;
    fmt::print(stderr, "WRONG {} {}, {} {} on {}: {}\n", operation, which.info.name, each.problem->text(),
               each.type.name, each.on.properties().name, e.what());
  }
}

profiles run_profiles(const bench_plan& plan, const profile_arguments& arguments) {
  int steps = 0;
  for (const auto& each : plan.cases) {
    for (const auto& shown : each.tables) steps += static_cast<int>(shown.rungs.size());
  }
  profile_options options;
  if (!arguments.threads.empty()) {
    options.most_threads = static_cast<std::uint64_t>(parse_count("--threads", arguments.threads, 1));
  }
  progress bar(steps);
  profiles all;
  for (const auto& each : plan.cases) {
    for (const auto& shown : each.tables) {
      for (const auto& note : shown.notes) add_note(all.notes, note);
      for (const auto& which : shown.rungs) {
        bar.step(fmt::format("{} on {}", which.info.name, each.on.properties().name));
        add_profile(each, which, plan.operation->name, options, all);
      }
    }
  }
  if (all.results.empty() && all.wrong == 0 && all.refusal) throw *all.refusal;
  return all;
}

int run(const profile_arguments& arguments) {
  require_distinct({{"--json", arguments.json_path}, {"--svg", arguments.svg_path}});
  const output_file json_file(arguments.json_path), svg_file(arguments.svg_path);
  if (arguments.devices.empty()) {
    refuse("no device to profile on", "a profile is taken of a simulated one", "write for example --device simt:h200");
  }
  const ladder_operation& operation = operation_named(arguments.operation);
  const bench_plan plan = plan_bench(operation, options_of(arguments, operation));
  require_models(plan);
  require_kernels(plan, arguments.kernels);
  if (arguments.check) {
    for (const device& on : plan.devices) set_checks(on, true);
  }
  const profiles taken = run_profiles(plan, arguments);
  const auto& results = taken.results;
  const int wrong = taken.wrong;
  json_file.write(json_text(json_of(results)));
  if (svg_file.wanted()) svg_file.write(svg_of(results));
  if (json_file.is_stdout() || svg_file.is_stdout()) return wrong == 0 ? 0 : 1;
  for (const auto& result : results) fmt::print("{}\n", text_of(result));
  fmt::print("{}{}", summary_of(results), comparisons_of(results));
  for (const auto& note : taken.notes) fmt::print("{}\n", wrapped(note));
  if (arguments.check) fmt::print("Checked: {} of {} kernels failed.\n", wrong, wrong + results.size());
  return wrong == 0 ? 0 : 1;
}

}  // namespace

void add_profile_command(command_line& line, tool_run& tool) {
  command profile = line.add("profile", "Show how kernels use memory, by line, without a GPU");
  const auto to = std::make_shared<profile_arguments>();
  profile.text("operation", to->operation, "What to profile: an operation of `twill bench`", "OP");
  profile.list("--device", to->devices, "simt:NAME, as `twill devices` names it", "NAME");
  profile.list("--kernel", to->kernels,
               "Only this rung, or this kernel of the planner, as\n`twill explain` lists them. Default: all rungs",
               "NAME");
  profile.list("--size", to->sizes, "Rows and columns, N is NxN. Default: 1024", "RxC");
  profile.text("--order", to->order, "Permutation: which dimension comes where. Default:\nthe other way round",
               "I,J,K");
  profile.text("--in-strides", to->in_strides, "As of `twill bench`", "S,T,U");
  profile.text("--out-strides", to->out_strides, "The same of the output, in its order", "S,T,U");
  profile.list("--type", to->types, "Element types, as of `twill bench`. Default: f32", "TYPE");
  profile.list("--block", to->blocks, "Threads of a block. Default: each rung's own", "XxY");
  profile.text("--threads", to->threads,
               "Record about so many threads of a launch: a sample of\nits blocks. Default: 2^22", "N");
  profile.path("--json", to->json_path, "Write the counts here; - is standard output, and no\ntext");
  profile.path("--svg", to->svg_path, "Draw the load of banks and of partitions here");
  profile.flag(
      "--check", to->check,
      "Check for races, uninitialised reads, misaligned and\nout-of-bounds accesses (not stores past a static\n"
      "__shared__ array)");
  profile.footer(
      "Options with \"...\" may be given again, or take a list: --size 2048,4096x64.\n"
      "Exit code: 0 done, 1 a check found something, 2 bad usage, 3 it could not run\n"
      "(no such device, a full disk), 130 interrupted.");
  profile.run([to, &tool] { tool.exit_code = run(*to); });
}

}  // namespace twill::tool
