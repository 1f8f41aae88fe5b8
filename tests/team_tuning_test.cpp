// Plans that are tuned on request: what ranks settle on, and what is saved.

#include <doctest/doctest.h>

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

using support::code_of;
using support::message_of;
using support::on_each_device;
using support::slab_transpose;

bool says(const std::string& text, const std::string& what) {
  CAPTURE(text);
  CHECK(text.find(what) != std::string::npos);
  return text.find(what) != std::string::npos;
}

// Each message takes 100 ms: what is measured must find that.
twill::team_link slow_link(support::thread_links& links, int rank) {
  twill::team_link link = links.link(rank);
  link.send = [send = link.send](int peer, const void* data, std::size_t bytes) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return send(peer, data, bytes);
  };
  return link;
}

}  // namespace

TEST_SUITE_BEGIN("global transpose");

TEST_CASE("a tuned plan, and one that is made as it was") {
  on_each_device([](const twill::device& device) {
    const auto one = slab_transpose(3, 384, 288, 4);
    support::team_images images(device, one);
    twill::global_transpose plan(images.team, one.element_bytes, one.shape, images.memory);
    const std::string line = plan.tune(images.streams, 2);
    CAPTURE(line);
    CHECK(line.find('\n') == std::string::npos);
    CHECK(line.find(std::string(": ") + name(plan.via()) + " blocks") != std::string::npos);
    CHECK(line.find("3 " + device.properties().backend) != std::string::npos);
    CHECK(images.right_after(plan));
    CHECK(images.right_after(plan));
    twill::global_options options;
    options.tuning = line;
    twill::global_transpose again(images.team, one.element_bytes, one.shape, images.memory, options);
    CHECK(again.via() == plan.via());
    CHECK(images.right_after(again));
    plan.tune(images.streams, 1);  // once more
    CHECK(images.right_after(plan));
  });
}

TEST_CASE("what the options name is not varied") {
  on_each_device([](const twill::device& device) {
    const auto one = slab_transpose(2, 128, 128, 4);
    support::team_images images(device, one);
    const auto tuned = [&](const twill::global_options& options) {
      twill::global_transpose plan(images.team, one.element_bytes, one.shape, images.memory, options);
      const std::string line = plan.tune(images.streams, 1);
      CHECK(images.right_after(plan));
      return line;
    };
    twill::global_options options;
    options.via = twill::transport::copy;
    options.parts = 3;
    CHECK(says(tuned(options), "1: copy blocks 0 parts 3; 4 bytes, 128x128"));
    options.via = twill::transport::direct;
    options.blocks_per_peer = 5;
    CHECK(says(tuned(options), "1: direct blocks 5 parts 3; "));
  });
}

TEST_CASE("a saved tuning is taken, and the plan is right by each") {
  on_each_device([](const twill::device& device) {
    const auto one = slab_transpose(2, 130, 131, 8);
    support::team_images images(device, one);
    const std::string of =
        "; 8 bytes, 130x131, in parts 2x1 order 0x1 lds 0x0, out parts 1x2 order 1x0 lds 0x0, on 2 " +
        device.properties().backend;
    for (const std::string choice : {"direct blocks 1 parts 0", "direct blocks 7 parts 0", "copy blocks 0 parts 2"}) {
      twill::global_options options;
      options.tuning = "global_transpose tuning 1: " + choice + of;
      twill::global_transpose plan(images.team, one.element_bytes, one.shape, images.memory, options);
      CHECK(choice.find(name(plan.via())) == 0);
      CHECK(images.right_after(plan));
    }
  });
}

