#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "bench_run.hpp"
#include "bench_team.hpp"
#include "commands.hpp"
#include "interrupt.hpp"
#include "output_file.hpp"
#include "report.hpp"
#include "set_text.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

constexpr int most_ranks = 256;  // each is a thread that writes and checks its part

/// The command line as it was written.
struct bench_arguments {
  std::string operation = "transpose";
  std::vector<std::string> devices, kernels, sizes, types, blocks, grid;
  std::string order, in_strides, out_strides, list_path, sweep, random, seed, max_bytes;
  std::string loop = "over";
  std::vector<std::string> transports;
  std::optional<int> reps, ranks, ranks_per_node, blocks_per_peer;
  bool tune = false;
  std::string tuning;
  bool cold = false;
  bool warm = false;
  bool regret = false;
  std::string json_path, csv_path, svg_path, reference_path;
};

/// One line an operation.
std::vector<const ladder_operation*> operations() {
  return {
      &transpose_operation(),      &transpose_in_place_operation(),
      &permute_operation(),        &copy_operation(),
      &fill_operation(),           &reverse_operation(),
      &reduce_operation(),         &reduce_rows_operation(),
      &reduce_columns_operation(), &scan_operation(),
      &scan_rows_operation(),      &increment_operation(),
      &sieve_operation(),
  };
}

/// Refuses options that would be ignored.
void require_one_set(const bench_arguments& a) {
  std::vector<std::string> given;
  const auto add = [&](const char* option, bool is_given) {
    if (is_given) given.emplace_back(option);
  };
  add("--list", !a.list_path.empty());
  add("--grid", !a.grid.empty());
  add("--sweep", !a.sweep.empty());
  add("--random", !a.random.empty());
  const bool is_set = !given.empty();
  add("--size", !a.sizes.empty());
  add("--type", !a.types.empty());
  add("--order", !a.order.empty());
  add("--in-strides", !a.in_strides.empty());
  add("--out-strides", !a.out_strides.empty());
  add("--compare", !a.reference_path.empty());
  if (is_set && !a.reference_path.empty()) {
    refuse(fmt::format("{} and --compare do not go together", given.front()), "--compare is for cases of --size",
           "write --json, and compare the files by twill compare");
  }
  if (is_set && given.size() > 1) {
    refuse(fmt::format("{} do not go together", joined(given, " and ")), "each says which cases to measure",
           "leave all but one out");
  }
  const auto needs = [](const char* option, bool is_given, const char* other, bool has_other) {
    if (is_given && !has_other) {
      refuse(fmt::format("{} means nothing here", option), fmt::format("it belongs to {}", other),
             "leave it out, or add what it belongs to");
    }
  };
  needs("--seed", !a.seed.empty(), "--random", !a.random.empty());
  needs("--regret", a.regret, "--random, --list and --grid", is_set && a.sweep.empty());
  needs("--svg", !a.svg_path.empty(), "--sweep", !a.sweep.empty());
  needs("--max-bytes", !a.max_bytes.empty(), "--random, --grid and --sweep", is_set && a.list_path.empty());
}

case_set cases_of(const bench_arguments& a, const ladder_operation& operation) {
  require_one_set(a);
  const std::int64_t most = a.max_bytes.empty() ? 0 : parse_count("--max-bytes", a.max_bytes, 1, "2^26");
  if (!a.list_path.empty()) return read_cases(a.list_path);
  if (!a.grid.empty()) return grid_cases(operation.name, a.grid, most);
  if (!a.sweep.empty()) return sweep_cases(operation.name, a.sweep, most);
  if (!a.random.empty()) {
    const std::int64_t seed = a.seed.empty() ? 1 : parse_count("--seed", a.seed, 0);
    return random_cases(operation.name, parse_count("--random", a.random, 1), static_cast<std::uint64_t>(seed), most);
  }
  case_set set;
  set.cases = parse_cases({a.sizes, a.types, a.order, a.in_strides, a.out_strides}, operation.default_size,
                          operation.default_type);
  return set;
}

