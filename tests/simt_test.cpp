// The order in which a simulated device runs threads and blocks.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include <twill/simt.hpp>

#include "support/environment.hpp"
#include "support/simt_launch.hpp"

namespace twill::simt {
namespace {

// Lists the threads in the order in which they come, for each of two barrier intervals.
__global__ void list_threads(unsigned* first, unsigned* second) {
  __shared__ unsigned next[2];
  if (threadIdx.x == 0) next[0] = next[1] = 0;
  __syncthreads();
  first[atomic_add(&next[0], 1u)] = threadIdx.x;
  __syncthreads();
  second[atomic_add(&next[1], 1u)] = threadIdx.x;
}

__global__ void list_blocks(unsigned* order, unsigned* next) {
  if (threadIdx.x == 0) order[atomic_add(next, 1u)] = blockIdx.x + gridDim.x * blockIdx.y;
}

// Each thread passes its number to the next one: with a barrier in between, or with the barrier forgotten.
template <bool Barrier>
__global__ void pass_on(int* out) {
  __shared__ int tile[256];
  tile[threadIdx.x] = -1;
  __syncthreads();
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (Barrier) __syncthreads();
  out[threadIdx.x] = threadIdx.x == 0 ? 0 : tile[threadIdx.x - 1];
}

// Block 0 waits for block 1, which therefore must run at the same time.
__global__ void wait_for_the_other(std::uint32_t* flag, std::uint32_t* data, std::uint32_t* out) {
  if (blockIdx.x == 1) {
    store_relaxed(data, 42u);
    store_release(flag, 1u);
    return;
  }
  while (load_acquire(flag) == 0) {
  }
  *out = load_relaxed(data);
}

struct thread_lists {
  std::vector<unsigned> first, second;
};

thread_lists threads_in_order(const device& on, unsigned threads) {
  thread_lists lists{std::vector<unsigned>(threads), std::vector<unsigned>(threads)};
  const stream s(on);
  support::launch(s, support::line(1, threads), &list_threads, lists.first.data(), lists.second.data());
  s.wait();
  return lists;
}

std::vector<unsigned> blocks_in_order(const device& on, detail::extent3 grid) {
  std::vector<unsigned> order(std::size_t{grid.x} * grid.y);
  unsigned next = 0;
  const stream s(on);
  support::launch(s, {grid, {32, 1, 1}, 0}, &list_blocks, order.data(), &next);
  s.wait();
  return order;
}

template <bool Barrier>
bool passes_on(const device& on) {
  std::vector<int> out(256);
  const stream s(on);
  support::launch(s, support::line(1, 256), &pass_on<Barrier>, out.data());
  s.wait();
  for (int t = 1; t < 256; ++t) {
    if (out[static_cast<std::size_t>(t)] != t - 1) return false;
  }
  return true;
}

}  // namespace
}  // namespace twill::simt

using namespace twill;

namespace {

std::vector<unsigned> counting(unsigned count) {
  std::vector<unsigned> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0u);
  return numbers;
}

