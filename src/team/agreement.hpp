#pragma once

// What the ranks of a plan agree on before anything is made for it.

#include "team/job.hpp"

namespace twill::detail {

/// Collective: the arguments of all ranks, checked one by one and against each other. Throws the same on all ranks:
/// invalid_argument.
team_job agreed_job(const team& on, std::int64_t element_bytes, const global_shape& shape,
                    const std::vector<member_memory>& local, const global_options& options);

}  // namespace twill::detail
