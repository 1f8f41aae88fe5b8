#pragma once

#include <CLI/CLI.hpp>

namespace twill::tool {

/// Adds `twill bench [OP]`. Its exit code, 0 or 1 (a result was wrong), goes to `exit_code`.
void add_bench_command(CLI::App& app, int& exit_code);

}  // namespace twill::tool