bench_options options_of(const bench_arguments& arguments, const ladder_operation& operation) {
  bench_options options;
  options.devices = arguments.devices;
  options.kernels = arguments.kernels;
  options.regret = arguments.regret;
  if (options.regret && ((operation.name != "transpose" && operation.name != "permute") || !options.kernels.empty())) {
    refuse("--regret means nothing here", "it runs every kernel that the planner chooses from, of transpose or permute",
           "leave it, or --kernel, out");
  }
  if (options.regret) options.kernels = {"tuned"};
  options.set = cases_of(arguments, operation);
  for (const std::string& block : arguments.blocks) options.blocks.push_back(parse_block(block));
  if (arguments.cold && arguments.warm) {
    refuse("--cold and --warm are both given", "each is the opposite of the other", "leave one out");
  }
  options.loops = parse_loop(arguments.loop);
  if (arguments.reps && *arguments.reps < 1) {
    refuse(fmt::format("--reps {} measures nothing", *arguments.reps), "at least one sample is needed",
           "write for example --reps 31");
  }
  const case_layout layout = options.set.layout;
  options.reps = arguments.reps.value_or(layout == case_layout::sweep ? 5 : layout == case_layout::tables ? 31 : 15);
  options.cold = !arguments.warm;
  return options;
}

/// Where what was measured is, and what to do for more.
std::string interruption_text(const bench_arguments& a, const bench_report& report) {
  if (report.results.empty()) return "(nothing was measured until then) run it again";
  std::vector<std::string> kept;
  for (const std::string& path : {a.json_path, a.csv_path, a.svg_path}) {
    if (!path.empty() && path != "/dev/null") kept.push_back(path == "-" ? "standard output" : path);
  }
  if (kept.empty()) return "(what was measured until then is shown, and not kept) add --json FILE to keep it";
  return fmt::format("(what was measured until then is kept in {}) run it again for the rest", joined(kept, " and "));
}

/// Ends as the signal would have, now that what was measured is written.
[[noreturn]] void end_by_signal(int signal, const std::string& text) {
  std::fflush(stdout);
  fmt::print(stderr, "twill: interrupted {}\n", text);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  std::abort();  // not reached
}

team_bench_arguments team_arguments_of(const bench_arguments& a) {
  team_bench_arguments to;
  to.devices = a.devices;
  to.sizes = a.sizes;
  to.types = a.types;
  to.grids = a.grid;
  to.transports = a.transports;
  to.ranks = a.ranks.value_or(0);
  to.reps = a.reps.value_or(15);
  to.ranks_per_node = a.ranks_per_node.value_or(0);
  to.blocks_per_peer = a.blocks_per_peer.value_or(0);
  to.tune = a.tune;
  to.tuning = a.tuning;
  return to;
}

/// Refuses options that would be ignored, and more ranks than one process can be asked for.
void require_team_options(const bench_arguments& a) {
  const std::pair<const char*, bool> others[] = {{"--kernel", !a.kernels.empty()},
                                                 {"--order", !a.order.empty()},
                                                 {"--in-strides", !a.in_strides.empty()},
                                                 {"--out-strides", !a.out_strides.empty()},
                                                 {"--block", !a.blocks.empty()},
                                                 {"--list", !a.list_path.empty()},
                                                 {"--sweep", !a.sweep.empty()},
                                                 {"--random", !a.random.empty()},
                                                 {"--seed", !a.seed.empty()},
                                                 {"--regret", a.regret},
                                                 {"--max-bytes", !a.max_bytes.empty()},
                                                 {"--svg", !a.svg_path.empty()},
                                                 {"--loop", a.loop != "over"},
                                                 {"--cold", a.cold},
                                                 {"--compare", !a.reference_path.empty()},
                                                 {"--warm", a.warm}};
  for (const auto& [option, is_given] : others) {
    if (!is_given) continue;
    refuse(fmt::format("{} means nothing to global-transpose", option), "it has options of its own",
           "see twill bench --help");
  }
  if (a.ranks && (*a.ranks < 1 || *a.ranks > most_ranks)) {
    refuse(fmt::format("--team {} is out of range", *a.ranks), fmt::format("a team has 1 to {} ranks", most_ranks),
           "write for example --team 4");
  }
}

int run_in(const processes& world, const bench_arguments& a, const tool_run& tool) {
  const bool is_first = world.rank() == 0;
  std::optional<output_file> json_file, csv_file;
  world.together([&] {
    json_file.emplace(is_first ? a.json_path : "");
    csv_file.emplace(is_first ? a.csv_path : "");
  });
  bench_report report;
  report.provenance = tool.provenance;
  report.cold = false;
  run_team_bench(world, team_arguments_of(a), report, !is_first || json_file->is_stdout() || csv_file->is_stdout());
  world.together([&] {
    json_file->write(json_text(json_of(report)));
    csv_file->write(csv_text(report));
  });
  const int signal = static_cast<int>(world.largest(interrupted()));  // whichever process had it
  if (report.partial && is_first) end_by_signal(signal, interruption_text(a, report));
  return is_first ? exit_code_of(report.results) : 0;
}

