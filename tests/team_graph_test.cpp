// Global transposes captured in graphs, one for each device, and replayed. Only where a backend records graphs.

#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <twill/cuda.hpp>
#include <twill/hip.hpp>
#include <twill/twill.hpp>

#include "backends/gpu/graph_recorder.hpp"
#include "support/devices.hpp"
#include "support/team_run.hpp"

namespace {

using support::slab_transpose;
using twill::detail::graph_recorder;

twill::stream_ref borrowed(const std::string& backend, const graph_recorder& recorder, int device) {
  if (backend == "cuda") return twill::cuda::borrow(static_cast<CUstream_st*>(recorder.stream()), device);
  return twill::hip::borrow(static_cast<ihipStream_t*>(recorder.stream()), device);
}

/// A recorder for each device, and for each rank the stream of its device's one.
struct recorded_ranks {
  recorded_ranks(const std::string& backend, const std::vector<twill::device>& devices, int size) {
    std::vector<twill::stream_ref> by_device;
    for (const auto& device : devices) {
      const std::string name = device.properties().name;
      const int number = std::stoi(name.substr(name.find(':') + 1));
      recorders.push_back(twill::detail::graph_recorders().at(backend)(number, false));
      by_device.push_back(borrowed(backend, *recorders.back(), number));
    }
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(size); ++rank) {
      streams.push_back(by_device[rank % devices.size()]);
      on.push_back(devices[rank % devices.size()]);
    }
  }

  std::vector<std::unique_ptr<graph_recorder>> recorders;
  std::vector<twill::stream_ref> streams;
  std::vector<twill::device> on;
};

/// NCCL does not end a communicator while a graph has captured its work: the plan's destructor would wait for ever.
struct graphs_before_plan {
  const recorded_ranks& of;
  ~graphs_before_plan() {
    for (const auto& recorder : of.recorders) recorder->forget();
  }
};

void check_captured(recorded_ranks& ranks, const support::redistribution& one, twill::transport via) {
  const auto team = twill::team::of_devices(ranks.on);
  std::vector<std::unique_ptr<support::rank_image>> images;
  std::vector<twill::member_memory> memory;
  for (int rank = 0; rank < one.size; ++rank) {
    images.push_back(
        std::make_unique<support::rank_image>(one, rank, ranks.streams[static_cast<std::size_t>(rank)], 0));
    memory.push_back(images.back()->memory());
  }
  const auto fill = [&] {
    for (std::size_t rank = 0; rank < images.size(); ++rank) images[rank]->fill_output(ranks.streams[rank]);
    for (const auto& stream : ranks.streams) stream.wait();
  };
  const auto right = [&] {
    bool all = true;
    for (std::size_t rank = 0; rank < images.size(); ++rank) all = images[rank]->right(ranks.streams[rank]) && all;
    return all;
  };
  twill::global_options options;
  options.via = via;
  twill::global_transpose plan(team, one.element_bytes, one.shape, memory, options);
  const graphs_before_plan forgets{ranks};
  plan.run(ranks.streams);  // what is loaded at the first launch is loaded
  CHECK(right());
  fill();
  for (const auto& recorder : ranks.recorders) recorder->begin();
  plan.run(ranks.streams);
  for (const auto& recorder : ranks.recorders) recorder->end();
  for (const auto& recorder : ranks.recorders) recorder->prepare();
  CHECK_FALSE(right());  // recorded, not run
  for (int times = 0; times < 3; ++times) {
    fill();
    for (const auto& recorder : ranks.recorders) recorder->replay();
    CHECK(right());
  }
  fill();
  plan.run(ranks.streams);  // beside the graph
  CHECK(right());
}

/// On all devices, one a rank, and, where it `shares` them, on one device of all ranks.
void check_captured(twill::transport via, bool shares) {
  for (const auto& [backend, make] : twill::detail::graph_recorders()) {
    for (const auto& name : support::test_devices()) {
      if (name != backend + ":0") continue;
      CAPTURE(name);
      const auto first = twill::device::open(name);
      const auto all = support::devices_like(first);
      std::vector<recorded_ranks> teams;
      if (shares) teams.emplace_back(backend, std::vector<twill::device>{first}, 2);
      if (all.size() > 1) teams.emplace_back(backend, all, static_cast<int>(all.size()));
      for (auto& ranks : teams) {
        const int size = static_cast<int>(ranks.on.size());
        CAPTURE(ranks.recorders.size());
        check_captured(ranks, slab_transpose(size, 1024, 2048, 4), via);   // one kernel for all peers
        check_captured(ranks, slab_transpose(size, 1031, 1277, 2), via);   // one of misaligned pieces
        check_captured(ranks, slab_transpose(size, 131, 77, 12), via);     // one for each
        check_captured(ranks, slab_transpose(size, 1453, 1451, 12), via);  // large own pieces
      }
    }
  }
}

}  // namespace

TEST_SUITE_BEGIN("team graph");

TEST_CASE("direct is captured and replayed") {
  check_captured(twill::transport::direct, true);
}

TEST_CASE("copy is captured and replayed") {
  check_captured(twill::transport::copy, true);
}

// Asked for by name: it once did not end, and has not run since. A case that waits for a collective cannot be given up
// by itself: start it under a limit of time.
TEST_CASE("nccl is captured and replayed" * doctest::skip(std::getenv("TWILL_TEST_NCCL_GRAPHS") == nullptr)) {
  try {
    check_captured(twill::transport::nccl, false);
  } catch (const twill::error& e) {
    if (e.code() != twill::errc::unsupported) throw;
    MESSAGE(std::string(e.what()));  // the library is not installed
  }
}

TEST_SUITE_END();
