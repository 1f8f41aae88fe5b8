// Transport mixed: ranks of one node store into each other's memory, those of different nodes send each other what the
// library of collectives or messages carry, both at once.

#include <string>
#include <vector>

#include <twill/event.hpp>

#include "team/selection.hpp"

namespace twill::detail {
namespace {

transport between_nodes(const team_job& job) {
  return no_collectives(job).empty() ? transport::nccl : transport::mpi;
}

class mixture final : public transport_impl {
 public:
  explicit mixture(const team_job& job) {
    const team_job within = scoped(job, team_scope::within_nodes), between = scoped(job, team_scope::between_nodes);
    within_ = make_cheapest(within).made;
    between_ = make_transport(between, between_nodes(between));
    job.team->together([&](int i) {
      lanes_.emplace_back(job.team->local_device(i));
      along_.emplace_back(lanes_.back().along);
    });
  }

  // Between nodes in a second stream: the host may have to wait there, while the first is full of work.
  void run(const std::vector<stream_ref>& streams) override {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      lanes_[i].begun.record(streams[i]);
      lanes_[i].along.wait(lanes_[i].begun);
    }
    try {
      within_->run(streams);
      between_->run(along_);
    } catch (...) {
      join_after_failure(streams);
      throw;
    }
    for (std::size_t i = 0; i < lanes_.size(); ++i) join(streams, i);
  }

 private:
  void join(const std::vector<stream_ref>& streams, std::size_t i) {
    lanes_[i].done.record(lanes_[i].along);
    streams[i].wait(lanes_[i].done);
  }

  // The caller may reuse the memory once its streams are idle: work that was launched before the failure must be done.
  void join_after_failure(const std::vector<stream_ref>& streams) noexcept {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      try {
        join(streams, i);
      } catch (...) {  // the device has failed; the first error is the one to report
        continue;
      }
    }
  }

  struct lane {
    explicit lane(const device& on) : along(on), begun(on), done(on) {}
    stream along;
    event begun, done;
  };

  std::unique_ptr<transport_impl> within_, between_;
  std::vector<lane> lanes_;  // by local rank
  std::vector<stream_ref> along_;
};

}  // namespace

std::string no_mixture(const team_job& job) {
  std::string why = no_direct_reach(scoped(job, team_scope::within_nodes));
  if (!why.empty()) return why;
  const team_job between = scoped(job, team_scope::between_nodes);
  return no_way(between, between_nodes(between));
}

std::unique_ptr<transport_impl> make_mixture(const team_job& job) {
  return std::make_unique<mixture>(job);
}

}  // namespace twill::detail
