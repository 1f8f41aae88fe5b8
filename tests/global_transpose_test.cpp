#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

#include <twill/twill.hpp>

#include "support/cases.hpp"
#include "support/team_run.hpp"
#include "support/thread_link.hpp"

namespace {

using support::code_of;
using support::message_of;
using support::on_each_device;
using support::redistribution;
using support::slab_transpose;

twill::team team_on(const twill::device& device, int size) {
  return twill::team::of_devices(std::vector<twill::device>(static_cast<std::size_t>(size), device));
}

// All ranks on threads; what any of them threw, or that its result was wrong.
std::vector<std::string> on_threads(const twill::device& device, const redistribution& of, twill::transport via,
                                    int runs, const std::function<void(int, int)>& before_run = nullptr) {
  support::thread_links links(of.size);
  return support::on_each_rank(of.size, [&](int rank) {
    const auto team = twill::team::of_link(device, links.link(rank));
    const auto delay = [&](int run) {
      if (before_run) before_run(rank, run);
    };
    if (!support::right_on_rank(team, of, via, runs, delay)) throw std::runtime_error("wrong result");
  });
}

}  // namespace

TEST_SUITE_BEGIN("global transpose");

TEST_CASE("parts of ranks") {
  // 10 x 3 in 4 x 1 parts: rows 0 to 2, 3 to 5, 6 and 7, 8 and 9.
  const auto part = twill::part_of({10, 3}, {{4, 1}}, 2);
  CHECK(part.first[0] == 6);
  CHECK(part.extents[0] == 2);
  CHECK(part.extents[1] == 3);
  CHECK(part.strides[0] == 3);
  CHECK(part.elements == 6);
  // The same, with dimension 1 outermost and rows of 5: a pencil of 2 x 2.
  const auto pencil = twill::part_of({10, 3}, {{2, 2}, {1, 0}, {0, 6}}, 3);
  CHECK(pencil.first[0] == 5);
  CHECK(pencil.first[1] == 2);
  CHECK(pencil.extents[1] == 1);
  CHECK(pencil.strides[0] == 1);
  CHECK(pencil.strides[1] == 6);
  CHECK(pencil.elements == 5);
  CHECK(twill::part_of({1, 5}, {{2, 1}}, 1).elements == 0);
  CHECK(code_of([] { twill::part_of({10, 3}, {{4, 1}}, 4); }) == twill::errc::invalid_argument);
  CHECK(code_of([] { twill::part_of({10, 3}, {{4}}, 0); }) == twill::errc::invalid_argument);
  CHECK(code_of([] { twill::part_of({10, 3}, {{4, 1}, {0, 0}}, 0); }) == twill::errc::invalid_argument);
  CHECK(code_of([] { twill::part_of({10, 3}, {{0, 1}}, 0); }) == twill::errc::invalid_argument);
}

TEST_CASE("literal") {
  on_each_device([](const twill::device& device) {
    const auto team = team_on(device, 2);
    const twill::stream stream(device);
    twill::buffer<int> in0(device, 12), in1(device, 12), out0(device, 12), out1(device, 12);
    in0.upload({0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15}, stream);
    in1.upload({20, 21, 22, 23, 24, 25, 30, 31, 32, 33, 34, 35}, stream);
    twill::global_transpose plan(team, sizeof(int), {{4, 6}, {{2, 1}}, {{1, 2}, {1, 0}}},
                                 {{in0.data(), out0.data()}, {in1.data(), out1.data()}});
    CHECK(plan.via() == twill::transport::direct);
    CHECK(plan.bytes_sent(0) == 24);
    plan.run({stream, stream});
    std::vector<int> a(12), b(12);
    out0.download(a, stream);
    out1.download(b, stream);
    stream.wait();
    CHECK(a == std::vector<int>{0, 10, 20, 30, 1, 11, 21, 31, 2, 12, 22, 32});
    CHECK(b == std::vector<int>{3, 13, 23, 33, 4, 14, 24, 34, 5, 15, 25, 35});
  });
}

