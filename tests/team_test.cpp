#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <twill/twill.hpp>

#include "support/cases.hpp"
#include "support/devices.hpp"
#include "support/team_run.hpp"
#include "support/thread_link.hpp"

namespace {

using support::code_of;

twill::device some_device() {
  return twill::device::open(support::test_devices().front());
}

}  // namespace

TEST_SUITE_BEGIN("team");

TEST_CASE("devices of one process") {
  const auto device = some_device();
  const auto team = twill::team::of_devices({device, device, device});
  CHECK(team.size() == 3);
  CHECK(team.local_ranks() == std::vector<int>{0, 1, 2});
  CHECK(team.local_device(2) == device);
  REQUIRE(team.members().size() == 3);
  CHECK(team.members()[1].device == device.properties().name);
  CHECK(team.members()[1].process == team.members()[0].process);
  CHECK(code_of([&] { team.local_device(3); }) == twill::errc::invalid_argument);
  const auto other = twill::team::of_devices({device});  // several at once
  CHECK(other.size() == 1);
}

TEST_CASE("ranks with a link") {
  support::thread_links links(4);
  const auto device = some_device();
  const auto thrown = support::on_each_rank(4, [&](int rank) {
    const auto team = twill::team::of_link(device, links.link(rank));
    if (team.size() != 4 || team.local_ranks() != std::vector<int>{rank}) throw std::runtime_error("wrong ranks");
    if (team.members().size() != 4) throw std::runtime_error("wrong members");
  });
  CHECK(thrown == std::vector<std::string>(4));
}

TEST_CASE("life") {
  twill::team empty;
  CHECK(!empty.is_open());
  CHECK(code_of([&] { empty.size(); }) == twill::errc::invalid_argument);
  CHECK(code_of([&] { empty.members(); }) == twill::errc::invalid_argument);
  auto team = twill::team::of_devices({some_device()});
  const twill::team copy = team;
  empty = std::move(team);
  CHECK(empty.size() == 1);
  CHECK(copy.size() == 1);
}

TEST_CASE("errors") {
  const auto device = some_device();
  CHECK(code_of([&] { twill::team::of_devices({}); }) == twill::errc::invalid_argument);
  CHECK(code_of([&] { twill::team::of_devices({device, twill::device()}); }) == twill::errc::invalid_argument);
  CHECK(code_of([&] { twill::team::of_link(device, {}); }) == twill::errc::invalid_argument);
  support::thread_links links(2);
  auto link = links.link(0);
  link.rank = 2;
  CHECK(code_of([&] { twill::team::of_link(device, link); }) == twill::errc::invalid_argument);
  link = links.link(0);
  link.finish = nullptr;
  CHECK(code_of([&] { twill::team::of_link(device, link); }) == twill::errc::invalid_argument);
}

TEST_CASE("ranks that disagree on the size") {
  support::thread_links links(3);
  const auto device = some_device();
  const auto thrown = support::on_each_rank(3, [&](int rank) {
    auto link = links.link(rank);
    // The link gathers three parts, one of which comes from a rank that believes in a team of three of another size.
    if (rank == 1) {
      const auto gather = link.allgather;
      link.size = 4;
      link.allgather = [gather](const void* mine, void* all, std::size_t bytes) {
        gather(mine, all, bytes);
        std::memcpy(static_cast<char*>(all) + 3 * bytes, mine, bytes);
      };
    }
    twill::team::of_link(device, link);
  });
  for (const auto& text : thrown) {
    CAPTURE(text);
    CHECK(text.find("ranks disagree on the team's size") != std::string::npos);
    CHECK(text.find("rank 1") != std::string::npos);
  }
}

TEST_CASE("a link that fails, and one whose peer is missing") {
  const auto device = some_device();
  twill::team_link link;
  link.size = 2;
  link.allgather = [](const void*, void*, std::size_t) { throw std::runtime_error("the wire is cut"); };
  const std::string text = support::message_of([&] { twill::team::of_link(device, link); });
  CAPTURE(text);
  CHECK(text.find("the wire is cut") != std::string::npos);
  CHECK(text.find("rank 0") != std::string::npos);
  CHECK(code_of([&] { twill::team::of_link(device, link); }) == twill::errc::device_fault);

  support::thread_links links(3, std::chrono::milliseconds(100));
  const auto thrown = support::on_each_rank(3, [&](int rank) {
    if (rank != 2) twill::team::of_link(device, links.link(rank));
  });
  CHECK(thrown[0].find("missing: 2") != std::string::npos);
  CHECK(thrown[1].find("missing: 2") != std::string::npos);
}

TEST_CASE("bytes of each pair of ranks") {
  const auto device = some_device();
  const auto team = twill::team::of_devices({device, device, device});
  twill::raw_buffer in(device, 64), out(device, 64);
  // 4 rows in 3 parts, of 2, 1 and 1; 5 columns in parts of 2, 2 and 1.
  const twill::global_shape shape{{4, 5}, {{3, 1}}, {{1, 3}, {1, 0}}};
  const twill::member_memory memory{in.data(), out.data()};
  const auto at = [](void* p, int bytes) { return static_cast<char*>(p) + bytes; };
  twill::global_transpose plan(
      team, 1, shape, {memory, {at(in.data(), 20), at(out.data(), 20)}, {at(in.data(), 40), at(out.data(), 40)}});
  const int rows[] = {2, 1, 1}, cols[] = {2, 2, 1};
  for (int from = 0; from < 3; ++from) {
    std::int64_t to_others = 0;
    for (int to = 0; to < 3; ++to) {
      CHECK(plan.bytes_sent(from, to) == rows[from] * cols[to]);
      to_others += to == from ? 0 : plan.bytes_sent(from, to);
    }
    CHECK(plan.bytes_sent(from) == to_others);
  }
  CHECK(code_of([&] { plan.bytes_sent(3, 0); }) == twill::errc::invalid_argument);
  CHECK(code_of([&] { plan.bytes_sent(0, 3); }) == twill::errc::invalid_argument);
}

TEST_CASE("ranks of one process are spread over all GPUs of a model") {
  support::on_each_device([](const twill::device& device) {
    const auto names = support::test_devices();
    const auto is_like = [&](const std::string& name) {
      return name.find(device.properties().backend + ":") == 0 &&
             twill::device::open(name).properties().model == device.properties().model;
    };
    if (!device.properties().is_gpu) return;
    const auto count = static_cast<std::size_t>(std::count_if(names.begin(), names.end(), is_like));
    const auto ranks = support::team_devices(device, static_cast<int>(count));
    for (std::size_t i = 0; i < count; ++i) CHECK(std::count(ranks.begin(), ranks.end(), ranks[i]) == 1);
  });
}

TEST_SUITE_END();
