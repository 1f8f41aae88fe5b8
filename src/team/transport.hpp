#pragma once

// What carries the pieces of a global transpose.

#include <memory>
#include <string>
#include <vector>

#include "team/job.hpp"

namespace twill::detail {

class transport_impl {
 public:
  virtual ~transport_impl() = default;
  /// One run; a stream of each local rank.
  virtual void run(const std::vector<stream_ref>& streams) = 0;
};

/// Collective: why some rank cannot store into the memory of some other that it is connected with; "" when each can.
/// The same on all ranks.
std::string no_direct_reach(const team_job& job);
/// Collective. Throws the same on all ranks.
std::unique_ptr<transport_impl> make_direct(const team_job& job);

/// Collective. Where make_direct is possible. Throws the same on all ranks.
std::unique_ptr<transport_impl> make_copy(const team_job& job);

/// Collective: why the vendor's library of collectives cannot carry it; "" when it can. The same on all ranks.
std::string no_collectives(const team_job& job);
/// Collective. Throws the same on all ranks.
std::unique_ptr<transport_impl> make_collective(const team_job& job);

/// Why messages cannot carry it; "" when they can. The same on all ranks.
std::string no_messages(const team_job& job);
/// Collective. Ranks of a node whose memory the host shares exchange through shared memory where they can map each
/// other's. Throws the same on all ranks.
std::unique_ptr<transport_impl> make_staged(const team_job& job);

/// Collective, for one local rank, whose memory the host shares as it does that of all it is connected with. Throws the
/// same on all ranks: unsupported where they cannot map each other's segments.
std::unique_ptr<transport_impl> make_shared(const team_job& job);

/// Collective: why pieces within nodes or between them cannot be carried; "" when they can. The same on all ranks.
std::string no_mixture(const team_job& job);
/// Collective. Throws the same on all ranks.
std::unique_ptr<transport_impl> make_mixture(const team_job& job);

}  // namespace twill::detail
