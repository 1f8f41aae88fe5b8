#include "job.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "team/layout_checks.hpp"

namespace twill::detail {
namespace {

template <class Carried>
std::vector<piece> those(const std::vector<piece>& all, Carried&& carried) {
  std::vector<piece> some;
  std::copy_if(all.begin(), all.end(), std::back_inserter(some), [&](const piece& one) { return carried(one.peer); });
  return some;
}

}  // namespace

std::size_t team_job::in_place_bytes(int i) const {
  const auto at = static_cast<std::size_t>(i);
  const int rank = team->local()[at];
  if (memory[at].in != memory[at].out || span_of(layout, layout.out, rank) == 0) return 0;
  return static_cast<std::size_t>(span_of(layout, layout.in, rank) * layout.element_bytes);
}

bool team_job::connects(int a, int b) const {
  if (scope == team_scope::all) return true;
  const bool one_node = nodes[static_cast<std::size_t>(a)] == nodes[static_cast<std::size_t>(b)];
  return one_node == (scope == team_scope::within_nodes);
}

std::vector<int> team_job::group_of(int rank) const {
  std::vector<int> group;
  for (int peer = 0; peer < layout.size; ++peer) {
    if (connects(rank, peer)) group.push_back(peer);
  }
  return group;
}

std::vector<piece> team_job::pieces_from(int sender) const {
  return those(detail::pieces_from(layout, sender), [&](int peer) { return connects(sender, peer); });
}

std::vector<piece> team_job::pieces_to(int receiver) const {
  return those(detail::pieces_to(layout, receiver), [&](int peer) { return connects(peer, receiver); });
}

team_job scoped(team_job job, team_scope scope) {
  job.scope = scope;
  return job;
}

std::vector<int> nodes_of(const team_state& team, int ranks_per_node) {
  std::vector<int> nodes;
  std::vector<std::string> hosts;
  for (int rank = 0; rank < team.size(); ++rank) {
    if (ranks_per_node > 0) {
      nodes.push_back(rank / ranks_per_node);
      continue;
    }
    const std::string& host = team.members()[static_cast<std::size_t>(rank)].host;
    const auto found = std::find(hosts.begin(), hosts.end(), host);
    nodes.push_back(static_cast<int>(found - hosts.begin()));
    if (found == hosts.end()) hosts.push_back(host);
  }
  return nodes;
}

}  // namespace twill::detail
