#include <twill/global_transpose.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "backends/error.hpp"
#include "backends/peer_access.hpp"
#include "core/arguments.hpp"
#include "core/call.hpp"
#include "team/layout_checks.hpp"
#include "team/plan/choice.hpp"
#include "team/plan/exchange.hpp"
#include "team/transport.hpp"

namespace twill {
namespace detail {
namespace {

// What ranks must agree on, as numbers that are compared one by one.
struct description {
  std::int64_t element_bytes, rank, via, timeout, parts;
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
  for (int k = 0; k < job.team->local_count(); ++k) {
    const member_memory& other = job.memory[static_cast<std::size_t>(k)];
    require_disjoint({k == i ? "in" : "in of another rank", other.in, bytes(job.layout.in, k)}, out);
    if (k < i) require_disjoint({"out of another rank", other.out, bytes(job.layout.out, k)}, out);
  }
}

team_job agreed_job(const team& on, std::int64_t element_bytes, const global_shape& shape,
                    const std::vector<member_memory>& local, const global_options& options) {
  team_job job{on.state(), {}, local, options};
  const team_state& members = *job.team;
  std::vector<description> mine(static_cast<std::size_t>(members.local_count()));
  members.together([&](int i) {
    require_enumerator(options.via, transport::nccl, "via");
    require(options.parts >= 0 && options.blocks_per_peer >= 0, "parts or blocks_per_peer is negative",
            "0 lets the plan choose", "give a count or 0");
    require(options.timeout.count() > 0, "the timeout is not positive", "ranks never come at once", "give more");
    job.layout = checked_layout(members.size(), element_bytes, shape);
    if (static_cast<int>(local.size()) != members.local_count()) {
      fail(errc::invalid_argument, "memory is not given for each local rank",
           std::to_string(local.size()) + " for " + std::to_string(members.local_count()), "give an entry for each");
    }
    require_valid(job, i);
    mine[static_cast<std::size_t>(i)] = describe(job.layout, options);
  });
  require_agreement(members.gather(mine));
  return job;
}

// Why a transport cannot carry it.
std::string no_way(const team_job& job, transport via) {
  switch (via) {
    case transport::direct:
    case transport::copy:
      return no_direct_reach(job);
    case transport::nccl:
      return no_collectives(job);
    default:
      return no_messages(job);
  }
}

transport cheapest_reaching(const team_job& job) {
  if (peer_access_of(*job.team->local_device(0).impl()).is_synchronous()) return transport::direct;
  const bool copies = seconds_of(copy_cost, job.layout) < seconds_of(direct_cost, job.layout);
  return copies ? transport::copy : transport::direct;
}

transport chosen(const team_job& job, transport via) {
  if (via != transport::automatic) {
    const std::string why = no_way(job, via);
    if (why.empty()) return via;
    fail(errc::unsupported, std::string("transport ") + name(via) + " does not reach all ranks", why,
         "name another, or automatic");
  }
  std::string reasons;
  for (const transport one : {transport::direct, transport::nccl, transport::mpi}) {
    const std::string why = no_way(job, one);
    if (why.empty()) return one == transport::direct ? cheapest_reaching(job) : one;
    reasons.append(reasons.empty() ? "" : "; ").append(why);
  }
  fail(errc::unsupported, "no transport reaches all ranks", reasons,
       "use devices that reach each other, or a link with messages");
}

std::unique_ptr<carrier> make_carrier(const team_job& job, transport via) {
  switch (via) {
    case transport::direct:
      return make_direct(job);
    case transport::copy:
      return make_pushes(job);
    case transport::nccl:
      return make_collective(job);
    default:
      return make_staged(job);
  }
}

// `copy` needs scratch memory: without it the free choice is `direct`. Every rank sees the same error.
std::unique_ptr<carrier> carrier_of(const team_job& job, transport& via) {
  try {
    return make_carrier(job, via);
  } catch (const error& e) {
    if (job.options.via != transport::automatic || via != transport::copy || e.code() != errc::out_of_memory) throw;
    via = transport::direct;
    return make_direct(job);
  }
}

}  // namespace
}  // namespace detail

const char* name(transport via) {
  switch (via) {
    case transport::automatic:
      return "automatic";
    case transport::direct:
      return "direct";
    case transport::mpi:
      return "mpi";
    case transport::copy:
      return "copy";
    case transport::nccl:
      return "nccl";
  }
  detail::fail_enumerator(static_cast<std::int64_t>(via), "transport");
}

struct global_transpose::impl {
  detail::team_job job;
  transport via;
  std::unique_ptr<detail::carrier> carrier;
  std::vector<std::int64_t> sent;
  bool failed = false;
};

global_transpose::global_transpose() noexcept = default;
global_transpose::~global_transpose() = default;
global_transpose::global_transpose(global_transpose&& other) noexcept = default;
global_transpose& global_transpose::operator=(global_transpose&& other) noexcept = default;

global_transpose::global_transpose(const team& on, extent element_bytes, const global_shape& shape,
                                   const std::vector<member_memory>& local, const global_options& options) {
  detail::in_call("global_transpose", [&] {
    on.state();
    auto made = std::make_unique<impl>();
    made->job = detail::agreed_job(on, element_bytes, shape, local, options);
    made->via = detail::chosen(made->job, options.via);
    made->carrier = detail::carrier_of(made->job, made->via);
    for (const int rank : made->job.team->local()) {
      std::int64_t sent = 0;
      for (const detail::piece& to : pieces_from(made->job.layout, rank)) sent += to.peer == rank ? 0 : to.bytes;
      made->sent.push_back(sent);
    }
    impl_ = std::move(made);
  });
}

global_transpose::impl& global_transpose::get() const {
  if (impl_ == nullptr) detail::fail_empty("the plan");
  return *impl_;
}

void global_transpose::run(const std::vector<stream_ref>& streams) {
  detail::in_call("global_transpose", [&] {
    impl& plan = get();
    detail::require(!plan.failed, "the plan has failed before", "ranks may be at different runs", "make a new one");
    const detail::team_state& members = *plan.job.team;
    detail::require(static_cast<int>(streams.size()) == members.local_count(), "streams are not one a local rank",
                    "the plan runs on all of them at once", "give an entry for each");
    for (int i = 0; i < members.local_count(); ++i) {
      const stream_ref& stream = streams[static_cast<std::size_t>(i)];
      detail::device_of(stream);
      detail::require(stream.on() == members.local_device(i), "a stream belongs to another device than its rank",
                      "stream i is for local rank i", "use a stream of the rank's device");
    }
    plan.failed = true;
    plan.carrier->run(streams);
    plan.failed = false;
  });
}

transport global_transpose::via() const {
  return get().via;
}

std::int64_t global_transpose::bytes_sent(int i) const {
  const impl& plan = get();
  detail::require(i >= 0 && i < static_cast<int>(plan.sent.size()), "global_transpose: no such local rank",
                  "there is one for each of local_ranks()", "count from 0");
  return plan.sent[static_cast<std::size_t>(i)];
}

}  // namespace twill
