#pragma once

#include <string>
#include <vector>

#include "profile_result.hpp"

namespace twill::tool {

/// Heat maps as an SVG page: for each launch the banks of shared memory by line of source, and the partitions of global
/// memory by time.
std::string svg_of(const std::vector<profile_result>& results);

}  // namespace twill::tool
