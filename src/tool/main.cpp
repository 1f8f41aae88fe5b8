// The `twill` command. Exit codes: 0 done, 1 a result was wrong or a device failed, 2 bad usage.

#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <twill/error.hpp>
#include <twill/version.hpp>

#include "bench_command.hpp"
#include "compare_command.hpp"
#include "devices_command.hpp"
#include "profile_command.hpp"

namespace {

constexpr int device_failed = 1;
constexpr int bad_usage = 2;

int complain(const std::string& message, int exit_code) {
  std::string line = message;
  for (char& c : line) {
    if (c == '\n') c = ' ';
  }
  fmt::print(stderr, "twill: {}\n", line);
  return exit_code;
}

/// A fault that work on a device ran into is no fault of the command line.
int exit_code_of(const twill::error& problem) {
  const bool at_work = problem.code() == twill::errc::launch_failed || problem.code() == twill::errc::device_fault;
  return at_work ? device_failed : bad_usage;
}

int run(int argc, char** argv) {
  int exit_code = 0;
  CLI::App app("Memory-bound GPU operations, measured and checked.", "twill");
  app.set_version_flag("--version", std::string("twill ") + twill::version());
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(24);
  twill::tool::add_devices_command(app);
  twill::tool::add_bench_command(app, exit_code);
  twill::tool::add_compare_command(app);
  twill::tool::add_profile_command(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() == 0) return app.exit(problem);
    return complain(fmt::format("command line not understood ({}) see twill --help", problem.what()), bad_usage);
  }
  if (app.get_subcommands().empty()) {
    return complain("no command given (there are: devices, bench, compare, profile) see twill --help", bad_usage);
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    return complain("cannot write to standard output (it is closed or full) see where it goes", bad_usage);
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const twill::error& problem) {
    return complain(problem.what(), exit_code_of(problem));
  } catch (const std::bad_alloc&) {
    return complain("out of memory (the host has too little for this) choose a smaller --size", bad_usage);
  } catch (const std::exception& problem) {
    return complain(fmt::format("stopped ({}) see twill --help", problem.what()), bad_usage);
  }
}
