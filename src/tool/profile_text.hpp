#pragma once

#include <string>
#include <vector>

#include "profile_result.hpp"
#include "report.hpp"
#include "source_text.hpp"

namespace twill::tool {

/// "tiled<unsigned int, 32, 8, 1, false>" of what lies in namespaces.
std::string bare_name(const std::string& kernel);

/// "tiled<..>" of it; the same where there are none.
std::string name_without_arguments(const std::string& kernel);

/// A source file as a heading: its path in the repository, and what keeps its lines from being shown.
std::string source_heading(source_text& source, const std::string& file);

/// The launches of a result, each with its lines of source and what they cost.
std::string text_of(const profile_result& result);

/// One line for each result.
std::string summary_of(const std::vector<profile_result>& results);

/// What the predictions for each device were compared with.
std::string comparisons_of(const std::vector<profile_result>& results);

/// {"schema", "results"}
json json_of(const std::vector<profile_result>& results);

}  // namespace twill::tool
