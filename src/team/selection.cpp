#include "selection.hpp"

#include <algorithm>
#include <utility>

#include "backends/error.hpp"
#include "backends/peer_access.hpp"
#include "team/plan/choice.hpp"

namespace twill::detail {

std::string no_way(const team_job& job, transport via) {
  switch (via) {
    case transport::direct:
    case transport::copy:
      return no_direct_reach(job);
    case transport::nccl:
      return no_collectives(job);
    case transport::mixed:
      return no_mixture(job);
    default:
      return no_messages(job);
  }
}

namespace {

bool copy_is_cheaper(const team_job& job) {
  if (peer_access_of(*job.team->local_device(0).impl()).is_synchronous()) return false;
  return seconds_of(copy_cost, job.layout, job.nodes) < seconds_of(direct_cost, job.layout, job.nodes);
}

// Several nodes, and one of them with several ranks.
bool has_mixture(const team_job& job) {
  const int last = *std::max_element(job.nodes.begin(), job.nodes.end());
  return last > 0 && last + 1 < job.layout.size;
}

transport chosen(const team_job& job, transport via) {
  if (via != transport::automatic) {
    const std::string why = no_way(job, via);
    if (why.empty()) return via;
    fail(errc::unsupported, std::string("transport ") + name(via) + " does not reach all ranks", why,
         "name another, or automatic");
  }
  std::string reasons;
  for (const transport one : {transport::direct, transport::nccl, transport::mixed, transport::mpi}) {
    if (one == transport::mixed && !has_mixture(job)) continue;
    const std::string why = no_way(job, one);
    if (why.empty()) return one;
    reasons.append(reasons.empty() ? "" : "; ").append(why);
  }
  fail(errc::unsupported, "no transport reaches all ranks", reasons,
       "use devices that reach each other, or a link with messages");
}

}  // namespace

std::unique_ptr<transport_impl> make_transport(const team_job& job, transport via) {
  switch (via) {
    case transport::direct:
      return make_direct(job);
    case transport::copy:
      return make_copy(job);
    case transport::nccl:
      return make_collective(job);
    case transport::mixed:
      return make_mixture(job);
    default:
      return make_staged(job);
  }
}

// Every rank sees the same error: all of them fall back, or none.
made_transport make_cheapest(const team_job& job) {
  if (copy_is_cheaper(job)) {
    try {
      return {transport::copy, make_copy(job)};
    } catch (const error& e) {
      if (e.code() != errc::out_of_memory) throw;
    }
  }
  return {transport::direct, make_direct(job)};
}

made_transport make_chosen(const team_job& job) {
  const transport via = chosen(job, job.options.via);
  if (job.options.via == transport::automatic && via == transport::direct) return make_cheapest(job);
  return {via, make_transport(job, via)};
}

}  // namespace twill::detail
