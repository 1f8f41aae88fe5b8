#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "result.hpp"

namespace twill::tool {

/// Rows that are shown together.
struct bench_table {
  std::vector<std::string> title;  ///< lines
  std::vector<std::size_t> rows;   ///< places in the report's results
  std::vector<std::string> notes;
  bool timed = true;  ///< false: only right or wrong is shown
};

/// What is wrong with a row that is not valid.
std::string fault_line(const bench_result& row);

/// 0, or 1 where a result is wrong or failed, which is said on stderr.
int exit_code_of(const std::vector<bench_result>& results);

std::string table_text(const bench_table& shown, const std::vector<bench_result>& results);

}  // namespace twill::tool
