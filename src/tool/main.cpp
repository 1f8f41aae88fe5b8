// The `twill` command. Exit codes: 0 done, 1 a result was wrong or a device failed, 2 bad usage, 3 it could not run,
// 130 interrupted.

#include <cctype>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include <fmt/core.h>

#include <twill/error.hpp>

#include "commands.hpp"
#include "interrupt.hpp"
#include "output_file.hpp"
#include "processes.hpp"

namespace {

constexpr int device_failed = 1;
constexpr int bad_usage = 2;
constexpr int cannot_run = 3;

int print_error(const std::string& message, int exit_code) {
  std::string line = message;
  for (char& c : line) {
    if (c == '\n') c = ' ';
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = '?';  // of a file that is no text
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

int run(int argc, char** argv, twill::tool::tool_run& tool) {
  tool.provenance = twill::tool::provenance_of(argc, argv);
  twill::tool::command_line line;
  twill::tool::add_devices_command(line);
  twill::tool::add_bench_command(line, tool);
  twill::tool::add_compare_command(line, tool);
  twill::tool::add_explain_command(line);
  twill::tool::add_profile_command(line, tool);
  if (const auto done = line.run(argc, argv)) return *done;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    return print_error("cannot write to standard output (it is closed or full) see where it goes", cannot_run);
  return tool.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  twill::tool::tool_run tool;
  if (twill::tool::launched_rank() == 0) twill::tool::say_interrupts();  // a launcher ends the others when one stops
  try {
    return run(argc, argv, tool);
  } catch (const twill::error& problem) {
    // The first process reports what all throw. Others end well: a launcher would kill it for them.
    if (tool.is_collective && twill::tool::launched_rank() > 0) return 0;
    return print_error(problem.what(), exit_code_of(problem));
  } catch (const std::bad_alloc&) {
    return print_error("out of memory (the host has too little for this) choose a smaller --size", cannot_run);
  } catch (const twill::tool::write_error& problem) {
    return print_error(problem.what(), cannot_run);
  } catch (const std::exception& problem) {
    return print_error(fmt::format("stopped ({}) see twill --help", problem.what()), bad_usage);
  }
}
