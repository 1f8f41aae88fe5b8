#include "bench_command.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "bench_list.hpp"
#include "bench_run.hpp"
#include "format.hpp"
#include "list_option.hpp"
#include "output_file.hpp"
#include "reference.hpp"
#include "refuse.hpp"
#include "report_file.hpp"

namespace twill::tool {
namespace {

/// The command line as it was written.
struct bench_arguments {
  std::string operation = "transpose";
  std::vector<std::string> devices, kernels, sizes, types, blocks;
  std::string order, list_path;
  std::string loop = "over";
  int reps = 31;
  bool cold = false;
  bool warm = false;
  std::string json_path, csv_path, reference_path;
};

/// One line an operation.
std::vector<const ladder_operation*> operations() {
  return {
      &transpose_operation(),   &transpose_in_place_operation(),
      &permute_operation(),     &copy_operation(),
      &reverse_operation(),     &reduce_operation(),
      &reduce_rows_operation(), &reduce_columns_operation(),
      &scan_operation(),        &increment_operation(),
      &sieve_operation(),
  };
}

bench_options options_of(const bench_arguments& arguments, const ladder_operation& operation) {
  bench_options options;
  options.devices = arguments.devices;
  options.kernels = arguments.kernels;
  for (const std::string& size : arguments.sizes) options.sizes.push_back(parse_size(size));
  if (options.sizes.empty()) options.sizes.push_back(parse_size(operation.default_size));
  for (const std::string& type : arguments.types) options.types.push_back(parse_type(type));
  if (options.types.empty()) options.types.push_back(parse_type(operation.default_type));
  if (!arguments.order.empty()) options.order = parse_order(arguments.order);
  if (!arguments.list_path.empty()) options.list = read_bench_list(arguments.list_path);
  for (const std::string& block : arguments.blocks) options.blocks.push_back(parse_block(block));
  if (arguments.cold && arguments.warm) {
    refuse("--cold and --warm are both given", "each is the opposite of the other", "leave one out");
  }
  options.loops = parse_loop(arguments.loop);
  if (arguments.reps < 1) {
    refuse(fmt::format("--reps {} measures nothing", arguments.reps), "at least one sample is needed",
           "write for example --reps 31");
  }
  options.reps = arguments.reps;
  options.cold = !arguments.warm;
  return options;
}

int run(const bench_arguments& arguments) {
  const ladder_operation& operation = operation_named(arguments.operation);
  const bench_options options = options_of(arguments, operation);
  const output_file json_file(arguments.json_path);
  const output_file csv_file(arguments.csv_path);
  if (json_file.wanted() && arguments.json_path == arguments.csv_path) {
    refuse("--json and --csv name the same file", arguments.json_path, "give each its own");
  }
  std::optional<bench_file> reference;
  if (!arguments.reference_path.empty()) reference = read_bench_file(arguments.reference_path);
  const bench_plan plan = plan_bench(operation, options);

  bench_report report;
  const bool tables = !json_file.is_stdout() && !csv_file.is_stdout(), listed = !options.list.empty();
  bool first = true;
  run_bench(plan, options, report, [&](const bench_table& shown) {
    if (!tables || listed) return;
    fmt::print("{}{}", first ? "" : "\n", table_text(shown, report.results));
    std::fflush(stdout);
    first = false;
  });
  if (tables && listed) fmt::print("{}", list_text(report.results));
  if (tables && reference) fmt::print("\n{}", beside_reference(report.results, *reference));
  json_file.write(json_text(json_of(report)));
  csv_file.write(csv_text(report));

  const auto wrong = std::count_if(report.results.begin(), report.results.end(),
                                   [](const bench_result& result) { return !result.valid; });
  if (wrong == 0) return 0;
  fmt::print(stderr, "twill: {} of {} results wrong (an output was not what its kernel promises) see the rows WRONG\n",
             wrong, report.results.size());
  return 1;
}

// A path that is there: "" would measure for minutes and write nothing.
std::string not_empty(const std::string& path) {
  return path.empty() ? "an empty path (name a file, or -)" : "";
}

void add_options(CLI::App& bench, bench_arguments& to) {
  bench
      .add_option("operation", to.operation,
                  "transpose (the default), transpose-in-place,\npermute, copy, reverse, reduce, reduce-rows,\n"
                  "reduce-columns, scan, increment or sieve")
      ->type_name("OP");
  add_list(bench, "--device", to.devices,
           "As `twill devices` names it. Default: the first GPU;\nwithout one, cpu, and simt for correctness", "NAME");
  add_list(bench, "--kernel", to.kernels, "Only this rung, and memcpy beside it. Default: all", "NAME");
  add_list(bench, "--size", to.sizes, "Rows and columns, N is NxN; BxRxC for B matrices;\nor a length: 2^22", "RxC");
  bench.add_option("--order", to.order, "Permutation: which dimension comes where. Default:\nthe other way round")
      ->type_name("I,J,K")
      ->check(not_empty);
  bench
      .add_option("--list", to.list_path,
                  "Cases from a file, a line each: TYPE SIZE [ORDER].\nPrints a line each, the median and the worst")
      ->type_name("FILE")
      ->check(not_empty);
  add_list(bench, "--type", to.types,
           "u8 to u64, i8 to i64, f16 bf16 f32 f64 c64 c128,\nb1 to b64 (bytes), as the operation has them.\nDefault: "
           "f32, of sieve i32",
           "TYPE");
  add_list(bench, "--block", to.blocks, "Threads of a block. Default: each rung's own", "XxY");
  bench
      .add_option("--loop", to.loop,
                  "Repeat by launching again (over the kernel), inside\none launch, or both. Default: over")
      ->type_name("over|in|both");
  bench.add_option("--reps", to.reps, "Samples a row; fewer where they take over 2 s.\nDefault: 31")->type_name("N");
  bench.add_flag("--cold", to.cold, "Go round working sets of at least four times the\ncache. The default");
  bench.add_flag("--warm", to.warm, "Use one working set again and again");
  bench
      .add_option("--compare", to.reference_path,
                  "Show the bandwidths beside those of this file, which\nbench --json wrote or which was published")
      ->type_name("FILE")
      ->check(not_empty);
  bench.add_option("--json", to.json_path, "Write the results here; - is standard output, and no\ntables")
      ->type_name("FILE")
      ->check(not_empty);
  bench.add_option("--csv", to.csv_path, "The same as comma-separated values")->type_name("FILE")->check(not_empty);
}

}  // namespace

const ladder_operation& operation_named(const std::string& name) {
  std::vector<std::string> known;
  for (const ladder_operation* operation : operations()) {
    if (operation->name == name) return *operation;
    known.push_back(operation->name);
  }
  refuse(fmt::format("no operation \"{}\" to run", name), "known: " + joined(known), "choose one of these");
}

void add_bench_command(CLI::App& app, int& exit_code) {
  CLI::App* bench = app.add_subcommand("bench", "Measure and check every rung of an operation");
  const auto arguments = std::make_shared<bench_arguments>();
  add_options(*bench, *arguments);
  bench->footer(
      "Options with \"...\" may be given again, or take a list: --size 2048,4096x64.\n"
      "Exit code: 0 done, 1 a result was wrong, 2 bad usage.");
  bench->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace twill::tool