TEST_CASE("slabs and pencils") {
  on_each_device([](const twill::device& device) {
    for (const std::int64_t bytes : {1, 2, 4, 8, 12, 16}) {
      for (const std::int64_t n : {1, 7, 64, 131}) {
        CHECK(support::right_in_one_process(device, slab_transpose(4, n, n + 3, bytes), 2));
      }
    }
    redistribution pencil;
    pencil.size = 6;
    pencil.element_bytes = 8;
    pencil.shape = {{20, 21, 22}, {{2, 3, 1}}, {{2, 1, 3}, {0, 2, 1}}};
    CHECK(support::right_in_one_process(device, pencil, 2));
    pencil.shape = {{20, 21, 22}, {{2, 1, 3}, {0, 2, 1}}, {{1, 2, 3}, {2, 1, 0}, {0, 21, 23}}};
    CHECK(support::right_in_one_process(device, pencil, 2, 1));
  });
}

TEST_CASE("slabs in vectors, by each transport") {
  on_each_device([](const twill::device& device) {
    const int runs = device.properties().backend == "simt" ? 1 : 3;
    for (const auto via : {twill::transport::direct, twill::transport::copy}) {
      twill::global_options options;
      options.via = via;
      options.parts = 3;
      for (const std::int64_t bytes : {1, 2, 4, 8, 16}) {
        CAPTURE(bytes);
        // Tiles that are cut at the ends; one block a peer, which moves many, or more blocks than tiles.
        options.blocks_per_peer = bytes == 4 ? 0 : 1;
        CHECK(support::right_in_one_process(device, slab_transpose(2, 544, 288, bytes), runs, 0, options));
      }
      // Of 17 ranks the kernel's arguments hold 16.
      CHECK(support::right_in_one_process(device, slab_transpose(17, 272, 272, 8), runs, 0, options));
    }
  });
}

TEST_CASE("a large piece of a rank's own, beside those of its peers") {
  on_each_device([](const twill::device& device) {
    if (device.properties().backend == "simt") return;  // takes long
    twill::global_options options;
    options.via = twill::transport::direct;
    CHECK(support::right_in_one_process(device, slab_transpose(2, 1303, 1301, 12), 3, 0, options));
  });
}

TEST_CASE("many runs without a wait") {
  on_each_device([](const twill::device& device) {
    const int size = 4, runs = device.properties().backend == "simt" ? 20 : 2000;
    const auto one = slab_transpose(size, 128, 128, 4);
    for (const auto via : {twill::transport::direct, twill::transport::copy}) {
      const auto team = twill::team::of_devices(support::team_devices(device, size));
      std::vector<twill::stream> streams;
      std::vector<twill::stream_ref> refs;
      std::vector<std::unique_ptr<support::rank_image>> ranks;
      std::vector<twill::member_memory> there, back;
      for (int rank = 0; rank < size; ++rank) {
        refs.emplace_back(streams.emplace_back(team.local_device(rank)));
        ranks.push_back(std::make_unique<support::rank_image>(one, rank, refs.back(), 0));
        there.push_back(ranks.back()->memory());
        back.push_back({there.back().out, const_cast<void*>(there.back().in)});
      }
      twill::global_options options;
      options.via = via;
      twill::global_transpose forth(team, 4, one.shape, there, options), again(team, 4, one.shape, back, options);
      // Each run reads what the one before wrote: a rank that is ahead of another leaves something wrong.
      for (int run = 0; run < runs; ++run) {
        forth.run(refs);
        again.run(refs);
      }
      forth.run(refs);
      for (auto& rank : ranks) CHECK(rank->right(refs[static_cast<std::size_t>(&rank - ranks.data())]));
    }
  });
}

