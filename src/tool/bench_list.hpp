#pragma once

#include <string>
#include <vector>

#include "bench_options.hpp"
#include "result.hpp"

namespace twill::tool {

/// Reads a file of cases, a line each: TYPE SIZE [ORDER], such as "f32 64x3x224x224 0,2,3,1". Empty lines and what
/// follows a # are left out. Refuses, naming the line, what is anything else.
std::vector<listed_case> read_bench_list(const std::string& path);

/// A line a case and kernel, then for each kernel and device the median and the worst share of the roof.
std::string list_text(const std::vector<bench_result>& results);

}  // namespace twill::tool
