#pragma once

// Which transport a plan takes.

#include <memory>
#include <string>

#include "team/transport.hpp"

namespace twill::detail {

/// Collective: why a transport, not `automatic`, cannot carry the job; "" when it can. The same on all ranks.
std::string no_way(const team_job& job, transport via);

/// Collective: a transport made.
std::unique_ptr<carrier> make_carrier(const team_job& job, transport via);

/// Of direct and copy, where both are possible: the one that costs less.
transport cheapest_reaching(const team_job& job);

/// Collective: the transport of the options, or the choice where they name none; sets `via`. Throws the same on all
/// ranks: unsupported.
std::unique_ptr<carrier> make_chosen(const team_job& job, transport& via);

}  // namespace twill::detail
