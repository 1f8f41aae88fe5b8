// One plan that stores within nodes and sends messages between them; groups of ranks of this host are its nodes.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <twill/twill.hpp>

#include "support/cases.hpp"
#include "support/team_run.hpp"
#include "support/thread_link.hpp"

namespace {

using support::message_of;
using support::on_each_device;
using support::redistribution;
using support::slab_transpose;

twill::global_options mixed(int ranks_per_node) {
  twill::global_options options;
  options.via = twill::transport::mixed;
  options.ranks_per_node = ranks_per_node;
  return options;
}

struct counted {
  std::atomic<int> within{0}, between{0};
};

twill::team_link counting_link(support::thread_links& links, int rank, int ranks_per_node, counted& messages) {
  twill::team_link link = links.link(rank);
  link.send = [=, &messages, send = link.send](int peer, const void* data, std::size_t bytes) {
    ++(peer / ranks_per_node == rank / ranks_per_node ? messages.within : messages.between);
    return send(peer, data, bytes);
  };
  return link;
}

std::vector<std::string> on_threads(const twill::device& device, const redistribution& of,
                                    const twill::global_options& options, int runs, counted& messages,
                                    const std::function<void(int, int)>& before_run = nullptr) {
  support::thread_links links(of.size);
  return support::on_each_rank(of.size, [&](int rank) {
    const auto team = twill::team::of_link(device, counting_link(links, rank, options.ranks_per_node, messages));
    const auto delay = [&](int run) {
      if (before_run) before_run(rank, run);
    };
    if (!support::right_on_rank(team, of, options, runs, delay)) throw std::runtime_error("wrong result");
  });
}

}  // namespace

TEST_SUITE_BEGIN("global transpose");

TEST_CASE("mixed: messages go between nodes alone") {
  on_each_device([](const twill::device& device) {
    if (device.properties().is_gpu) return;
    counted messages;
    // 5 ranks on nodes of 2, 2 and 1: 4 * 3 + 4 messages a run.
    const auto thrown = on_threads(device, slab_transpose(5, 60, 65, 4), mixed(2), 3, messages);
    CHECK(thrown == std::vector<std::string>(5));
    CHECK(messages.within == 0);
    CHECK(messages.between == 3 * 16);
  });
}

TEST_CASE("mixed: random redistributions and nodes, ranks on threads") {
  on_each_device([](const twill::device& device) {
    if (device.properties().is_gpu) return;
    support::on_random_rounds(23, [&](std::uint64_t seed, int cases) {
      support::dice random(seed);
      for (int i = 0; i < cases / 4; ++i) {
        const auto one = support::random_redistribution(random, static_cast<int>(random.pick(1, 7)), 3000);
        const auto options = mixed(static_cast<int>(random.pick(1, one.size)));
        CAPTURE(one.text());
        CAPTURE(options.ranks_per_node);
        counted messages;
        const auto thrown = on_threads(device, one, options, static_cast<int>(random.pick(1, 3)), messages);
        REQUIRE(thrown == std::vector<std::string>(thrown.size()));
        REQUIRE(messages.within == 0);
      }
    });
  });
}

TEST_CASE("mixed: vectors, and messages beyond one part") {
  on_each_device([](const twill::device& device) {
    if (device.properties().is_gpu) return;
    counted messages;
    CHECK(on_threads(device, slab_transpose(4, 512, 256, 8), mixed(2), 2, messages) == std::vector<std::string>(4));
    if (device.properties().backend == "simt") return;
    const auto one = slab_transpose(3, 3000, 3001, 4);
    CHECK(on_threads(device, one, mixed(2), 2, messages) == std::vector<std::string>(3));
  });
}

TEST_CASE("mixed: random delays of ranks") {
  on_each_device([](const twill::device& device) {
    if (device.properties().is_gpu) return;
    counted messages;
    const int runs = device.properties().backend == "cpu" ? 1000 : 50;
    const auto thrown =
        on_threads(device, slab_transpose(4, 9, 10, 4), mixed(2), runs, messages, [](int rank, int run) {
          const auto draw = static_cast<unsigned>((run * 4 + rank) * 2654435761u) >> 20;
          if (draw % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(draw % 400));
        });
    CHECK(thrown == std::vector<std::string>(4));
  });
}

