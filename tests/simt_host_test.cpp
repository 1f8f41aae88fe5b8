// What the devices on the CPU share: the team of threads, allocations, streams and events.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "backends/host/host_device.hpp"
#include "backends/simt/executor.hpp"
#include "support/simt_launch.hpp"

using namespace twill;

TEST_SUITE_BEGIN("simt host");

TEST_CASE("a team runs each index once: on workers of their own, or with the caller") {
  const host::thread_team team(3);
  CHECK(team.size() == 3);
  for (const std::size_t count : {0, 1, 2, 3, 4, 1000}) {
    std::vector<std::atomic<int>> times(count);
    std::vector<std::set<std::thread::id>> seen(3);
    team.run_on_workers(count, [&](std::size_t index, int worker) {
      ++times[index];
      seen[static_cast<std::size_t>(worker)].insert(std::this_thread::get_id());
    });
    for (const auto& one : times) CHECK(one == 1);
    for (const auto& ids : seen) {
      CHECK(ids.size() <= 1);
      CHECK(ids.count(std::this_thread::get_id()) == 0);
    }
    std::mutex mutex;
    std::set<std::thread::id> threads;
    team.run(count, [&](std::size_t index) {
      ++times[index];
      const std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
    });
    for (const auto& one : times) CHECK(one == 2);
    CHECK(threads.size() <= 3);
    if (count == 1) CHECK(threads == std::set{std::this_thread::get_id()});
  }
}

TEST_CASE("two indices run at the same time on two threads") {
  const host::thread_team team(2);
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> here{0};
    team.run(2, [&](std::size_t) {
      ++here;
      while (here < 2) std::this_thread::yield();
    });
    CHECK(here == 2);
  }
}

TEST_CASE("a team carries exceptions back, leaves out the rest and goes on") {
  for (const int threads : {1, 4}) {
    const host::thread_team team(threads);
    for (int round = 0; round < 50; ++round) {
      std::atomic<int> begun{0};
      const auto fail_at_ten = [&](std::size_t index) {
        ++begun;
        if (index == 10) throw std::runtime_error("ten");
      };
      CHECK_THROWS_AS(team.run(1000, fail_at_ten), std::runtime_error);
      if (threads == 1) CHECK(begun == 11);
      CHECK_THROWS_AS(team.run_on_workers(1000, [&](std::size_t index, int) { fail_at_ten(index); }),
                      std::runtime_error);
      begun = 0;
      team.run(20, [&](std::size_t) { ++begun; });
      CHECK(begun == 20);
    }
  }
}

TEST_CASE("teams of several sizes and callers work side by side, and a loop may run another") {
  std::atomic<int> sum{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&sum, c] {
      const host::thread_team team(1 + c);
      for (int i = 0; i < 200; ++i) {
        team.run(5, [&](std::size_t index) {
          team.run(3, [&](std::size_t inner) { sum += static_cast<int>(index * inner); });
        });
        team.run_on_workers(2, [&](std::size_t index, int) { sum += static_cast<int>(index); });
      }
    });
  }
  for (auto& caller : callers) caller.join();
  CHECK(sum == 4 * 200 * (10 * 3 + 1));
}

TEST_CASE("stacks of simulated threads are the workers', however many devices there are") {
  const auto mappings = [] {
    std::ifstream file("/proc/self/maps");
    return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
  };
  const auto run = [] {
    host::thread_team team(2);
    simt::executor blocks(team);
    const simt::kernel_call nothing{[](const void*) {}};
    blocks.run({nothing, {{64, 1, 1}, {32, 1, 1}, 0}, {}});
  };
  run();
  const auto before = mappings();
  for (int i = 0; i < 40; ++i) run();
  CHECK(mappings() <= before + 2 * 2 * 1024 + 64);  // at most one worker had not had a block yet
}

TEST_CASE("allocations are known by any address in them, also after their end") {
  host::allocations known;
  char memory[100];
  CHECK_FALSE(known.find(memory));
  known.add(memory, 40);
  known.add(memory + 40, 10);
  CHECK(known.live_bytes() == 50);
  CHECK(known.find(memory + 39)->bytes == 40);
  CHECK(known.find(memory + 40)->bytes == 10);
  CHECK_FALSE(known.find(memory + 50));
  CHECK(known.remove(memory) == 40);
  CHECK_FALSE(known.remove(memory));
  CHECK(known.live_bytes() == 10);
  CHECK(known.find(memory + 5)->released);
  known.add(memory, 20);
  CHECK_FALSE(known.find(memory + 5)->released);
  CHECK(known.find(memory + 25)->released);
}

TEST_CASE("streams and events of the devices on the CPU") {
  for (const char* name : {"cpu", "simt"}) {
    const auto device = device::open(name);
    const stream s(device), other(device);
    event start(device), end(device);
    start.record(s);
    buffer<int> a(device, 3), b(device, 3);
    a.upload({1, 2, 3}, s);
    end.record(s);
    other.wait(end);
    copy_bytes(other, a.data(), b.data(), a.size_bytes());
    fill_bytes(other, a.data(), 1, 4);
    std::vector<int> result(3);
    b.download(result, other);
    other.wait();
    end.wait();
    CHECK(result == std::vector<int>{1, 2, 3});
    CHECK(a.data()[0] == 0x01010101);
    CHECK(end.elapsed(start).count() >= 0);
    CHECK(end.elapsed(start).count() < 60);
    CHECK(device.memory().total_bytes == device.properties().memory_bytes);
    CHECK(device.properties().multiprocessors >= 1);
    CHECK(device.properties().architecture != "");
  }
}

TEST_SUITE_END();
