// Bad input to teams, and faults of what connects their ranks: each rank says what went wrong, and none hangs.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <twill/twill.hpp>

#include "support/cases.hpp"
#include "support/team_run.hpp"
#include "support/thread_link.hpp"

namespace {

using support::code_of;
using support::message_of;
using support::on_each_device;
using support::slab_transpose;

/// What rank `rank` of three threads throws when it runs a plan, `change` having been at the rank's link.
std::vector<std::string> thrown_with(const twill::device& device,
                                     const std::function<void(int, twill::team_link&)>& change) {
  support::thread_links links(3, std::chrono::milliseconds(200));
  const auto one = slab_transpose(3, 30, 30, 4);
  return support::on_each_rank(3, [&](int rank) {
    auto link = links.link(rank);
    change(rank, link);
    const auto team = twill::team::of_link(device, link);
    const twill::stream stream(device);
    support::rank_image image(one, rank, stream, 0);
    twill::global_options options;
    options.via = twill::transport::mpi;
    options.timeout = std::chrono::milliseconds(200);
    options.ranks_per_node = 1;  // messages, not shared memory
    twill::global_transpose plan(team, one.element_bytes, one.shape, {image.memory()}, options);
    try {
      plan.run(stream);
    } catch (const twill::error& e) {
      throw std::runtime_error(std::string(name(e.code())) + ": " + e.what());
    }
  });
}

}  // namespace

TEST_SUITE_BEGIN("team faults");

TEST_CASE("more parts than rows") {
  on_each_device([](const twill::device& device) {
    for (const auto via : {twill::transport::direct, twill::transport::copy}) {
      twill::global_options options;
      options.via = via;
      CHECK(support::right_in_one_process(device, slab_transpose(7, 3, 2, 4), 2, 0, options));
      CHECK(support::right_in_one_process(device, slab_transpose(5, 1, 200, 8), 2, 0, options));
      options.parts = std::numeric_limits<int>::max();  // more than a piece has rows
      CHECK(support::right_in_one_process(device, slab_transpose(2, 40, 70, 4), 1, 0, options));
    }
  });
}

TEST_CASE("parts of more ranks than there can be") {
  const std::int64_t many = std::int64_t{1} << 31;
  CHECK(code_of([&] { twill::part_of({8, 8}, {{many, 1}}, 0); }) == twill::errc::invalid_argument);
  CHECK(code_of([&] { twill::part_of({8, 8}, {{many, many}}, 0); }) == twill::errc::invalid_argument);
  CHECK(twill::part_of({8, 8}, {{many - 1, 1}}, 7).elements == 8);
  CHECK(twill::part_of({8, 8}, {{many - 1, 1}}, 8).elements == 0);
  const auto device = twill::device::open(support::test_devices().front());
  const auto team = twill::team::of_devices({device, device});
  twill::buffer<int> a(device, 64), b(device, 64);
  const std::vector<twill::member_memory> memory{{a.data(), b.data()}, {a.data() + 32, b.data() + 32}};
  const auto with = [&](const twill::dims& parts) {
    return message_of([&] { twill::global_transpose(team, 4, {{8, 8}, {parts}, {{1, 2}}}, memory); });
  };
  for (const twill::dims& parts : {twill::dims{many, many}, {many, many / 2}, {3, 1}, {1, 1}}) {
    const std::string text = with(parts);
    CAPTURE(text);
    CHECK(text.find("global_transpose: rank 0: ") != std::string::npos);
    CHECK(text.find("in.parts") != std::string::npos);
  }
}

