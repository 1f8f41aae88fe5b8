#pragma once

// Which transport a plan takes.

#include <memory>
#include <string>

#include "team/transport.hpp"

namespace twill::detail {

/// Collective: why a transport, not `automatic`, cannot carry the job; "" when it can. The same on all ranks.
std::string no_way(const team_job& job, transport via);

/// Collective: a transport made.
std::unique_ptr<transport_impl> make_transport(const team_job& job, transport via);

struct made_transport {
  transport via;
  std::unique_ptr<transport_impl> made;
};

/// Collective, where direct and copy are possible: the one that costs less, or direct where `copy` is out of memory.
made_transport make_cheapest(const team_job& job);

/// Collective: the transport of the options, or the choice where they name none. Throws the same on all ranks:
/// unsupported.
made_transport make_chosen(const team_job& job);

}  // namespace twill::detail
