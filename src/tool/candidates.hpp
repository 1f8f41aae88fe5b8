#pragma once

// The kernels that the planner chooses from, as rungs of a case.

#include <optional>
#include <string>
#include <vector>

#include <twill/explain.hpp>
#include <twill/ladder/rung.hpp>

#include "problem.hpp"

namespace twill::tool {

/// The cheapest first. Their names live as long as the program.
std::vector<rung> candidate_rungs(const ladder_problem& problem, const device& on);
bool is_candidate(const rung& which);

/// "gather: 64 segments of 256 bytes to ...", or the kernel's name where no more is known before the launch.
std::string plan_text(const candidate& which);

/// The plan of a rung: of the operation itself the cheapest candidate; none where nothing is planned.
std::optional<candidate> plan_of(const ladder_problem& problem, const device& on, const rung& which);

}  // namespace twill::tool