TEST_CASE("transport nccl needs devices of one kind") {
  const auto names = twill::device::list();
  const auto has = [&](const char* name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  if (!has("cpu") || !has("simt")) return;
  const auto cpu = twill::device::open("cpu"), simt = twill::device::open("simt");
  twill::buffer<int> a(cpu, 18), b(cpu, 18), c(simt, 18), d(simt, 18);
  twill::global_options options;
  options.via = twill::transport::nccl;
  const std::string text = message_of([&] {
    twill::global_transpose(twill::team::of_devices({cpu, simt}), 4, {{6, 6}, {{2, 1}}, {{1, 2}, {1, 0}}},
                            {{a.data(), b.data()}, {c.data(), d.data()}}, options);
  });
  CAPTURE(text);
  CHECK(text.find("(rank 0 has a cpu device, rank 1 a simt one)") != std::string::npos);
}

TEST_CASE("ranks that disagree on what they can") {
  const auto device = twill::device::open(support::test_devices().front());
  support::thread_links links(2);
  twill::buffer<int> a(device, 200), b(device, 200);
  struct call {
    std::int64_t bytes = 4;
    twill::global_shape shape{{6, 6}, {{2, 1}}, {{1, 2}, {1, 0}}};
    twill::global_options options;
  };
  const auto disagreement = [&](const call& other) {
    const auto thrown = support::on_each_rank(2, [&](int rank) {
      const auto team = twill::team::of_link(device, links.link(rank));
      const call mine = rank == 1 ? other : call();
      const twill::global_transpose plan(team, mine.bytes, mine.shape, {{a.data() + 100 * rank, b.data() + 100 * rank}},
                                         mine.options);
    });
    CHECK(thrown[0] == thrown[1]);
    CHECK(thrown[0].find("(rank 1 has another than rank 0)") != std::string::npos);
    return thrown[0].substr(0, thrown[0].find(" ("));
  };
  const std::string begin = "global_transpose: ranks disagree on the ";
  call other;
  other.bytes = 2;
  CHECK(disagreement(other) == begin + "size of an element");
  other = {};
  other.shape.in = {{1, 2}};
  CHECK(disagreement(other) == begin + "distribution of the input");
  other = {};
  other.shape.out = {{1, 2}};
  CHECK(disagreement(other) == begin + "distribution of the output");
  other = {};
  other.shape.out.lds = {0, 9};
  CHECK(disagreement(other) == begin + "distribution of the output");
  other = {};
  other.options.via = twill::transport::copy;
  CHECK(disagreement(other) == begin + "transport");
  other = {};
  other.options.parts = 2;
  CHECK(disagreement(other) == begin + "number of parts");
  other = {};
  other.options.timeout = std::chrono::milliseconds(7);
  CHECK(disagreement(other) == begin + "timeout");
}

TEST_CASE("a timeout that no clock holds") {
  const auto device = twill::device::open("cpu");
  support::thread_links links(3);
  const auto one = slab_transpose(3, 700, 900, 4);
  const auto thrown = support::on_each_rank(3, [&](int rank) {
    const auto team = twill::team::of_link(device, links.link(rank));
    const twill::stream stream(device);
    support::rank_image image(one, rank, stream, 0);
    twill::global_options options;
    options.via = twill::transport::mpi;
    options.timeout = std::chrono::milliseconds::max();
    twill::global_transpose plan(team, one.element_bytes, one.shape, {image.memory()}, options);
    plan.run(stream);
    if (!image.right(stream)) throw std::runtime_error("a wrong element");
  });
  for (const auto& text : thrown) CHECK(text == "");
}

TEST_CASE("a link whose messages fail in a run") {
  on_each_device([](const twill::device& device) {
    if (device.properties().is_gpu) return;
    const auto cut = [](const char* what) { throw std::runtime_error(std::string("no more ") + what); };
    const auto broken = [&](int which) {
      return thrown_with(device, [&, which](int rank, twill::team_link& link) {
        if (rank != 1) return;
        if (which == 0) link.send = [cut](int, const void*, std::size_t) -> void* { return cut("sends"), nullptr; };
        if (which == 1) link.receive = [cut](int, void*, std::size_t) -> void* { return cut("receives"), nullptr; };
        if (which == 2) {
          link.finish = [cut, finish = link.finish](void* what) {
            finish(what);
            cut("ends");
          };
        }
      });
    };
    for (const int which : {0, 1, 2}) {
      const auto thrown = broken(which);
      CAPTURE(thrown[1]);
      CHECK(thrown[1].find("device_fault: global_transpose: the team's link failed on rank 1 (no more ") == 0);
    }
    // The others miss its messages.
    const auto thrown = broken(0);
    for (const int rank : {0, 2}) {
      CAPTURE(thrown[static_cast<std::size_t>(rank)]);
      CHECK(thrown[static_cast<std::size_t>(rank)].find("device_fault: global_transpose: the team's link failed") == 0);
    }
    CHECK((thrown[0] + thrown[2]).find("no message from rank 1") != std::string::npos);
  });
}

TEST_CASE("a link that fails while a plan is made") {
  const auto device = twill::device::open(support::test_devices().front());
  // Its allgather works for the first `good` calls: the fault comes at each step of the plan in its turn.
  twill::buffer<int> a(device, 36), b(device, 36);
  bool made = false;
  for (int good = 1; !made; ++good) {
    int calls = 0;
    twill::team_link link;
    link.allgather = [&](const void* mine, void* all, std::size_t bytes) {
      if (++calls > good) throw std::runtime_error("the wire is cut");
      std::memcpy(all, mine, bytes);
    };
    const auto team = twill::team::of_link(device, link);
    const std::string text = message_of(
        [&] { twill::global_transpose(team, 4, {{6, 6}, {{1, 1}}, {{1, 1}, {1, 0}}}, {{a.data(), b.data()}}); });
    made = text.empty();
    CAPTURE(text);
    CHECK((made || text.find("global_transpose: the team's link failed on rank 0 (the wire is cut)") == 0));
    REQUIRE(good < 100);
  }
}

TEST_SUITE_END();
