// Faults planted between ranks that share memory, each a stream of one simulated device, which its checks find; and
// plans that are right.

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <twill/twill.hpp>

#include "support/cases.hpp"
#include "support/dice.hpp"
#include "support/mirror_link.hpp"
#include "support/redistribution.hpp"
#include "support/simt_launch.hpp"
#include "team/gpu/operations.hpp"

namespace twill::simt {
namespace {

constexpr int store_line = __LINE__ + 2;
__global__ void store_range(int* out, int first) {
  out[first + static_cast<int>(threadIdx.x)] = first;
}

constexpr int load_line = __LINE__ + 2;
__global__ void load_range(int* out, const int* in) {
  out[threadIdx.x] = in[threadIdx.x];
}

}  // namespace
}  // namespace twill::simt

namespace {

namespace simt = twill::simt;
using support::contains;
using twill::detail::handshake_phase;

constexpr int most = 64;  // elements of a rank's output

/// Two ranks of one device, each with an output and counters that the other stores into.
class two_ranks {
 public:
  two_ranks() : gpu_(checked()) {
    for (int rank = 0; rank < 2; ++rank) {
      streams_.emplace_back(gpu_);
      outs_.emplace_back(gpu_, most);
      counters_.emplace_back(gpu_, static_cast<std::size_t>(twill::detail::counters_of(2)));
    }
    const std::vector<std::uint64_t*> where{counters_[0].data(), counters_[1].data()};
    table_ = twill::buffer<std::uint64_t>(gpu_, 2);
    twill::upload_bytes(streams_[0], where.data(), table_.data(), table_.size_bytes());
    for (int rank = 0; rank < 2; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      twill::fill_bytes(streams_[0], counters_[at].data(), 0, counters_[at].size_bytes());
      auto* const peers = reinterpret_cast<std::uint64_t* const*>(table_.data());
      with_.push_back({counters_[at].data(), peers, rank, 2});
    }
    streams_[0].wait();
  }

  const twill::device& gpu() const { return gpu_; }
  twill::stream_ref stream(int rank) const { return streams_[static_cast<std::size_t>(rank)]; }
  int* out(int rank) { return outs_[static_cast<std::size_t>(rank)].data(); }
  const twill::detail::handshake& with(int rank) const { return with_[static_cast<std::size_t>(rank)]; }
  twill::detail::work_queue queue(int rank) const { return {gpu_.impl().get(), stream(rank).native()}; }

  void signal(int rank, handshake_phase phase) const { simt::signal(queue(rank), with(rank), phase); }
  void await(int rank, handshake_phase phase) const { simt::await(queue(rank), with(rank), phase, patience); }
  void both(handshake_phase phase) const {
    for (const int rank : {0, 1}) signal(rank, phase);
    for (const int rank : {0, 1}) await(rank, phase);
  }

  /// `threads` elements of the output of `peer`, from `first` on.
  void store(int rank, int peer, int first, unsigned threads = 32) {
    support::launch(stream(rank), support::line(1, threads), &simt::store_range, out(peer), first);
  }
  void load(int rank, int* to) {
    support::launch(stream(rank), support::line(1, 32), &simt::load_range, to, out(rank));
  }

  /// The fault of each rank; "" for none.
  std::vector<std::string> faults() const {
    std::vector<std::string> all;
    for (const auto& one : streams_) all.push_back(support::error_of([&] { one.wait(); }));
    return all;
  }

  static constexpr std::uint64_t patience = 10'000'000'000;

 private:
  static twill::device checked() {
    auto gpu = twill::device::open("simt");
    twill::set_checks(gpu, true);
    return gpu;
  }

