#pragma once

// What carries the pieces of a global transpose.

#include <memory>
#include <string>
#include <vector>

#include <twill/global_transpose.hpp>

#include "team/plan/layout.hpp"
#include "team/state.hpp"

namespace twill::detail {

/// What every transport is made for: checked, and the same on all ranks but for the memory.
struct team_job {
  std::shared_ptr<team_state> team;
  team_layout layout;
  std::vector<member_memory> memory;  ///< of local ranks
  global_options options;             ///< as given: `via` may be automatic
};

class carrier {
 public:
  virtual ~carrier() = default;
  /// One run; a stream of each local rank.
  virtual void run(const std::vector<stream_ref>& streams) = 0;
};

/// Collective: why some rank cannot store into some other's memory; "" when each can. The same on all ranks.
std::string no_direct_reach(const team_job& job);
/// Collective. Throws the same on all ranks.
std::unique_ptr<carrier> make_direct(const team_job& job);

/// Collective. Where make_direct is possible. Throws the same on all ranks.
std::unique_ptr<carrier> make_pushes(const team_job& job);

/// Collective: why the vendor's library of collectives cannot carry it; "" when it can. The same on all ranks.
std::string no_collectives(const team_job& job);
/// Collective. Throws the same on all ranks.
std::unique_ptr<carrier> make_collective(const team_job& job);

/// Why messages cannot carry it; "" when they can. The same on all ranks.
std::string no_messages(const team_job& job);
/// Collective. Throws the same on all ranks.
std::unique_ptr<carrier> make_staged(const team_job& job);

}  // namespace twill::detail
