#pragma once

#include <string>
#include <vector>

#include "bench_file.hpp"
#include "result.hpp"

namespace twill::tool {

/// A table of the bandwidths of `results` beside those of a file, row by row, with how far they are apart and whether
/// they stand in the same order. Rows are the same when operation, kernel, type, size and loop are, and the block where
/// the file names one.
std::string beside_reference(const std::vector<bench_result>& results, const bench_file& reference);

}  // namespace twill::tool
