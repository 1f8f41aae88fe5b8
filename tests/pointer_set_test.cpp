// The set of kernels that a GPU was asked about.

#include <doctest/doctest.h>

#include <cstddef>
#include <thread>
#include <vector>

#include "backends/gpu/pointer_set.hpp"

TEST_SUITE_BEGIN("pointer set");

TEST_CASE("holds what was added, up to its capacity, whatever its places") {
  twill::detail::pointer_set<64> set;
  static const char all[100] = {};
  for (int i = 0; i < 100; ++i) {
    CHECK_FALSE(set.contains(all + i));
    set.add(all + i);
    set.add(all + i);
    CHECK(set.contains(all + i) == (i < 64));
  }
  for (int i = 0; i < 100; ++i) CHECK(set.contains(all + i) == (i < 64));
}

TEST_CASE("threads add at the same time") {
  twill::detail::pointer_set<256> set;
  static const char all[256] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 256; ++i) set.add(all + (i + 64 * t) % 256);
    });
  }
  for (auto& each : threads) each.join();
  for (const char& each : all) CHECK(set.contains(&each));
}

TEST_SUITE_END();
