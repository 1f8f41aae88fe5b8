#pragma once

#include <CLI/CLI.hpp>

namespace twill::tool {

/// `twill profile`
void add_profile_command(CLI::App& app);

}  // namespace twill::tool