TEST_CASE("mixed: chosen where nodes have several ranks, and tuned") {
  on_each_device([](const twill::device& device) {
    if (device.properties().is_gpu) return;
    const auto one = slab_transpose(4, 40, 44, 4);
    const auto chosen = [&](twill::global_options options, twill::transport expected) {
      support::thread_links links(4);
      const auto thrown = support::on_each_rank(4, [&](int rank) {
        const auto team = twill::team::of_link(device, links.link(rank));
        const twill::stream stream(device);
        support::rank_image image(one, rank, stream, 0);
        twill::global_transpose plan(team, one.element_bytes, one.shape, {image.memory()}, options);
        if (plan.via() != expected) throw std::runtime_error(name(plan.via()));
        const std::string line = plan.tune(stream, 1);
        if (line.find(std::string(": ") + name(plan.via())) == std::string::npos) throw std::runtime_error(line);
        image.fill_output(stream);
        plan.run(stream);
        if (!image.right(stream)) throw std::runtime_error("wrong result");
      });
      CHECK(thrown == std::vector<std::string>(4));
    };
    twill::global_options options;
    chosen(options, twill::transport::direct);
    options.ranks_per_node = 2;
    chosen(options, twill::transport::mixed);
    options.ranks_per_node = 1;
    chosen(options, twill::transport::mpi);
  });
}

TEST_CASE("mixed: errors") {
  const auto device = twill::device::open(support::test_devices().front());
  const auto one = slab_transpose(4, 8, 8, 4);
  const auto ranks = [&](const std::function<twill::global_options(int)>& options, bool with_messages) {
    support::thread_links links(4);
    return support::on_each_rank(4, [&](int rank) {
      const auto team = twill::team::of_link(device, links.link(rank, with_messages));
      support::right_on_rank(team, one, options(rank), 1);
    });
  };
  const auto all_say = [](const std::vector<std::string>& thrown, const std::string& what) {
    for (const auto& text : thrown) {
      CAPTURE(text);
      CHECK(text.find(what) != std::string::npos);
    }
  };
  // With a library of collectives, it is that one that refuses several ranks on one GPU.
  for (const auto& text : ranks([](int) { return mixed(2); }, false)) {
    CAPTURE(text);
    const bool of_library = device.properties().is_gpu && text.find("a GPU of its own") != std::string::npos;
    CHECK((of_library || text.find("transport mixed does not reach all ranks") != std::string::npos));
  }
  all_say(ranks([](int rank) { return mixed(rank == 3 ? 1 : 2); }, true),
          "ranks disagree on the number of ranks of a node (rank 3");
  all_say(ranks([](int) { return mixed(-1); }, true), "negative");
  const auto direct = [](int) {
    twill::global_options options = mixed(2);
    options.via = twill::transport::direct;
    return options;
  };
  all_say(ranks(direct, true), "are on different nodes");
}

TEST_CASE("mixed: a rank that does not come to a run") {
  on_each_device([](const twill::device& device) {
    if (device.properties().is_gpu) return;
    support::thread_links links(4, std::chrono::milliseconds(200));
    const auto one = slab_transpose(4, 30, 30, 4);
    std::atomic<int> waiting{0};
    const auto thrown = support::on_each_rank(4, [&](int rank) {
      const auto team = twill::team::of_link(device, links.link(rank));
      const twill::stream stream(device);
      support::rank_image image(one, rank, stream, 0);
      auto options = mixed(2);
      options.timeout = std::chrono::milliseconds(200);
      twill::global_transpose plan(team, one.element_bytes, one.shape, {image.memory()}, options);
      if (rank == 3) {
        while (waiting < 3) std::this_thread::yield();
        return;
      }
      const std::string text = message_of([&] { plan.run(stream); });
      ++waiting;
      throw std::runtime_error(text);
    });
    CHECK(thrown[3].empty());
    CHECK(thrown[2].find("rank 3 did not come to this run") != std::string::npos);
    for (const int rank : {0, 1})
      CHECK(thrown[static_cast<std::size_t>(rank)].find("no message from rank") != std::string::npos);
  });
}

TEST_SUITE_END();