int run_on_team(const bench_arguments& a, tool_run& tool) {
  tool.is_collective = true;
  require_team_options(a);
  require_distinct({{"--json", a.json_path}, {"--csv", a.csv_path}});
  const auto world = all_processes();
  try {
    return run_in(*world, a, tool);
  } catch (const std::exception& problem) {
    world->end_by_error(problem.what());
    throw;
  }
}

/// What a set of cases left out, with the number of cases: tables show it below each.
std::string left_out_text(const std::map<std::string, int>& cases_of) {
  std::string text;
  for (const auto& [why, cases] : cases_of) {
    text += wrapped(fmt::format("{} In {} case{}.", why, cases, cases == 1 ? "" : "s")) + "\n";
  }
  return text;
}

int run(const bench_arguments& arguments, tool_run& tool) {
  if (arguments.operation == "global-transpose") return run_on_team(arguments, tool);
  if (arguments.ranks || arguments.ranks_per_node || arguments.blocks_per_peer || arguments.tune ||
      !arguments.tuning.empty() || !arguments.transports.empty()) {
    refuse("options of a team mean nothing here", "they belong to global-transpose", "leave them out");
  }
  const ladder_operation& operation = operation_named(arguments.operation, {"global-transpose"});
  const bench_options options = options_of(arguments, operation);
  require_distinct({{"--json", arguments.json_path}, {"--csv", arguments.csv_path}, {"--svg", arguments.svg_path}},
                   {{"--list", arguments.list_path}, {"--compare", arguments.reference_path}});
  const output_file json_file(arguments.json_path), csv_file(arguments.csv_path), svg_file(arguments.svg_path);
  std::optional<bench_file> reference;
  if (!arguments.reference_path.empty()) reference = read_bench_file(arguments.reference_path);
  const bench_plan plan = plan_bench(operation, options);

  bench_report report;
  report.provenance = tool.provenance;
  const bool tables = !json_file.is_stdout() && !csv_file.is_stdout() && !svg_file.is_stdout();
  const bool is_set = options.set.layout != case_layout::tables;
  bool first = true;
  std::map<std::string, int> left_out;
  run_bench(plan, options, report, [&](const bench_table& shown) {
    if (is_set) {
      for (const std::string& note : shown.notes) {
        if (note.rfind("Left out:", 0) == 0) ++left_out[note];
      }
    }
    if (!tables || is_set) return;
    fmt::print("{}{}", first ? "" : "\n", table_text(shown, report.results));
    std::fflush(stdout);
    first = false;
  });
  if (options.set.layout == case_layout::random) report.distributions = distributions_of(report.results);
  if (tables && is_set && !report.results.empty())
    fmt::print("{}{}", set_text(options.set, report, options.regret), left_out_text(left_out));
  if (tables && reference) fmt::print("\n{}", beside_reference(report, *reference));
  for (const std::string& note : plan.notes) fmt::print(stderr, "{}\n", note);
  json_file.write(json_text(json_of(report)));
  csv_file.write(csv_text(report));
  if (svg_file.wanted()) svg_file.write(sweep_svg(report, options.set));
  if (report.partial) end_by_signal(interrupted(), interruption_text(arguments, report));
  return exit_code_of(report.results);
}

void add_options(command& bench, bench_arguments& to) {
  bench.text("operation", to.operation,
             "transpose (the default), transpose-in-place,\npermute, copy, fill, reverse, reduce,\n"
             "reduce-rows, reduce-columns, scan, scan-rows,\nincrement, sieve or global-transpose",
             "OP");
  bench.list("--device", to.devices,
             "As `twill devices` names it. Default: the first GPU;\nwithout one, cpu, and simt for correctness",
             "NAME");
  bench.list("--kernel", to.kernels, "Only this rung, and memcpy beside it. Default: all", "NAME");
  bench.list("--size", to.sizes,
             "Rows and columns, N is NxN; BxRxC for B matrices;\na length, 2^22; or all extents of a permutation",
             "RxC");
  bench.text("--order", to.order, "Permutation: which dimension comes where. Default:\nthe other way round", "I,J,K");
  bench.text("--in-strides", to.in_strides,
             "Permutation: strides of the input in elements, one per\ndimension, negative in reverse. Default: packed",
             "S,T,U");
  bench.text("--out-strides", to.out_strides, "The same of the output, in its order", "S,T,U");
  bench.list(
      "--type", to.types,
      "u8 to u64, i8 to i64, f16 bf16 f32 f64 c64 c128,\nb1 to b64 (bytes), as the operation has them.\nDefault: "
      "f32, of sieve i32",
      "TYPE");
  bench.list("--block", to.blocks, "Threads of a block. Default: each rung's own", "XxY");
  bench.text("--loop", to.loop,
             "Repeat by launching again (over the kernel), inside\none launch, or both. Default: over", "over|in|both");
  bench.number("--reps", to.reps,
               "Samples a row; fewer where they take over 2 s.\nDefault: 31, of sets of cases 15 or 5", "N");
  bench.flag("--cold", to.cold, "Cycle through working sets of at least four times\nthe cache. The default");
  bench.flag("--warm", to.warm, "Use one working set again and again");
}

