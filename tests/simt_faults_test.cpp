// What goes wrong in kernels and launches on the simulated device: reported with its place, never a hang.

#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/environment.hpp"
#include "support/simt_launch.hpp"

namespace twill::simt {
namespace {

__global__ void half_return() {
  if (threadIdx.x >= 40) return;
  __syncthreads();
}

__global__ void one_more_barrier() {
  __syncthreads();
  if (threadIdx.x == 3) __syncthreads();
}

__global__ void half_shuffle(int* out) {
  int value = 1;
  if (threadIdx.x % 32 < 20) value = shuffle_down(value, 1);
  out[threadIdx.x] = value;
}

__global__ void shuffle_meets_barrier(int* out) {
  if (threadIdx.x < 5) {
    out[threadIdx.x] = shuffle(1, 0);
  } else {
    __syncthreads();
  }
}

struct counted {
  explicit counted(int* alive) : alive(alive) { __atomic_fetch_add(alive, 1, __ATOMIC_RELAXED); }
  ~counted() { __atomic_fetch_sub(alive, 1, __ATOMIC_RELAXED); }
  int* alive;
};

__global__ void throw_at(unsigned block, unsigned thread, int* alive) {
  const counted object(alive);
  __syncthreads();
  if (blockIdx.x == block && threadIdx.x == thread) throw std::runtime_error("planted");
  __syncthreads();
}

__global__ void throw_a_number() {
  throw 1;
}

template <class T, int N>
__global__ void throw_from_template(T* out, int (*)(float)) {
  if (N == 3) throw std::runtime_error("planted");
  *out = T{};
}

template <class T>
__global__ void write_one(T* out) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *out += 1;
}

// Frames of several KiB on every fiber.
__global__ void deep(int* out, int depth) {
  volatile char frame[20000];
  frame[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = frame[threadIdx.x] + depth;
}

}  // namespace
}  // namespace twill::simt

using namespace twill;
using support::contains;
using support::error_of;

namespace {

// The fault that a launch leaves in the stream; the stream must be usable afterwards.
template <class... Params, class... Args>
std::string fault_of(stream_ref s, const detail::launch_config& config, void (*kernel)(Params...), Args... args) {
  support::launch(s, config, kernel, args...);
  const auto message = error_of([&] { s.wait(); });
  CHECK(error_of([&] { s.wait(); }) == "");
  int count = 0;
  support::launch(s, support::line(8, 64), &simt::write_one<int>, &count);
  s.wait();
  CHECK(count == 1);
  return message;
}

}  // namespace

TEST_SUITE_BEGIN("simt faults");

TEST_CASE("a barrier that returned threads cannot reach is a fault, in every order") {
  const auto gpu = support::unchecked_simt();
  const stream s(gpu);
  for (const auto order : {interleaving::forward, interleaving::reverse, interleaving::shuffled}) {
    set_interleaving(gpu, order, 4);
    const auto message = fault_of(s, support::line(1, 64), &simt::half_return);
    CHECK(contains(
        message,
        "kernel twill::simt::(anonymous namespace)::half_return failed in block "
        "(0,0,0) (40 of 64 threads reached a barrier, 24 returned; thread (0,0,0) waits at simt_faults_test.cpp:"));
  }
}

TEST_CASE("a barrier that only some reach is a fault") {
  const stream s(support::unchecked_simt());
  CHECK(contains(fault_of(s, support::line(300, 32), &simt::one_more_barrier),
                 "1 of 32 threads reached a barrier, 31 returned"));
  std::vector<int> out(64);
  CHECK(contains(fault_of(s, support::line(1, 32), &simt::shuffle_meets_barrier, out.data()),
                 "27 of 32 threads reached a barrier, 0 returned"));
}

TEST_CASE("a shuffle that only some lanes reach is a fault") {
  const stream s(support::unchecked_simt());
  std::vector<int> out(64);
  CHECK(contains(fault_of(s, support::line(1, 64), &simt::half_shuffle, out.data()),
                 "half_shuffle failed in block (0,0,0) (20 of 32 lanes of warp 0 reached a shuffle)"));
}

