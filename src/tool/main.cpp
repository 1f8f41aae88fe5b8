// The `twill` command. Exit codes: 0 done, 1 a result was wrong or a device failed, 2 bad usage, 3 it could not run.

#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <twill/error.hpp>
#include <twill/version.hpp>

#include "commands.hpp"

namespace {

constexpr int device_failed = 1;
constexpr int bad_usage = 2;
constexpr int cannot_run = 3;

int complain(const std::string& message, int exit_code) {
  std::string line = message;
  for (char& c : line) {
    if (c == '\n') c = ' ';
  }
  fmt::print(stderr, "twill: {}\n", line);
  return exit_code;
}

int exit_code_of(const twill::error& problem) {
  switch (problem.code()) {
    case twill::errc::launch_failed:
    case twill::errc::device_fault:
      return device_failed;
    case twill::errc::no_device:
    case twill::errc::out_of_memory:
      return cannot_run;
    default:
      return bad_usage;
  }
}

int run(int argc, char** argv) {
  twill::tool::tool_run tool{twill::tool::provenance_of(argc, argv), 0};
  CLI::App app("Memory-bound GPU operations, measured and checked.", "twill");
  app.set_version_flag("--version", std::string("twill ") + twill::version());
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(24);
  twill::tool::add_devices_command(app);
  twill::tool::add_bench_command(app, tool);
  twill::tool::add_compare_command(app);
  twill::tool::add_profile_command(app, tool);
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
  return tool.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const twill::error& problem) {
    return complain(problem.what(), exit_code_of(problem));
  } catch (const std::bad_alloc&) {
    return complain("out of memory (the host has too little for this) choose a smaller --size", cannot_run);
  } catch (const std::exception& problem) {
    return complain(fmt::format("stopped ({}) see twill --help", problem.what()), bad_usage);
  }
}
