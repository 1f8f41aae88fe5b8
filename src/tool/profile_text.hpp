#pragma once

#include <string>
#include <vector>

#include "profile_result.hpp"
#include "report_file.hpp"

namespace twill::tool {

/// "tiled<unsigned int, 32, 8, 1, false>" of what lies in namespaces.
std::string bare_name(const std::string& kernel);

/// The launches of a result, each with its lines of source and what they cost.
std::string text_of(const profile_result& result);

/// One line for each result.
std::string summary_of(const std::vector<profile_result>& results);

/// {"schema", "results"}
json json_of(const std::vector<profile_result>& results);

}  // namespace twill::tool
