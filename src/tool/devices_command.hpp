#pragma once

#include <CLI/CLI.hpp>

namespace twill::tool {

/// Adds `twill devices`.
void add_devices_command(CLI::App& app);

}  // namespace twill::tool