TEST_CASE("a tuning that does not fit is refused") {
  const auto device = twill::device::open(support::test_devices().front());
  const auto one = slab_transpose(2, 64, 64, 4);
  support::team_images images(device, one);
  twill::global_transpose plan(images.team, one.element_bytes, one.shape, images.memory);
  const std::string line = plan.tune(images.streams, 1);
  const auto with = [&](const std::string& tuning, const support::redistribution& of, twill::transport via) {
    twill::global_options options;
    options.tuning = tuning;
    options.via = via;
    return message_of(
        [&] { twill::global_transpose(images.team, of.element_bytes, of.shape, images.memory, options); });
  };
  const auto any = twill::transport::automatic;
  CHECK(with(line, one, any).empty());
  CHECK(says(with(line, slab_transpose(2, 64, 32, 4), any),
             "the saved tuning was measured for a different plan (4 bytes, 64x64"));
  CHECK(says(with(line, slab_transpose(2, 64, 64, 2), any), "the saved tuning was measured for a different plan"));
  CHECK(says(with(line + "x", one, any), "the saved tuning was measured for a different plan"));
  for (const std::string wrong : {"direct", "global_transpose tuning 1: ", "global_transpose tuning 1: x; y"}) {
    CHECK(says(with(wrong, one, any), "the saved tuning was not returned by tune()"));
  }
  std::string negative = line;
  negative.replace(negative.find("blocks ") + 7, 0, "-1");
  CHECK(says(with(negative, one, any), "the saved tuning was not returned by tune()"));
  CHECK(says(with(line, one, twill::transport::direct), "beside via"));
  CHECK(code_of([&] { plan.tune(images.streams, 0); }) == twill::errc::invalid_argument);
  CHECK(code_of([&] { plan.tune(images.streams.front()); }) == twill::errc::invalid_argument);
  CHECK(images.right_after(plan));  // nothing was changed
  twill::global_transpose empty;
  CHECK(code_of([&] { empty.tune(images.streams); }) == twill::errc::invalid_argument);
}

TEST_CASE("ranks on threads settle on one choice, and not on slow messages") {
  on_each_device([](const twill::device& device) {
    if (device.properties().is_gpu) return;
    const auto one = slab_transpose(3, 90, 91, 4);
    support::thread_links links(3);
    std::vector<std::string> lines(3);
    const auto thrown = support::on_each_rank(3, [&](int rank) {
      // Only rank 1 has slow messages: it is what the others have to find out.
      const auto team = twill::team::of_link(device, rank == 1 ? slow_link(links, rank) : links.link(rank));
      const twill::stream stream(device);
      support::rank_image image(one, rank, stream, 0);
      twill::global_transpose plan(team, one.element_bytes, one.shape, {image.memory()});
      std::string& line = lines[static_cast<std::size_t>(rank)];
      line = plan.tune(stream, 2);
      // On "cpu" transport mpi goes through shared memory.
      const bool slow = plan.via() == twill::transport::mpi && device.properties().backend != "cpu";
      if (slow) throw std::runtime_error("slow messages were taken");
      image.fill_output(stream);
      plan.run(stream);
      if (!image.right(stream)) throw std::runtime_error("wrong result");
    });
    CHECK(thrown == std::vector<std::string>(3));
    CHECK(!lines[0].empty());
    CHECK(lines[1] == lines[0]);
    CHECK(lines[2] == lines[0]);
  });
}

TEST_CASE("ranks that disagree on the tuning") {
  const auto device = twill::device::open(support::test_devices().front());
  const auto one = slab_transpose(2, 16, 16, 4);
  support::thread_links links(2);
  const auto thrown = support::on_each_rank(2, [&](int rank) {
    const auto team = twill::team::of_link(device, links.link(rank));
    const twill::stream stream(device);
    support::rank_image image(one, rank, stream, 0);
    twill::global_options options;
    options.via = twill::transport::mpi;
    twill::global_transpose plan(team, one.element_bytes, one.shape, {image.memory()}, options);
    const std::string line = plan.tune(stream, 1);
    const std::string runs = message_of([&] { plan.tune(stream, 1 + rank); });
    if (runs.find("ranks disagree on the number of runs") == std::string::npos) throw std::runtime_error(runs);
    options = {};
    if (rank == 1) options.tuning = line;
    twill::global_transpose(team, one.element_bytes, one.shape, {image.memory()}, options);
  });
  for (const auto& text : thrown) CHECK(says(text, "ranks disagree on the transport"));
}

TEST_SUITE_END();
