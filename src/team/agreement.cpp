#include "agreement.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "backends/error.hpp"
#include "core/arguments.hpp"
#include "core/call.hpp"
#include "team/layout_checks.hpp"
#include "team/tuning.hpp"

namespace twill::detail {
namespace {

// What ranks must agree on, as numbers that are compared one by one.
struct description {
  std::int64_t element_bytes, rank, via, timeout, parts, blocks_per_peer, ranks_per_node;
  std::int64_t extents[most_dims];
  std::int64_t in[3][most_dims], out[3][most_dims];  // parts, order, lds
};

void describe(std::int64_t (&to)[3][most_dims], const team_side& side) {
  std::copy_n(side.parts, most_dims, to[0]);
  std::copy_n(side.order, most_dims, to[1]);
  std::copy_n(side.lds, most_dims, to[2]);
}

description describe(const team_layout& layout, const global_options& options) {
  description d{};
  d.element_bytes = layout.element_bytes;
  d.rank = layout.rank;
  d.via = static_cast<std::int64_t>(options.via);
  d.timeout = options.timeout.count();
  d.parts = options.parts;
  d.blocks_per_peer = options.blocks_per_peer;
  d.ranks_per_node = options.ranks_per_node;
  std::copy_n(layout.extents, most_dims, d.extents);
  describe(d.in, layout.in);
  describe(d.out, layout.out);
  return d;
}

template <class T>
bool equal(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// What two ranks disagree on; "" when on nothing.
std::string difference(const description& a, const description& b) {
  if (a.element_bytes != b.element_bytes) return "the size of an element";
  if (a.rank != b.rank || !equal(a.extents, b.extents)) return "the extents";
  if (!equal(a.in, b.in)) return "the distribution of the input";
  if (!equal(a.out, b.out)) return "the distribution of the output";
  if (a.via != b.via) return "the transport";
  if (a.parts != b.parts) return "the number of parts";
  if (a.blocks_per_peer != b.blocks_per_peer) return "the number of blocks for each peer";
  if (a.ranks_per_node != b.ranks_per_node) return "the number of ranks of a node";
  return a.timeout != b.timeout ? "the timeout" : "";
}

void require_agreement(const std::vector<description>& all) {
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const std::string what = difference(all[0], all[rank]);
    if (what.empty()) continue;
    fail(errc::invalid_argument, "ranks disagree on " + what,
         "rank " + std::to_string(rank) + " has another than rank 0", "give each the same shape and options");
  }
}

// Memory of one local rank, by itself and against that of the others.
void require_valid(const team_job& job, int i) {
  const auto bytes = [&](const team_side& side, int which) {
    return span_of(job.layout, side, job.team->local()[static_cast<std::size_t>(which)]) * job.layout.element_bytes;
  };
  const member_memory& mine = job.memory[static_cast<std::size_t>(i)];
  const named_memory out{"out", mine.out, bytes(job.layout.out, i)};
  require_memory({"in", mine.in, bytes(job.layout.in, i)}, 1);
  require_memory(out, 1);
  const std::size_t scratch_bytes = job.in_place_bytes(i);
  require_scratch(mine.scratch, scratch_bytes, "global_transpose", 1);
  const named_memory scratch{"scratch", mine.scratch.data, static_cast<std::int64_t>(scratch_bytes)};
  for (int k = 0; k < job.team->local_count(); ++k) {
    const member_memory& other = job.memory[static_cast<std::size_t>(k)];
    const named_memory in{k == i ? "in" : "in of another rank", other.in, bytes(job.layout.in, k)};
    const named_memory to{"out of another rank", other.out, bytes(job.layout.out, k)};
    if (k != i || scratch_bytes == 0) require_disjoint(in, out);
    require_disjoint(in, scratch);
    require_disjoint(k == i ? out : to, scratch);
    if (k >= i) continue;
    require_disjoint(to, out);
    const auto its_bytes = static_cast<std::int64_t>(job.in_place_bytes(k));
    require_disjoint({"scratch of another rank", other.scratch.data, its_bytes}, scratch);
  }
}

void take_tuning(team_job& job, const global_options& given) {
  require(given.via == transport::automatic && given.blocks_per_peer == 0 && given.parts == 0,
          "a saved tuning is given beside via, blocks_per_peer or parts", "it names them", "leave them as they are");
  const tuned_choice saved = parse_tuning(job, given.tuning);
  job = with_choice(std::move(job), saved);
  job.options.tuning.clear();
}

}  // namespace

team_job agreed_job(const team& on, std::int64_t element_bytes, const global_shape& shape,
                    const std::vector<member_memory>& local, const global_options& options) {
  team_job job{on.state(), {}, local, options, {}};
  const team_state& members = *job.team;
  std::vector<description> mine(static_cast<std::size_t>(members.local_count()));
  members.together([&](int i) {
    require_enumerator(options.via, transport::mixed, "via");
    require(options.parts >= 0 && options.blocks_per_peer >= 0 && options.ranks_per_node >= 0,
            "parts, blocks_per_peer or ranks_per_node is negative", "0 lets the plan choose", "give a count or 0");
    require(options.timeout.count() > 0, "the timeout is not positive", "ranks never come at once", "give more");
    job.options.timeout = std::min<std::chrono::milliseconds>(options.timeout, std::chrono::hours(87600));  // of clocks
    job.layout = checked_layout(members.size(), element_bytes, shape);
    if (static_cast<int>(local.size()) != members.local_count()) {
      fail(errc::invalid_argument, "memory is not given for each local rank",
           std::to_string(local.size()) + " for " + std::to_string(members.local_count()), "give an entry for each");
    }
    require_valid(job, i);
    job.nodes = nodes_of(members, options.ranks_per_node);
    if (!options.tuning.empty()) take_tuning(job, options);
    mine[static_cast<std::size_t>(i)] = describe(job.layout, job.options);
  });
  require_agreement(members.gather(mine));
  return job;
}

}  // namespace twill::detail
