#pragma once

// What transports are made for: the layout, the memory, and which ranks they connect.

#include <memory>
#include <vector>

#include <twill/global_transpose.hpp>

#include "team/plan/exchange.hpp"
#include "team/state.hpp"

namespace twill::detail {

/// Which pieces a transport carries.
enum class team_scope { all, within_nodes, between_nodes };

/// Checked, and the same on all ranks but for the memory.
struct team_job {
  std::shared_ptr<team_state> team;
  team_layout layout;
  std::vector<member_memory> memory;  ///< of local ranks; `in` is where the transport reads
  global_options options;             ///< `via` may be automatic, `tuning` is empty
  std::vector<int> nodes;             ///< of each rank, numbered from 0 on by first rank
  team_scope scope = team_scope::all;

  /// Bytes of scratch that local rank `i` needs; 0 where it is not in place.
  std::size_t in_place_bytes(int i) const;
  bool connects(int a, int b) const;
  /// The ranks that `rank` is connected with, itself included where it is; ascending.
  std::vector<int> group_of(int rank) const;
  /// Those of the layout's pieces that are carried, in ring order.
  std::vector<piece> pieces_from(int sender) const;
  std::vector<piece> pieces_to(int receiver) const;
};

/// The same for some of the pieces.
team_job scoped(team_job job, team_scope scope);

/// The node of each rank: its host, or groups of ranks.
std::vector<int> nodes_of(const team_state& team, int ranks_per_node);

}  // namespace twill::detail