std::vector<unsigned> sorted(std::vector<unsigned> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace

TEST_SUITE_BEGIN("simt");

TEST_CASE("threads run in the order chosen") {
  const auto gpu = support::unchecked_simt();
  const auto up = counting(100);
  auto down = up;
  std::reverse(down.begin(), down.end());

  const auto forward = simt::threads_in_order(gpu, 100);
  CHECK(forward.first == up);
  CHECK(forward.second == up);

  set_interleaving(gpu, interleaving::reverse);
  const auto reverse = simt::threads_in_order(gpu, 100);
  CHECK(reverse.first == down);
  CHECK(reverse.second == down);

  set_interleaving(gpu, interleaving::shuffled, 1);
  const auto shuffled = simt::threads_in_order(gpu, 100);
  CHECK(sorted(shuffled.first) == up);
  CHECK(sorted(shuffled.second) == up);
  CHECK(shuffled.first != up);
  CHECK(shuffled.first != shuffled.second);
}

TEST_CASE("blocks run in the order chosen") {
  const support::environment one_thread("TWILL_THREADS", "1");
  const auto gpu = support::unchecked_simt();
  for (const unsigned count : {1u, 2u, 7u, 64u, 1000u}) {
    const auto up = counting(count);
    auto down = up;
    std::reverse(down.begin(), down.end());
    set_interleaving(gpu, interleaving::forward);
    CHECK(simt::blocks_in_order(gpu, {count, 1, 1}) == up);
    set_interleaving(gpu, interleaving::reverse);
    CHECK(simt::blocks_in_order(gpu, {count, 1, 1}) == down);
    set_interleaving(gpu, interleaving::shuffled, 3);
    const auto shuffled = simt::blocks_in_order(gpu, {count, 1, 1});
    CHECK(sorted(shuffled) == up);
    if (count >= 64) {
      CHECK(shuffled != up);
      CHECK(shuffled != down);
    }
  }
  set_interleaving(gpu, interleaving::forward);
  CHECK(simt::blocks_in_order(gpu, {20, 30, 1}) == counting(600));
}

TEST_CASE("a seed gives the same orders again, another seed others") {
  const support::environment one_thread("TWILL_THREADS", "1");
  const auto gpu = support::unchecked_simt(), other = support::unchecked_simt();
  set_interleaving(gpu, interleaving::shuffled, 11);
  set_interleaving(other, interleaving::shuffled, 11);
  const auto threads = simt::threads_in_order(gpu, 333);
  const auto blocks = simt::blocks_in_order(gpu, {333, 1, 1});
  CHECK(simt::threads_in_order(gpu, 333).first == threads.first);
  CHECK(simt::threads_in_order(other, 333).second == threads.second);
  CHECK(simt::blocks_in_order(other, {333, 1, 1}) == blocks);
  set_interleaving(other, interleaving::shuffled, 12);
  CHECK(simt::threads_in_order(other, 333).first != threads.first);
  CHECK(simt::blocks_in_order(other, {333, 1, 1}) != blocks);
}

TEST_CASE("a forgotten barrier shows in another order") {
  const auto gpu = support::unchecked_simt();
  CHECK(simt::passes_on<false>(gpu));  // by luck
  set_interleaving(gpu, interleaving::reverse);
  CHECK_FALSE(simt::passes_on<false>(gpu));
  CHECK(simt::passes_on<true>(gpu));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    set_interleaving(gpu, interleaving::shuffled, seed);
    CHECK_FALSE(simt::passes_on<false>(gpu));
    CHECK(simt::passes_on<true>(gpu));
  }
}

TEST_CASE("blocks run at the same time on several OS threads") {
  const support::environment four_threads("TWILL_THREADS", "4");
  const auto gpu = support::unchecked_simt();
  CHECK(gpu.properties().multiprocessors == 4);
  const stream s(gpu);
  std::uint32_t flag = 0, data = 0, out = 0;
  support::launch(s, support::line(2, 1), &simt::wait_for_the_other, &flag, &data, &out);
  s.wait();
  CHECK(out == 42);
}

TEST_CASE("the environment sets the order that a device starts with") {
  const auto up = counting(64);
  auto down = up;
  std::reverse(down.begin(), down.end());
  {
    const support::environment order("TWILL_SIMT_ORDER", "reverse");
    CHECK(simt::threads_in_order(support::unchecked_simt(), 64).first == down);
  }
  {
    const support::environment order("TWILL_SIMT_ORDER", "shuffled:8");
    const auto by_environment = simt::threads_in_order(support::unchecked_simt(), 64).first;
    const auto gpu = support::unchecked_simt();
    set_interleaving(gpu, interleaving::shuffled, 8);
    CHECK(simt::threads_in_order(gpu, 64).first == by_environment);
  }
  CHECK(simt::threads_in_order(support::unchecked_simt(), 64).first == up);
}

TEST_CASE("errors") {
  CHECK(support::contains(support::error_of([] { set_interleaving(device::open("cpu"), interleaving::reverse); }),
                          "unsupported: cpu has no order of threads"));
  for (const char* wrong : {"backwards", "shuffled:", "shuffled:x", "shuffled:1 ", "", "shuffled:-1"}) {
    const support::environment order("TWILL_SIMT_ORDER", wrong);
    CHECK(support::contains(support::error_of([] { device::open("simt"); }),
                            "invalid_argument: device::open: no interleaving \"" + std::string(wrong) + "\""));
  }
  for (const char* wrong : {"0", "-1", "two", "", "1025", "3 "}) {
    const support::environment threads("TWILL_THREADS", wrong);
    CHECK(support::contains(support::error_of([] { device::open("simt"); }),
                            "invalid_argument: device::open: TWILL_THREADS is \"" + std::string(wrong) + "\""));
  }
}

TEST_CASE("tags that a device gives differ in both halves") {
  const device on = device::open("simt");
  std::set<std::uint64_t> low, high;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t tag = on.impl()->tags.next();
    low.insert(tag & UINT32_MAX);
    high.insert(tag >> 32);
  }
  const std::uint64_t other = device::open("cpu").impl()->tags.next();
  CHECK(low.count(other & UINT32_MAX) + high.count(other >> 32) == 0);  // by chance as likely as 1 in 2 million
  CHECK(low.size() == 1000);
  CHECK(high.size() == 1000);
}

TEST_SUITE_END();
