#pragma once

#include <CLI/CLI.hpp>

namespace twill::tool {

/// `twill profile`
void add_profile_command(CLI::App& app, int& exit_code);

}  // namespace twill::tool