  twill::device gpu_;
  std::vector<twill::stream> streams_;
  std::vector<twill::buffer<int>> outs_;
  std::vector<twill::buffer<std::uint64_t>> counters_;
  twill::buffer<std::uint64_t> table_;
  std::vector<twill::detail::handshake> with_;
};

const std::vector<std::string> none(2);

std::string at(int line) {
  return " at simt_team_test.cpp:" + std::to_string(line);
}

/// A matrix of 64 x 32 floats that is transposed into half of the peer's output, from element `first` of its rows on.
twill::detail::exchange_piece half(const float* in, float* out, int first, int peer) {
  twill::detail::transpose_args move{};
  move.in = in;
  move.out = out + first;
  move.rows = 64;
  move.cols = 32;
  move.batch = 1;
  move.in_ld = 32;
  move.out_ld = 128;
  move.element_bytes = sizeof(float);
  return {move, peer};
}

}  // namespace

TEST_SUITE_BEGIN("simt teams" * doctest::skip(TWILL_SANITIZED));

TEST_CASE("two ranks that store to the same element of a peer") {
  two_ranks team;
  team.both(handshake_phase::ready);
  team.store(0, 0, 0);
  team.store(1, 0, 32);
  team.both(handshake_phase::done);
  CHECK(team.faults() == none);
  team.both(handshake_phase::ready);
  team.store(0, 0, 0);
  team.store(1, 0, 31);
  const auto found = team.faults();
  CHECK(found[0].empty());
  CAPTURE(found[1]);
  CHECK(
      contains(found[1], "device_fault: stream::wait: kernel twill::simt::(anonymous namespace)::store_range failed"));
  CHECK(contains(found[1], "race between streams: thread (0,0,0) stores 4 bytes" + at(simt::store_line)));
  CHECK(contains(found[1], "which kernel twill::simt::(anonymous namespace)::store_range stored in another stream"));
}

TEST_CASE("a read of a peer's data before the handshake") {
  two_ranks team;
  twill::buffer<int> copy(team.gpu(), most);
  team.both(handshake_phase::ready);
  team.store(1, 0, 0);
  team.both(handshake_phase::done);
  team.load(0, copy.data());
  CHECK(team.faults() == none);

  team.both(handshake_phase::ready);
  team.store(1, 0, 0);
  team.signal(0, handshake_phase::done);
  team.signal(1, handshake_phase::done);
  team.load(0, copy.data());  // without the wait
  const auto found = team.faults();
  CAPTURE(found[0]);
  CHECK(contains(found[0], "race between streams: thread (0,0,0) loads 4 bytes" + at(simt::load_line)));
  CHECK(found[1].empty());
}

TEST_CASE("a store to a peer that is not ready") {
  two_ranks team;
  twill::buffer<int> copy(team.gpu(), most);
  const auto run = [&](bool waits) {
    team.load(0, copy.data());  // what the run before has left
    for (const int rank : {0, 1}) team.signal(rank, handshake_phase::ready);
    if (waits) team.await(1, handshake_phase::ready);
    team.store(1, 0, 0);
  };
  team.store(0, 0, 0);
  run(true);
  CHECK(team.faults() == none);
  run(false);
  const auto found = team.faults();
  CAPTURE(found[1]);
  CHECK(contains(found[1], "load_range loaded in another stream"));
}

TEST_CASE("what orders streams, and what does not") {
  two_ranks team;
  twill::buffer<int> copy(team.gpu(), most);
  twill::event done(team.gpu());
  const auto found_by = [&](const std::function<void()>& between) {
    team.store(1, 0, 0);
    between();
    team.load(0, copy.data());
    return team.faults()[0];
  };
  CHECK(contains(found_by([] {}), "race between streams"));
  CHECK(found_by([&] {
          done.record(team.stream(1));
          team.stream(0).wait(done);
        }).empty());
  CHECK(contains(found_by([&] { team.stream(0).wait(done); }), "race between streams"));  // of a run before
  CHECK(found_by([&] { team.stream(1).wait(); }).empty());
  CHECK(found_by([&] {
          done.record(team.stream(1));
          done.wait();
        }).empty());
  CHECK(contains(found_by([&] { team.stream(0).wait(); }), "race between streams"));
  // Host calls too.
  team.store(1, 0, 0);
  twill::fill_bytes(team.stream(0), team.out(0), 0, most);
  CHECK(contains(team.faults()[0], "race between streams: a fill stores what kernel"));
  team.store(1, 0, 0);
  twill::copy_bytes(team.stream(0), team.out(0), copy.data(), most);
  CHECK(contains(team.faults()[0], "race between streams: a copy loads what kernel"));
}