void add_set_options(command& bench, bench_arguments& to) {
  bench.group("Sets of cases, instead of --size and --type");
  bench.path("--list", to.list_path,
             "Cases from a file, a line each: TYPE SIZE[+GAP]\n[ORDER [IN_STRIDES [OUT_STRIDES]]], - for packed.\nGAP: "
             "elements between rows (transpose, scan-rows,\nreduce-rows, reduce-columns)");
  bench.list("--grid", to.grid,
             "Fixed cases: main, odd, batched, strided, small or\nall; of transpose-in-place: in-place", "PART");
  bench.text("--sweep", to.sweep, "Sizes beside one another: batched or square", "NAME");
  bench.text("--random", to.random,
             "N random transposes, permutations, copies, scans of\nrows, or sums of rows or columns", "N");
  bench.flag("--regret", to.regret, "Run all that the planner chooses from, and show what\nits choices cost");
  bench.text("--seed", to.seed, "Which random cases. Default: 1", "S");
  bench.text("--max-bytes", to.max_bytes,
             "Bytes of elements of the largest case. Default: of\nrandom cases 2^29, else any", "N");
  bench.path("--svg", to.svg_path, "Draw the sweep here");
}

void add_team_options(command& bench, bench_arguments& to) {
  bench.group("Of global-transpose, with --grid slab or PxQ");
  bench.number("--team", to.ranks, "Ranks, on the devices in turn. Default: one each;\nunder mpirun one a process",
               "N");
  bench.list("--transport", to.transports,
             "direct, copy, nccl, mixed, mpi (between processes)\nor automatic. Default: direct, copy and\n"
             "nccl, under mpirun mpi too, where they are possible",
             "NAME");
  bench.number("--ranks-per-node", to.ranks_per_node, "Ranks that count as one node. Default: those of a host", "N");
  bench.number("--blocks", to.blocks_per_peer,
               "Blocks of direct that store to each peer. Default: two a\nmultiprocessor in all", "N");
  bench.flag("--tune", to.tune, "Also tune a plan, and show the line that repeats it");
  bench.text("--tuning", to.tuning, "Also a plan as this line of --tune has it", "LINE");
}

void add_files(command& bench, bench_arguments& to) {
  bench.path("--compare", to.reference_path,
             "Show the bandwidths beside those of this file, which\nbench --json wrote or which was published");
  bench.path("--json", to.json_path, "Write the results here; - is standard output, and no\ntables");
  bench.path("--csv", to.csv_path, "The same as comma-separated values");
}

}  // namespace

const ladder_operation& operation_named(const std::string& name, const std::vector<std::string>& others) {
  std::vector<std::string> known;
  for (const ladder_operation* operation : operations()) {
    if (operation->name == name) return *operation;
    known.push_back(operation->name);
  }
  known.insert(known.end(), others.begin(), others.end());
  refuse(fmt::format("no operation \"{}\" to run", name), "known: " + joined(known), "choose one of these");
}

void add_bench_command(command_line& line, tool_run& tool) {
  command bench = line.add("bench", "Measure and check every rung of an operation");
  const auto arguments = std::make_shared<bench_arguments>();
  add_options(bench, *arguments);
  add_files(bench, *arguments);
  add_set_options(bench, *arguments);
  add_team_options(bench, *arguments);
  bench.footer(
      "Options with \"...\" may be given again, or take a list: --size 2048,4096x64.\n"
      "An interrupt (Ctrl-C) shows what was measured, and keeps it in files, marked\n"
      "as partial.\n"
      "Exit code: 0 done, 1 a result was wrong or failed, 2 bad usage, 3 it could not\n"
      "run (no such device, not enough memory, a full disk), 130 interrupted.");
  bench.run([arguments, &tool] { tool.exit_code = run(*arguments, tool); });
}

}  // namespace twill::tool