TEST_CASE("an exception in a kernel is a fault, and unwinds every thread of its block") {
  const auto gpu = support::unchecked_simt();
  const stream s(gpu);
  for (const auto order : {interleaving::forward, interleaving::reverse, interleaving::shuffled}) {
    set_interleaving(gpu, order, 6);
    for (const unsigned thread : {0u, 17u, 99u}) {
      int alive = 0;
      const auto message = fault_of(s, support::line(50, 100), &simt::throw_at, 33u, thread, &alive);
      CHECK(contains(message,
                     "throw_at failed in block (33,0,0) (thread (" + std::to_string(thread) + ",0,0) threw: planted)"));
      CHECK(alive == 0);
    }
  }
  CHECK(contains(fault_of(s, support::line(2, 2), &simt::throw_a_number), "threw something that is no"));
}

TEST_CASE("names of kernels keep their template arguments, not their parameters") {
  const stream s(support::unchecked_simt());
  long out = 0;
  int (*const nothing)(float) = nullptr;
  CHECK(contains(fault_of(s, support::line(1, 1), &simt::throw_from_template<long, 3>, &out, nothing),
                 "kernel twill::simt::(anonymous namespace)::throw_from_template<long, 3> failed"));
}

TEST_CASE("behind a fault nothing runs until it was waited for") {
  const auto gpu = support::unchecked_simt();
  const stream s(gpu), other(gpu);
  int here = 0, there = 0;
  support::launch(s, support::line(1, 64), &simt::half_return);
  support::launch(s, support::line(1, 64), &simt::throw_a_number);
  support::launch(s, support::line(1, 64), &simt::write_one<int>, &here);
  support::launch(other, support::line(1, 64), &simt::write_one<int>, &there);
  other.wait();
  CHECK(there == 1);
  CHECK(contains(error_of([&] { s.wait(); }), "half_return"));
  CHECK(here == 0);
  s.wait();
}

TEST_CASE("launches beyond the limits are refused") {
  const auto gpu = support::unchecked_simt(), old = device::open("simt:gtx280");
  set_checks(old, false);
  const auto refusal = [](const device& on, const detail::launch_config& config) {
    const stream s(on);
    int count = 0;
    const auto message = error_of([&] { support::launch(s, config, &simt::write_one<int>, &count); });
    s.wait();
    CHECK(count == (message.empty() ? 1 : 0));
    return message;
  };
  CHECK(refusal(gpu, support::line(1, 1024, 65536)) == "");
  CHECK(contains(
      refusal(gpu, support::line(1, 1025)),
      "launch_failed: launch of a test kernel failed (too_many_threads: a block of 1025, the device has 1024)"));
  CHECK(contains(refusal(gpu, {{1, 1, 1}, {65536, 65536, 65536}, 0}), "too_many_threads"));
  CHECK(contains(refusal(gpu, support::line(1, 1, 65537)), "a block asks for 65537, the device has 65536 bytes"));
  CHECK(contains(refusal(gpu, support::line(0, 1)), "an extent of the grid or the block is 0"));
  CHECK(contains(refusal(gpu, support::line(1, 0)), "an extent of the grid or the block is 0"));
  CHECK(contains(refusal(gpu, {{1, 65536, 1}, {1, 1, 1}, 0}),
                 "too_many_blocks: an extent of 65536, the device has 65535"));
  CHECK(contains(refusal(gpu, support::line(1u << 31, 1)), "too_many_blocks"));
  CHECK(refusal(old, support::line(1, 512, 16384)) == "");
  CHECK(refusal(old, support::line(65535, 1)) == "");
  CHECK(contains(refusal(old, support::line(65536, 1)), "an extent of 65536, the device has 65535"));
  CHECK(contains(refusal(old, support::line(1, 513)), "a block of 513, the device has 512"));
  CHECK(contains(refusal(old, support::line(1, 1, 16385)), "a block asks for 16385, the device has 16384 bytes"));
}

TEST_CASE("each thread has a stack of its own") {
  const stream s(support::unchecked_simt());
  std::vector<int> out(1024);
  support::launch(s, support::line(4, 1024), &simt::deep, out.data(), 6);
  s.wait();
  CHECK(out == std::vector<int>(1024, 7));
}

TEST_CASE("the default stream takes launches of several threads") {
  const auto gpu = support::unchecked_simt();
  const stream_ref s(gpu, nullptr);
  std::vector<int> counts(4);
  std::vector<std::thread> hosts;
  for (auto& count : counts) {
    hosts.emplace_back([&, s] {
      for (int i = 0; i < 100; ++i) support::launch(s, support::line(3, 40), &simt::write_one<int>, &count);
    });
  }
  for (auto& host : hosts) host.join();
  s.wait();
  CHECK(counts == std::vector<int>(4, 100));
}

TEST_SUITE_END();
