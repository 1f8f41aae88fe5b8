#pragma once

// The commands of the tool.

#include <string>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "report.hpp"

namespace twill::tool {

/// One run of the tool: what it was called with, and what it returns.
struct tool_run {
  std::vector<std::pair<std::string, std::string>> provenance;
  int exit_code = 0;
  bool is_collective = false;  ///< all processes of mpirun throw the same; the first one reports it
};

/// Each adds `twill NAME` to the command line; the exit codes 0 and 1 go to `run`.
void add_bench_command(command_line& line, tool_run& run);
void add_compare_command(command_line& line, tool_run& run);
void add_devices_command(command_line& line);
void add_explain_command(command_line& line);
void add_profile_command(command_line& line, tool_run& run);

/// A table of the bandwidths of a report beside those of a file, row by row, with their ratio and whether they stand in
/// the same order. Rows are the same when operation, kernel, type, problem and loop are, and the block where the file
/// names one; those of cpu are beside those of cpu.
std::string beside_reference(const bench_report& report, const bench_file& reference);

}  // namespace twill::tool
