// team_bench graph|beside [DEVICE,DEVICE...] [n,n...] [blocks,blocks...]: slab transposes of n x n f32 over the GPUs of
// one process, a line of JSON each.
//
//   graph    runs captured in a graph, and the graph replayed back to back, beside the same runs by host calls
//   beside   by `direct` with each number of blocks for each peer (0: as many as are best), alone, beside a copy in
//            another stream of each device, and in a stream of high priority beside it: what each keeps of its rate
//
// Every output is checked, element by element. Exits with 1 when one is wrong.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <twill/cuda.hpp>
#include <twill/hip.hpp>
#include <twill/twill.hpp>

#include "backends/gpu/graph_recorder.hpp"
#include "support/team_run.hpp"

namespace {

using clock_type = std::chrono::steady_clock;
using twill::detail::graph_recorder;

bool all_right = true;

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream list(text);
  for (std::string one; std::getline(list, one, ',');) all.push_back(one);
  return all;
}

/// A recorder's stream on each device.
struct lanes {
  lanes(const std::vector<twill::device>& devices, bool urgent) {
    for (const auto& device : devices) {
      const std::string backend = device.properties().backend, name = device.properties().name;
      if (twill::detail::graph_recorders().count(backend) == 0) throw std::runtime_error(name + " has no graphs");
      const int number = std::stoi(name.substr(name.find(':') + 1));
      recorders.push_back(twill::detail::graph_recorders().at(backend)(number, urgent));
      void* const native = recorders.back()->stream();
      streams.push_back(backend == "cuda" ? twill::cuda::borrow(static_cast<CUstream_st*>(native), number)
                                          : twill::hip::borrow(static_cast<ihipStream_t*>(native), number));
    }
  }
  void wait() const {
    for (const auto& stream : streams) stream.wait();
  }

  std::vector<std::unique_ptr<graph_recorder>> recorders;
  std::vector<twill::stream_ref> streams;
};

struct images {
  images(const support::redistribution& one, const lanes& on) {
    for (int rank = 0; rank < one.size; ++rank) {
      ranks.push_back(std::make_unique<support::rank_image>(one, rank, on.streams[static_cast<std::size_t>(rank)], 0));
      memory.push_back(ranks.back()->memory());
    }
  }
  void check(const lanes& on) {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
      all_right = ranks[rank]->right(on.streams[rank]) && all_right;
  }

  std::vector<std::unique_ptr<support::rank_image>> ranks;
  std::vector<twill::member_memory> memory;
};

double seconds_since(clock_type::time_point begin) {
  return std::chrono::duration<double>(clock_type::now() - begin).count();
}

/// Median of nine samples of at least 2 ms, for each call.
double time_of(const std::function<void()>& call, const std::function<void()>& wait) {
  const auto seconds_of = [&](int calls) {
    wait();
    const auto begin = clock_type::now();
    for (int i = 0; i < calls; ++i) call();
    wait();
    return seconds_since(begin) / calls;
  };
  seconds_of(1);
  const int calls = std::max(1, static_cast<int>(2e-3 / seconds_of(3)));
  std::vector<double> samples;
  for (int i = 0; i < 9; ++i) samples.push_back(seconds_of(calls));
  std::nth_element(samples.begin(), samples.begin() + 4, samples.end());
  return samples[4];
}

/// Seconds of a run captured `runs` times in one graph for each rank.
double replayed(twill::global_transpose& plan, const lanes& on, int runs) {
  for (const auto& recorder : on.recorders) recorder->begin();
  for (int i = 0; i < runs; ++i) plan.run(on.streams);
  for (const auto& recorder : on.recorders) recorder->end();
  for (const auto& recorder : on.recorders) recorder->prepare();
  const auto replay = [&] {
    for (const auto& recorder : on.recorders) recorder->replay();
  };
  return time_of(replay, [&] { on.wait(); }) / runs;
}

void graphs(const std::vector<twill::device>& devices, std::int64_t n) {
  const lanes on(devices, false);
  const auto one = support::slab_transpose(static_cast<int>(devices.size()), n, n, 4);
  images all(one, on);
  for (const auto via : {twill::transport::direct, twill::transport::copy}) {
    twill::global_options options;
    options.via = via;
    twill::global_transpose plan(twill::team::of_devices(devices), 4, one.shape, all.memory, options);
    const auto sent = static_cast<double>(plan.bytes_sent(0));
    const auto print = [&](const char* how, const std::function<double()>& timed) {
      for (std::size_t rank = 0; rank < all.ranks.size(); ++rank) all.ranks[rank]->fill_output(on.streams[rank]);
      on.wait();
      const double seconds = timed();
      all.check(on);
      std::printf(
          "{\"mode\": \"graph\", \"transport\": \"%s\", \"n\": %lld, \"ranks\": %zu, \"runs\": \"%s\", \"us\": %.2f, "
          "\"gbps\": %.1f}\n",
          name(via), static_cast<long long>(n), devices.size(), how, seconds * 1e6, sent / seconds * 1e-9);
      std::fflush(stdout);
    };
    print("by calls", [&] { return time_of([&] { plan.run(on.streams); }, [&] { on.wait(); }); });
    print("one in a graph", [&] { return replayed(plan, on, 1); });
    print("ten in a graph", [&] { return replayed(plan, on, 10); });
  }
}