TEST_CASE("the kernel of exchanges with a piece at a wrong offset") {
  two_ranks team;
  const auto run = [&](int offset) {
    twill::buffer<float> in(team.gpu(), 64 * 32), out(team.gpu(), 32 * 128);
    twill::fill_bytes(team.stream(0), in.data(), 1, in.size_bytes());
    team.stream(0).wait();
    team.both(handshake_phase::ready);
    for (const int rank : {0, 1}) {
      const auto piece = half(in.data(), out.data(), rank == 0 ? 0 : offset, 0);
      simt::exchange(team.queue(rank), {&piece, 1, true, team.with(rank), 1, two_ranks::patience});
    }
    team.both(handshake_phase::done);
    const auto faults = team.faults();
    return std::make_pair(faults[0] + faults[1], twill::unwritten_bytes(team.gpu(), out.data(), out.size_bytes()));
  };
  const auto right = run(64);
  CHECK(right.first.empty());
  CHECK(right.second == 0);
  const auto overlapping = run(60);
  CHECK(contains(overlapping.first, "race between streams"));
  CHECK(overlapping.second > 0);
}

TEST_CASE("an element of the output that is never written") {
  two_ranks team;
  twill::buffer<int> out(team.gpu(), most);
  CHECK(twill::unwritten_bytes(team.gpu(), out.data(), out.size_bytes()) == most * sizeof(int));
  support::launch(team.stream(0), support::line(1, most - 1), &simt::store_range, out.data(), 0);
  CHECK(team.faults() == none);
  CHECK(twill::unwritten_bytes(team.gpu(), out.data(), out.size_bytes()) == sizeof(int));
  CHECK(support::code_of([&] { twill::unwritten_bytes(twill::device(), out.data(), 4); }) ==
        twill::errc::invalid_argument);
}

TEST_CASE("mixed: a run that fails leaves no work behind the caller's stream") {
  auto gpu = twill::device::open("simt");
  twill::set_checks(gpu, true);
  auto link = support::mirror_link();
  bool cut = false;
  link.send = [&, send = link.send](int peer, const void* data, std::size_t bytes) {
    if (cut) throw std::runtime_error("the wire is cut");
    return send(peer, data, bytes);
  };
  const auto one = support::slab_transpose(2, 512, 1024, 16);  // two messages for the peer: one is packed ahead
  twill::global_options options;
  options.via = twill::transport::mixed;
  options.ranks_per_node = 1;
  const twill::stream stream(gpu);
  twill::raw_buffer in(gpu, 256 * 1024 * 16), out(gpu, 512 * 512 * 16);
  twill::fill_bytes(stream, in.data(), 1, in.size_bytes());
  const auto team = twill::team::of_link(gpu, link);
  twill::global_transpose plan(team, one.element_bytes, one.shape, {{in.data(), out.data()}}, options);
  for (const bool fails : {false, true}) {
    cut = fails;
    CHECK(contains(support::error_of([&] { plan.run(stream); }), "the wire is cut") == fails);
    twill::fill_bytes(stream, in.data(), 2, in.size_bytes());  // what messages are packed from
    CHECK(support::error_of([&] { stream.wait(); }) == "");
  }
}

