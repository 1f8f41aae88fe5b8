#pragma once

#include <CLI/CLI.hpp>

namespace twill::tool {

/// Adds `twill compare FILE...`.
void add_compare_command(CLI::App& app);

}  // namespace twill::tool