TEST_CASE("collectives") {
  on_each_device([](const twill::device& device) {
    const int size = static_cast<int>(support::devices_like(device).size());
    twill::global_options options;
    options.via = twill::transport::nccl;
    if (!device.properties().is_gpu) {
      const std::string text =
          message_of([&] { support::right_in_one_process(device, slab_transpose(1, 8, 8, 4), 1, 0, options); });
      CAPTURE(text);
      CHECK(text.find("transport nccl does not reach all ranks") != std::string::npos);
      CHECK(text.find("no library of collectives") != std::string::npos);
      return;
    }
    support::dice random(17);
    for (int i = 0; i < 4; ++i) {  // a communicator takes seconds to make
      auto one = support::random_redistribution(random, size, 40000);
      if (i == 0) one = slab_transpose(size, 2048, 2048, 4);
      options.parts = static_cast<int>(random.pick(0, 3));
      CAPTURE(one.text());
      try {
        CHECK(support::right_in_one_process(device, one, 2, random.offset(), options));
      } catch (const twill::error& e) {
        if (e.code() != twill::errc::unsupported) throw;
        MESSAGE(std::string(e.what()));  // the library is not installed
        return;
      }
    }
  });
}

TEST_CASE("random redistributions") {
  on_each_device([](const twill::device& device) {
    support::on_random_rounds(12, [&](std::uint64_t seed, int cases) {
      support::dice random(seed);
      for (int i = 0; i < cases; ++i) {
        const auto one = support::random_redistribution(random, static_cast<int>(random.pick(1, 9)),
                                                        random.one_in(20) ? 40000 : 3000);
        CAPTURE(one.text());
        twill::global_options options;
        options.via = random.one_in(2) ? twill::transport::direct : twill::transport::copy;
        options.parts = static_cast<int>(random.pick(0, 3));
        options.blocks_per_peer = random.one_in(2) ? 0 : static_cast<int>(random.pick(1, 4));
        CAPTURE(name(options.via));
        const int runs = static_cast<int>(random.pick(1, 2));
        REQUIRE(support::right_in_one_process(device, one, runs, random.offset(), options));
      }
    });
  });
}

TEST_CASE("ranks on threads, by each transport") {
  on_each_device([](const twill::device& device) {
    if (device.properties().is_gpu) return;  // threads of one process: what the CPU's devices are tested with
    support::dice random(13);
    for (int i = 0; i < 15; ++i) {
      const auto one = support::random_redistribution(random, static_cast<int>(random.pick(1, 6)), 3000);
      CAPTURE(one.text());
      for (const auto via :
           {twill::transport::automatic, twill::transport::direct, twill::transport::copy, twill::transport::mpi}) {
        const auto thrown = on_threads(device, one, via, 2);
        CHECK(thrown == std::vector<std::string>(thrown.size()));
      }
    }
  });
}

TEST_CASE("messages beyond one part") {
  on_each_device([](const twill::device& device) {
    if (device.properties().is_gpu) return;
    // 12 MB from each rank to each other, and a shape that leaves some with nothing.
    const auto many = on_threads(device, slab_transpose(3, 3000, 3001, 4), twill::transport::mpi, 2);
    CHECK(many == std::vector<std::string>(3));
    redistribution few = slab_transpose(5, 2, 700000, 8);
    few.shape.out = {{5, 1}, {1, 0}, {}};
    const auto some = on_threads(device, few, twill::transport::mpi, 2);
    CHECK(some == std::vector<std::string>(5));
  });
}

// TWILL_TEST_RUNS: how often on "cpu".
TEST_CASE("random delays of ranks") {
  on_each_device([](const twill::device& device) {
    if (device.properties().is_gpu) return;
    const auto one = slab_transpose(4, 9, 10, 4);
    const auto runs =
        support::number_from_environment("TWILL_TEST_RUNS", 1000) / (device.properties().backend == "cpu" ? 1 : 20);
    for (const auto via : {twill::transport::direct, twill::transport::copy, twill::transport::mpi}) {
      const auto thrown = on_threads(device, one, via, static_cast<int>(runs), [](int rank, int run) {
        const auto draw = static_cast<unsigned>((run * 4 + rank) * 2654435761u) >> 20;
        if (draw % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(draw % 400));
      });
      CHECK(thrown == std::vector<std::string>(4));
    }
  });
}

