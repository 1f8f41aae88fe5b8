#pragma once

// What `tune` varies, measures and writes down.

#include <string>
#include <vector>

#include "team/transport.hpp"

namespace twill::detail {

/// What a plan can be made with.
struct tuned_choice {
  transport via;
  int blocks_per_peer, parts;
};

/// `job.options` of another choice.
team_job with_choice(team_job job, const tuned_choice& one);

/// A line that says the choice and what it was measured for.
std::string text_of(const team_job& job, const tuned_choice& one);

/// What such a line says. Throws: invalid_argument where it is none, or was measured for something else than the job.
tuned_choice parse_tuning(const team_job& job, const std::string& line);

/// Collective: what can be measured for the job, whose options are as given: at least one. The same on all ranks.
std::vector<tuned_choice> candidates_of(const team_job& job);

}  // namespace twill::detail