TEST_CASE("a link takes device memory where it says so, else memory of the host") {
  auto gpu = twill::device::open("simt");
  twill::set_checks(gpu, true);
  const twill::stream stream(gpu);
  twill::raw_buffer in(gpu, 32 * 64), out(gpu, 64 * 32), other(gpu, 64 * 32);
  twill::fill_bytes(stream, in.data(), 1, in.size_bytes());
  // A copy within the device refuses memory of the host.
  const auto is_on_device = [&](const void* data, std::size_t bytes) {
    const std::string refused = support::error_of([&] { twill::copy_bytes(stream, data, other.data(), bytes); });
    CAPTURE(refused);
    const bool of_host = contains(refused, "not device memory") || contains(refused, "released memory");
    CHECK((refused.empty() || of_host));
    return refused.empty();
  };
  for (const bool takes : {true, false}) {
    int sent = 0, received = 0;
    auto link = support::mirror_link();
    link.takes_device_memory = takes;
    link.send = [&, send = link.send](int peer, const void* data, std::size_t bytes) {
      ++sent;
      CHECK(is_on_device(data, bytes) == takes);
      return send(peer, data, bytes);
    };
    link.receive = [&, receive = link.receive](int peer, void* data, std::size_t bytes) {
      ++received;
      if (takes) {
        twill::fill_bytes(stream, data, 3, bytes);
      } else {
        std::memset(data, 3, bytes);
      }
      CHECK(is_on_device(data, bytes) == takes);
      return receive(peer, data, bytes);
    };
    twill::global_options options;
    options.via = twill::transport::mpi;
    const auto team = twill::team::of_link(gpu, link);
    const auto one = support::slab_transpose(2, 64, 64, 1);
    twill::global_transpose plan(team, one.element_bytes, one.shape, {{in.data(), out.data()}}, options);
    plan.run(stream);
    stream.wait();
    CHECK(sent == 1);
    CHECK(received == 1);
  }
}

TEST_CASE("random plans write each element once, and nothing else") {
  auto gpu = twill::device::open("simt");
  twill::set_checks(gpu, true);
  support::dice random(23);
  for (int i = 0; i < 40; ++i) {
    auto one = support::random_redistribution(random, static_cast<int>(random.pick(2, 6)), 2000);
    if (i % 8 == 0) one = support::slab_transpose(3, 96, 144, std::int64_t{1} << i / 8 % 5);  // in vectors
    CAPTURE(one.text());
    twill::global_options options;
    options.via = i % 2 == 0 ? twill::transport::direct : twill::transport::copy;
    std::vector<twill::stream> streams;
    std::vector<twill::stream_ref> refs;
    std::vector<twill::buffer<unsigned char>> ins, outs;
    std::vector<twill::member_memory> memory;
    for (int rank = 0; rank < one.size; ++rank) {
      const auto bytes = [&](const twill::distribution& side) {
        return static_cast<std::size_t>(twill::part_of(one.shape.extents, side, rank).elements * one.element_bytes);
      };
      refs.emplace_back(streams.emplace_back(gpu));
      ins.emplace_back(gpu, bytes(one.shape.in));
      outs.emplace_back(gpu, bytes(one.shape.out));
      twill::fill_bytes(refs.back(), ins.back().data(), 7, ins.back().size_bytes());
      memory.push_back({ins.back().data(), outs.back().data()});
    }
    const auto team = twill::team::of_devices(std::vector<twill::device>(static_cast<std::size_t>(one.size), gpu));
    twill::global_transpose plan(team, one.element_bytes, one.shape, memory, options);
    plan.run(refs);
    for (int rank = 0; rank < one.size; ++rank) {
      CHECK(support::error_of([&] { refs[static_cast<std::size_t>(rank)].wait(); }).empty());
      const auto part = twill::part_of(one.shape.extents, one.shape.out, rank);
      std::int64_t elements = part.elements == 0 ? 0 : 1;
      for (const std::int64_t extent : part.extents) elements *= extent;
      auto& out = outs[static_cast<std::size_t>(rank)];
      const auto gaps = static_cast<std::size_t>((part.elements - elements) * one.element_bytes);
      CHECK(twill::unwritten_bytes(gpu, out.data(), out.size_bytes()) == gaps);
      twill::fill_bytes(refs[static_cast<std::size_t>(rank)], out.data(), 0, out.size_bytes());
    }
    plan.run(refs);  // behind each rank's own work on its output
    for (const auto& stream : refs) CHECK(support::error_of([&] { stream.wait(); }).empty());
  }
}

TEST_SUITE_END();