TEST_CASE("life") {
  on_each_device([](const twill::device& device) {
    twill::global_transpose empty;
    const twill::stream stream(device);
    CHECK(code_of([&] { empty.run(stream); }) == twill::errc::invalid_argument);
    CHECK(code_of([&] { empty.via(); }) == twill::errc::invalid_argument);
    auto team = team_on(device, 1);
    twill::buffer<int> a(device, 6), b(device, 6);
    a.upload({1, 2, 3, 4, 5, 6}, stream);
    twill::global_transpose plan(team, 4, {{2, 3}, {{1, 1}}, {{1, 1}, {1, 0}}}, {{a.data(), b.data()}});
    team = twill::team();  // the plan keeps what it needs
    empty = std::move(plan);
    empty.run(stream);
    std::vector<int> found(6);
    b.download(found, stream);
    stream.wait();
    CHECK(found == std::vector<int>{1, 4, 2, 5, 3, 6});
    // NOLINTNEXTLINE(bugprone-use-after-move): an empty plan refuses to run.
    CHECK(code_of([&] { plan.run(stream); }) == twill::errc::invalid_argument);
  });
}

TEST_CASE("errors") {
  on_each_device([](const twill::device& device) {
    const auto team = team_on(device, 2);
    const twill::stream stream(device);
    twill::buffer<int> a(device, 100), b(device, 100);
    const std::vector<twill::member_memory> memory{{a.data(), b.data()}, {a.data() + 50, b.data() + 50}};
    const auto fails = [&](const twill::global_shape& shape, std::int64_t bytes = 4) {
      return code_of([&] { twill::global_transpose(team, bytes, shape, memory); }) == twill::errc::invalid_argument;
    };
    CHECK(fails({{4, 4}, {{2, 2}}, {{1, 2}}}));  // parts on 4 ranks
    CHECK(fails({{4, 4}, {{2}}, {{1, 2}}}));     // not one a dimension
    CHECK(fails({{4, -4}, {{2, 1}}, {{1, 2}}}));
    CHECK(fails({{4, 4}, {{2, 1}, {1, 1}}, {{1, 2}}}));      // order
    CHECK(fails({{4, 4}, {{2, 1}, {}, {0, 3}}, {{1, 2}}}));  // lds
    CHECK(fails({{}, {{}}, {{}}}));
    CHECK(fails({{4, 4}, {{2, 1}}, {{1, 2}}}, 65));
    CHECK(fails({{4, 4}, {{2, 1}}, {{1, 2}}}, 0));
    CHECK(fails({{std::int64_t{1} << 40, std::int64_t{1} << 40}, {{2, 1}}, {{1, 2}}}));
    const twill::global_shape shape{{4, 4}, {{2, 1}}, {{1, 2}, {1, 0}}};
    const auto with = [&](const std::vector<twill::member_memory>& given) {
      return message_of([&] { twill::global_transpose(team, 4, shape, given); });
    };
    CHECK(with({memory[0]}).find("each local rank") != std::string::npos);
    CHECK(with({memory[0], {nullptr, b.data() + 50}}).find("rank 1: in is null") != std::string::npos);
    CHECK(with({memory[0], {a.data(), b.data() + 7}}).find("out of another rank") != std::string::npos);
    CHECK(with({memory[0], {b.data(), b.data() + 50}}).find("overlap") != std::string::npos);
    twill::global_transpose plan(team, 4, shape, memory);
    CHECK(code_of([&] { plan.run(stream); }) == twill::errc::invalid_argument);
    CHECK(code_of([&] { plan.run({stream, twill::stream_ref()}); }) == twill::errc::invalid_argument);
    CHECK(code_of([&] { plan.bytes_sent(2); }) == twill::errc::invalid_argument);
    twill::global_options options;
    options.via = twill::transport::mpi;
    CHECK(code_of([&] { twill::global_transpose(team, 4, shape, memory, options); }) == twill::errc::unsupported);
    options.via = static_cast<twill::transport>(77);
    CHECK(code_of([&] { twill::global_transpose(team, 4, shape, memory, options); }) == twill::errc::invalid_argument);
  });
}

