#pragma once

#include <string>
#include <vector>

#include "cases.hpp"
#include "result.hpp"

namespace twill::tool {

/// The fractions of the roof of each kernel and device, by element size and of all.
std::vector<distribution> distributions_of(const std::vector<bench_result>& results);

/// How the results of a set of cases are shown: a line a case, a table with a column a type, figures of a sweep, or a
/// distribution with its worst cases; `regret`: also what the choices of the planner cost.
std::string set_text(const case_set& set, const bench_report& report, bool regret);

/// A sweep as a picture: batched shapes as a map, squares as lines.
std::string sweep_svg(const bench_report& report, const case_set& set);

}  // namespace twill::tool