/// A copy of a gigabyte on each device, over and over.
class copies {
 public:
  explicit copies(const std::vector<twill::device>& devices) {
    for (const auto& device : devices) {
      streams_.emplace_back(device);
      ins_.emplace_back(device, bytes);
      outs_.emplace_back(device, bytes);
      twill::fill_bytes(streams_.back(), ins_.back().data(), 1, bytes);
    }
    wait();
  }
  void start(int count) const {
    for (int k = 0; k < count; ++k) {
      for (std::size_t i = 0; i < streams_.size(); ++i) {
        twill::copy_bytes(streams_[i], ins_[i].data(), outs_[i].data(), bytes);
      }
    }
  }
  void wait() const {
    for (const auto& stream : streams_) stream.wait();
  }
  static constexpr std::size_t bytes = std::size_t{1} << 30;

 private:
  std::vector<twill::stream> streams_;
  std::vector<twill::raw_buffer> ins_, outs_;
};

/// Whether `other` was still at work when `timed`, which began after it, had ended, and the seconds of `timed`.
struct beside_time {
  double seconds = 0;
  bool overlapped = false;
};

beside_time beside_of(const std::function<void()>& timed, const std::function<void()>& wait,
                      const std::function<void()>& other, const std::function<void()>& wait_other) {
  wait();
  wait_other();
  other();
  const auto begin = clock_type::now();
  timed();
  wait();
  beside_time found;
  found.seconds = seconds_since(begin);
  wait_other();
  found.overlapped = seconds_since(begin) > found.seconds * 1.02;
  return found;
}

void overlap(const std::vector<twill::device>& devices, const support::redistribution& one, images& all, int blocks,
             bool urgent) {
  const lanes on(devices, urgent);
  const copies beside(devices);
  twill::global_options options;
  options.via = twill::transport::direct;
  options.blocks_per_peer = blocks;
  twill::global_transpose plan(twill::team::of_devices(devices), 4, one.shape, all.memory, options);
  const auto wait = [&] { on.wait(); };
  const auto wait_copies = [&] { beside.wait(); };
  const double run = time_of([&] { plan.run(on.streams); }, wait);
  const double copy = time_of([&] { beside.start(1); }, wait_copies);
  // What is timed takes 10 ms alone, the other three times as long: more launches than that a queue would not hold.
  const int runs = std::max(1, static_cast<int>(10e-3 / run)), some = std::max(1, static_cast<int>(10e-3 / copy));
  const auto start_runs = [&](int count) {
    for (int i = 0; i < count; ++i) plan.run(on.streams);
  };
  const beside_time runs_timed =
      beside_of([&] { start_runs(runs); }, wait, [&] { beside.start(3 * some); }, wait_copies);
  const beside_time copies_timed =
      beside_of([&] { beside.start(some); }, wait_copies, [&] { start_runs(3 * runs); }, wait);
  all.check(on);
  const std::int64_t n = one.shape.extents[0];
  const double with_copy = runs_timed.seconds / runs, with_runs = copies_timed.seconds / some;
  const auto sent = static_cast<double>(plan.bytes_sent(0));
  std::printf(
      "{\"mode\": \"beside\", \"n\": %lld, \"ranks\": %zu, \"blocks_per_peer\": %d, \"priority\": \"%s\", "
      "\"exchange_gbps\": %.1f, \"exchange_beside_copy_gbps\": %.1f, \"copy_gbps\": %.0f, "
      "\"copy_beside_exchange_gbps\": %.0f, \"overlapped\": [%s, %s]}\n",
      static_cast<long long>(n), devices.size(), blocks, urgent ? "high" : "equal", sent / run * 1e-9,
      sent / with_copy * 1e-9, 2.0 * copies::bytes / copy * 1e-9, 2.0 * copies::bytes / with_runs * 1e-9,
      runs_timed.overlapped ? "true" : "false", copies_timed.overlapped ? "true" : "false");
  std::fflush(stdout);
}

int run(const std::vector<std::string>& arguments) {
  const auto given = [&](std::size_t i, const char* otherwise) {
    return parts_of(arguments.size() > i ? arguments[i] : otherwise);
  };
  const std::string mode = arguments.empty() ? "" : arguments[0];
  if (mode != "graph" && mode != "beside") throw std::runtime_error("the mode is graph or beside");
  std::vector<twill::device> devices;
  for (const auto& name : given(1, "cuda:0,cuda:1")) devices.push_back(twill::device::open(name));
  for (const auto& n : given(2, mode == "graph" ? "2048,4096,8192" : "8192")) {
    if (mode == "graph") {
      graphs(devices, std::stoll(n));
      continue;
    }
    const lanes setup(devices, false);
    const auto one = support::slab_transpose(static_cast<int>(devices.size()), std::stoll(n), std::stoll(n), 4);
    images all(one, setup);
    for (const auto& blocks : given(3, "0,16,33")) {
      for (const bool urgent : {false, true}) overlap(devices, one, all, std::stoi(blocks), urgent);
    }
  }
  return all_right ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const int code = run({arguments + 1, arguments + count});
    if (code != 0) std::fprintf(stderr, "team_bench: an output is wrong\n");
    return code;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "team_bench: %s\n", e.what());
    return 2;
  }
}