TEST_CASE("ranks that disagree, and one that has a reason of its own") {
  const auto device = twill::device::open(support::test_devices().front());
  support::thread_links links(3);
  twill::buffer<int> a(device, 300), b(device, 300);
  const auto plans = [&](int rank, const twill::global_shape& shape, const twill::member_memory& memory) {
    const auto team = twill::team::of_link(device, links.link(rank));
    const twill::global_transpose plan(team, 4, shape, {memory});
  };
  const auto memory_of = [&](int rank) { return twill::member_memory{a.data() + 100 * rank, b.data() + 100 * rank}; };
  auto thrown = support::on_each_rank(
      3, [&](int rank) { plans(rank, {{rank == 2 ? 5 : 6, 6}, {{3, 1}}, {{1, 3}, {1, 0}}}, memory_of(rank)); });
  for (const auto& text : thrown) {
    CAPTURE(text);
    CHECK(text.find("ranks disagree on the extents") != std::string::npos);
    CHECK(text.find("rank 2") != std::string::npos);
  }
  thrown = support::on_each_rank(3, [&](int rank) {
    plans(rank, {{6, 6}, {{3, 1}}, {{1, 3}, {1, 0}}}, rank == 1 ? twill::member_memory{} : memory_of(rank));
  });
  for (const auto& text : thrown) {
    CAPTURE(text);
    CHECK(text.find("rank 1: in is null") != std::string::npos);
  }
  // The team goes on after both. On a GPU that all share by messages: a kernel's first launch by one thread may load
  // code, and wait for the handshake kernel of another.
  const auto via = device.properties().is_gpu ? twill::transport::mpi : twill::transport::automatic;
  CHECK(on_threads(device, slab_transpose(3, 6, 6, 4), via, 1) == std::vector<std::string>(3));
}

TEST_CASE("a rank that does not come to a run") {
  on_each_device([](const twill::device& device) {
    if (device.properties().is_gpu) return;
    support::thread_links links(3, std::chrono::milliseconds(200));
    const auto one = slab_transpose(3, 30, 30, 4);
    for (const auto via : {twill::transport::direct, twill::transport::copy, twill::transport::mpi}) {
      std::atomic<int> waiting{0};
      const auto thrown = support::on_each_rank(3, [&](int rank) {
        const auto team = twill::team::of_link(device, links.link(rank));
        const twill::stream stream(device);
        support::rank_image image(one, rank, stream, 0);
        twill::global_options options;
        options.via = via;
        options.timeout = std::chrono::milliseconds(200);
        twill::global_transpose plan(team, one.element_bytes, one.shape, {image.memory()}, options);
        if (rank == 1) {
          while (waiting < 2) std::this_thread::yield();  // its memory stays until the others have given up
          return;
        }
        const std::string text = message_of([&] { plan.run(stream); });
        const std::string again = message_of([&] { plan.run(stream); });
        ++waiting;
        if (again.find("has failed before") == std::string::npos) throw std::runtime_error("ran again: " + again);
        throw std::runtime_error(text);
      });
      CHECK(thrown[1].empty());
      for (const int rank : {0, 2}) {
        const auto& text = thrown[static_cast<std::size_t>(rank)];
        CAPTURE(text);
        CHECK(text.find("rank 1") != std::string::npos);
      }
    }
  });
}

TEST_CASE("devices that do not reach each other") {
  const auto names = twill::device::list();
  if (names.size() < 2) return;
  const auto first = twill::device::open(names.front()), last = twill::device::open(names.back());
  const auto team = twill::team::of_devices({first, last});
  twill::buffer<int> a(first, 8), b(first, 8), c(last, 8), d(last, 8);
  const std::string text = message_of([&] {
    twill::global_transpose(team, 4, {{4, 4}, {{2, 1}}, {{1, 2}, {1, 0}}},
                            {{a.data(), b.data()}, {c.data(), d.data()}});
  });
  CAPTURE(text);
  CHECK(text.find("no transport reaches all ranks") != std::string::npos);
  CHECK(text.find(names.back()) != std::string::npos);
}

TEST_SUITE_END();
