#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "ladder_problem.hpp"

namespace twill::tool {

/// The operation that a command line names. Refuses others, with those there are.
const ladder_operation& operation_named(const std::string& name);

/// Adds `twill bench [OP]`. Its exit code, 0 or 1 (a result was wrong), goes to `exit_code`.
void add_bench_command(CLI::App& app, int& exit_code);

}  // namespace twill::tool
