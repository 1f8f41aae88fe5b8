#include <twill/global_transpose.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include "backends/error.hpp"
#include "core/arguments.hpp"
#include "core/call.hpp"
#include "team/agreement.hpp"
#include "team/plan/tuning_race.hpp"
#include "team/selection.hpp"
#include "team/tuning.hpp"

namespace twill {
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
    case transport::mixed:
      return "mixed";
  }
  detail::fail_enumerator(static_cast<std::int64_t>(via), "transport");
}

std::size_t global_transpose_scratch_bytes(extent element_bytes, const global_shape& shape, int rank) {
  const std::int64_t elements = part_of(shape.extents, shape.in, rank).elements;
  return detail::in_call("global_transpose", [&] {
    detail::require_element_bytes(element_bytes, detail::largest_element_bytes);
    return static_cast<std::size_t>(
        detail::checked_product(elements, element_bytes, "the size of the part of a rank in bytes"));
  });
}

struct global_transpose::impl {
  // Of a rank that is in place: its input goes to the scratch memory, where the transport reads.
  struct moved_input {
    int i;
    const void* in;
    std::size_t bytes;
  };

  detail::team_job job;
  detail::tuned_choice asked;  // 0 and automatic: free to be tuned
  transport via;
  std::vector<moved_input> moved;
  std::unique_ptr<detail::transport_impl> implementation;
  std::vector<std::int64_t> sent;
  bool failed = false;

  void move_inputs() {
    for (int i = 0; i < job.team->local_count(); ++i) {
      member_memory& mine = job.memory[static_cast<std::size_t>(i)];
      const std::size_t bytes = job.in_place_bytes(i);
      if (bytes == 0) continue;
      moved.push_back({i, mine.in, bytes});
      mine.in = mine.scratch.data;
    }
  }

  void run(const std::vector<stream_ref>& streams) const {
    for (const moved_input& one : moved) {
      const auto at = static_cast<std::size_t>(one.i);
      detail::device_of(streams[at])
          .copy(streams[at].native(), job.memory[at].scratch.data, one.in, one.bytes,
                detail::copy_direction::device_to_device);
    }
    implementation->run(streams);
  }

  void require_streams(const std::vector<stream_ref>& streams) const {
    detail::require(!failed, "the plan has failed before", "ranks may be at different runs", "make a new one");
    const detail::team_state& members = *job.team;
    detail::require(static_cast<int>(streams.size()) == members.local_count(), "streams are not one a local rank",
                    "the plan runs on all of them at once", "give an entry for each");
    for (int i = 0; i < members.local_count(); ++i) {
      const stream_ref& stream = streams[static_cast<std::size_t>(i)];
      detail::device_of(stream);
      detail::require(stream.on() == members.local_device(i), "a stream belongs to another device than its rank",
                      "stream i is for local rank i", "use a stream of the rank's device");
    }
  }

  // Seconds of the median run on each rank.
  std::vector<double> measure(const std::vector<stream_ref>& streams, int runs) const;

  // Of those whose memory all ranks have.
  detail::tuned_choice fastest_of(const std::vector<detail::tuned_choice>& candidates, const detail::team_job& asked,
                                  const std::vector<stream_ref>& streams, int runs);
};

std::vector<double> global_transpose::impl::measure(const std::vector<stream_ref>& streams, int runs) const {
  using clock = std::chrono::steady_clock;
  const auto seconds_of = [&](int times) {
    const auto begin = clock::now();
    for (int n = 0; n < times; ++n) run(streams);
    for (const stream_ref& stream : streams) stream.wait();
    return std::chrono::duration<double>(clock::now() - begin).count() / times;
  };
  double once = 0;
  job.team->together([&](int i) {
    if (i > 0) return;
    seconds_of(1);  // not counted
    once = seconds_of(1);
  });
  const int times = detail::runs_of_a_sample(job.team->gather(std::vector<double>(streams.size(), once)));
  std::vector<double> seconds;
  job.team->together([&](int i) {
    for (int n = 0; i == 0 && n < runs; ++n) seconds.push_back(seconds_of(times));
  });
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return job.team->gather(std::vector<double>(streams.size(), *middle));
}

// In rounds over all candidates, so that what disturbs one for a while disturbs no choice. Of each, the best round.
detail::tuned_choice global_transpose::impl::fastest_of(const std::vector<detail::tuned_choice>& candidates,
                                                        const detail::team_job& plain,
                                                        const std::vector<stream_ref>& streams, int runs) {
  detail::tuning_race race(candidates.size());
  for (int round = 0; round < detail::tuning_rounds; ++round) {
    for (std::size_t at = 0; at < candidates.size(); ++at) {
      if (!race.runs(at)) continue;
      job = with_choice(plain, candidates[at]);
      try {
        implementation = make_transport(job, candidates[at].via);
      } catch (const error& e) {  // the same on all ranks
        if (e.code() != errc::out_of_memory || race.only(at)) throw;
        race.drop(at);
        continue;
      }
      race.add(at, measure(streams, runs));
      implementation.reset();
    }
    race.drop_slow();
  }
  return candidates[race.fastest()];
}

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
    made->move_inputs();
    made->asked = {options.via, options.blocks_per_peer, options.parts};
    auto [via, implementation] = make_chosen(made->job);
    made->via = via;
    made->implementation = std::move(implementation);
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
    plan.require_streams(streams);
    plan.failed = true;
    plan.run(streams);
    plan.failed = false;
  });
}

std::string global_transpose::tune(const std::vector<stream_ref>& streams, int runs) {
  return detail::in_call("global_transpose", [&] {
    impl& plan = get();
    const detail::team_state& members = *plan.job.team;
    members.together([&](int i) {
      plan.require_streams(streams);
      streams[static_cast<std::size_t>(i)].wait();  // runs in flight use what is destroyed below
    });
    const std::vector<int> all_runs = members.gather(std::vector<int>(streams.size(), runs));
    const auto [least, most] = std::minmax_element(all_runs.begin(), all_runs.end());
    detail::require(*least == *most, "ranks disagree on the number of runs", "all run as often", "give each the same");
    detail::require(runs >= 1, "there is no run to measure", "the median of at least one is taken", "give 1 or more");
    plan.failed = true;
    plan.implementation.reset();
    plan.job = with_choice(plan.job, plan.asked);
    const detail::team_job asked = plan.job;
    const detail::tuned_choice best = plan.fastest_of(candidates_of(asked), asked, streams, runs);
    plan.job = with_choice(asked, best);
    plan.implementation = make_transport(plan.job, best.via);
    plan.via = best.via;
    plan.failed = false;
    return text_of(plan.job, best);
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

std::int64_t global_transpose::bytes_sent(int i, int peer) const {
  const impl& plan = get();
  const auto& local = plan.job.team->local();
  detail::require(i >= 0 && i < static_cast<int>(local.size()), "global_transpose: no such local rank",
                  "there is one for each of local_ranks()", "count from 0");
  detail::require(peer >= 0 && peer < plan.job.team->size(), "global_transpose: no such rank",
                  "ranks are those of the team", "count from 0");
  for (const detail::piece& to : pieces_from(plan.job.layout, local[static_cast<std::size_t>(i)])) {
    if (to.peer == peer) return to.bytes;
  }
  return 0;
}

}  // namespace twill
