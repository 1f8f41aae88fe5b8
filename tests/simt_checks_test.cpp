// Faults planted in kernels, each of which the checks of the simulated device find at its line; and kernels that look
// like them and are right.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <twill/profile.hpp>
#include "uninitialised_reads.hpp"

#include "support/simt_launch.hpp"

namespace twill::simt {
namespace {

constexpr int threads = 64;

// Each kernel reverses its block's values; `fault_line` is where it goes wrong.

constexpr int removed_barrier_line = __LINE__ + 5;
__global__ void removed_barrier(int* out, const int* in) {
  __shared__ int held[threads];
  held[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  const int value = held[threads - 1 - threadIdx.x];
  held[threadIdx.x] = value;
  out[threadIdx.x] = value;
}

__global__ void with_barrier(int* out, const int* in) {
  __shared__ int held[threads];
  held[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = held[threads - 1 - threadIdx.x];
  __syncthreads();
  held[threadIdx.x] = 0;
}

constexpr int global_race_line = __LINE__ + 3;
__global__ void global_race(int* out, const int* in) {
  out[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x > 0) out[threadIdx.x - 1] += 1;
}

__global__ void global_atomics(unsigned* out, const int* in) {
  atomic_add(out + threadIdx.x % 4, static_cast<unsigned>(in[threadIdx.x]));
  if (load_relaxed(out) == 12345) store_relaxed(out, 0u);
}

constexpr int early_store_line = __LINE__ + 2;
__global__ void early_store(int* out, const int* in) {
  out[threadIdx.x] = 0;
  wait_for_previous_kernel();
  out[threadIdx.x] = in[threadIdx.x];
}

constexpr int early_load_line = __LINE__ + 2;
__global__ void early_load(int* out, const int* in) {
  const int value = in[threadIdx.x];
  wait_for_previous_kernel();
  out[threadIdx.x] = value;
}

constexpr int one_waits_line = __LINE__ + 3;
__global__ void one_waits(int* out, const int* in) {
  if (threadIdx.x == 0) wait_for_previous_kernel();
  out[threadIdx.x] = in[threadIdx.x];
}

__global__ void ordered_copy(int* out, const int* in) {
  wait_for_previous_kernel();
  out[threadIdx.x] = in[threadIdx.x];
}

constexpr int off_by_one_line = __LINE__ + 2;
__global__ void off_by_one(int* out, const int* in) {
  out[threadIdx.x + 1] = in[threadIdx.x];
}

constexpr int before_begin_line = __LINE__ + 2;
__global__ void before_begin(int* out, const int* in) {
  out[threadIdx.x] = in[static_cast<int>(threadIdx.x) - 1];
}

constexpr int uninitialised_shared_line = __LINE__ + 5;
__global__ void uninitialised_shared(int* out, const int* in) {
  int* held = dynamic_shared<int>();
  if (threadIdx.x < threads - 1) held[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = held[threads - 1 - threadIdx.x];
}

__global__ void uninitialised_discarded(int* out, const int* in) {
  int* held = dynamic_shared<int>();
  if (threadIdx.x < threads - 1) held[threadIdx.x] = in[threadIdx.x];
  allow_uninitialised_reads();
  __syncthreads();
  const int found = held[threads - 1 - threadIdx.x];
  out[threadIdx.x] = threadIdx.x == 0 ? 0 : found;
}

constexpr int past_shared_line = __LINE__ + 2;
__global__ void past_shared(int*, const int* in) {
  dynamic_shared<int>()[threadIdx.x + 1] = in[threadIdx.x];
}

constexpr int misaligned_global_line = __LINE__ + 2;
__global__ void misaligned_global(int* out, const int* in) {
  const word16 found = reinterpret_cast<const word16*>(in + 1)[threadIdx.x % 4];
  out[threadIdx.x] = static_cast<int>(word<0>(found));
}

constexpr int misaligned_shared_line = __LINE__ + 3;
__global__ void misaligned_shared(int*, const int* in) {
  char* held = dynamic_shared<char>();
  *reinterpret_cast<short*>(held + 3 * threadIdx.x) = static_cast<short>(in[threadIdx.x]);
}

struct [[gnu::packed]] odd_place {
  char first;
  int value;
};
__global__ void declared_unaligned(int* out, const int* in) {
  const auto* found = reinterpret_cast<const odd_place*>(in);
  out[threadIdx.x] = found[threadIdx.x % 8].value;
}

constexpr int divergent_barrier_line = __LINE__ + 3;
__global__ void divergent_barrier(int* out, const int* in) {
  if (threadIdx.x < 32) {
    __syncthreads();
  } else {
    out[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
  }
}

constexpr int copy_line = __LINE__ + 2;
__global__ void copy(int* out, const int* in) {
  out[threadIdx.x] = in[threadIdx.x];
}

constexpr int endless_line = __LINE__ + 2;
__global__ void endless(unsigned* out, const int*) {
  while (*const_cast<volatile unsigned*>(out) != 7) *const_cast<volatile unsigned*>(out) = 6;
}

constexpr int endless_barrier_line = __LINE__ + 2;
__global__ void endless_barriers(unsigned*, const int*) {
  for (;;) __syncthreads();
}

__global__ void endless_shuffles(unsigned*, const int*) {
  for (;;) shuffle(1, 0);
}

constexpr int endless_block_line = __LINE__ + 2;
__global__ void endless_last_block(volatile unsigned* out) {
  while (*out != 7 && blockIdx.x == 99) *out = 6;
}

}  // namespace
}  // namespace twill::simt

namespace {

namespace simt = twill::simt;
using support::contains;

struct checked_device {
  checked_device() : gpu(twill::device::open("simt")) { twill::set_checks(gpu, true); }

  template <class T, class Kernel>
  std::string fault_of(Kernel kernel, T* out, const int* in) const {
    const twill::stream s(gpu);
    support::launch(s, support::line(1, simt::threads, simt::threads * sizeof(int)), kernel, out, in);
    return support::error_of([&] { s.wait(); });
  }

  template <class Kernel>
  std::string fault_of(Kernel kernel) const {
    const twill::stream s(gpu);
    twill::buffer<int> in(gpu, simt::threads), out(gpu, simt::threads);
    twill::fill_bytes(s, in.data(), 1, in.size_bytes());
    twill::fill_bytes(s, out.data(), 0, out.size_bytes());
    return fault_of(kernel, out.data(), in.data());
  }

  twill::device gpu;
};

std::string at(int line) {
  return " at simt_checks_test.cpp:" + std::to_string(line);
}

}  // namespace

TEST_SUITE_BEGIN("simt checks" * doctest::skip(TWILL_SANITIZED));

TEST_CASE("a removed barrier is a race on shared memory") {
  const checked_device on;
  const auto fault = on.fault_of(&simt::removed_barrier);
  CHECK(
      contains(fault,
               "device_fault: stream::wait: kernel twill::simt::(anonymous namespace)::removed_barrier failed in block "
               "(0,0,0) (race on shared memory: thread (32,0,0) loads 4 bytes" +
                   at(simt::removed_barrier_line) + ", which thread (31,0,0) stored"));
  CHECK(on.fault_of(&simt::with_barrier).empty());
}

TEST_CASE("a race on shared memory is found in every order of the threads") {
  const checked_device on;
  for (const auto order : {twill::interleaving::reverse, twill::interleaving::shuffled}) {
    twill::set_interleaving(on.gpu, order, 3);
    CHECK(contains(on.fault_of(&simt::removed_barrier), "race on shared memory"));
    CHECK(on.fault_of(&simt::with_barrier).empty());
  }
}

TEST_CASE("a race on global memory") {
  const checked_device on;
  const auto fault = on.fault_of(&simt::global_race);
  CHECK(contains(fault, "(race on global memory: thread (1,0,0) loads 4 bytes" + at(simt::global_race_line) +
                            ", which thread (0,0,0) stored" + at(simt::global_race_line - 1) +
                            " since the last barrier) put a __syncthreads()"));
}

TEST_CASE("atomic operations do not race") {
  const checked_device on;
  const twill::stream s(on.gpu);
  twill::buffer<int> in(on.gpu, simt::threads);
  twill::buffer<unsigned> out(on.gpu, 4);
  twill::fill_bytes(s, in.data(), 1, in.size_bytes());
  twill::fill_bytes(s, out.data(), 0, out.size_bytes());
  CHECK(on.fault_of(&simt::global_atomics, out.data(), in.data()).empty());
}

TEST_CASE("an access of a dependent launch before it has waited for the kernel before it") {
  const checked_device on;
  const twill::stream s(on.gpu);
  twill::buffer<int> in(on.gpu, simt::threads), out(on.gpu, simt::threads);
  twill::fill_bytes(s, in.data(), 1, in.size_bytes());
  auto config = support::line(1, simt::threads);
  CHECK(on.fault_of(&simt::early_store, out.data(), in.data()).empty());  // an ordinary launch
  config.dependent = true;
  const auto fault = [&](void (*kernel)(int*, const int*)) {
    support::launch(s, config, kernel, out.data(), static_cast<const int*>(in.data()));
    return support::error_of([&] { s.wait(); });
  };
  CHECK(fault(&simt::ordered_copy).empty());
  CHECK(contains(fault(&simt::one_waits), "(thread (1,0,0) loads 4 bytes" + at(simt::one_waits_line) + ", which the "));
  CHECK(
      contains(fault(&simt::early_load),
               "(thread (0,0,0) loads 4 bytes" + at(simt::early_load_line) +
                   ", which the preceding kernel in the stream may still be writing) call wait_for_previous_kernel()"));
  CHECK(
      contains(fault(&simt::early_store), "(thread (0,0,0) stores 4 bytes" + at(simt::early_store_line) +
                                              ", which the preceding kernel in the stream may still be using) call "));
}

TEST_CASE("a store past an allocation, and a load before one") {
  const checked_device on;
  const auto behind = on.fault_of(&simt::off_by_one);
  CHECK(contains(behind, "(thread (63,0,0) stores 4 bytes" + at(simt::off_by_one_line) +
                             ", 0 bytes past the end of an allocation of 256 bytes) compare indices"));
  const auto before = on.fault_of(&simt::before_begin);
  CHECK(contains(before, "(thread (0,0,0) loads 4 bytes" + at(simt::before_begin_line)));
  CHECK(contains(before, " an allocation of 256 bytes) compare indices"));
}

TEST_CASE("host memory, which is no device's, and is far from any allocation") {
  const checked_device on;
  const twill::buffer<int> out(on.gpu, simt::threads);
  const int on_the_stack[simt::threads] = {};
  CHECK(contains(on.fault_of(&simt::copy, const_cast<int*>(out.data()), on_the_stack),
                 "(thread (0,0,0) loads 4 bytes" + at(simt::copy_line) +
                     ", which is not device memory of this device) host memory is not checked: upload it"));
}

TEST_CASE("a read of uninitialised device memory") {
  const checked_device on;
  const twill::stream s(on.gpu);
  twill::buffer<int> in(on.gpu, simt::threads), middle(on.gpu, simt::threads), out(on.gpu, simt::threads);
  twill::fill_bytes(s, in.data(), 1, in.size_bytes() - 1);
  CHECK(contains(on.fault_of(&simt::copy, out.data(), in.data()),
                 "(thread (63,0,0) loads 4 bytes" + at(simt::copy_line) +
                     " of uninitialised device memory (byte 255 of an allocation of 256 bytes))"));
  // What was copied from it has not been written either.
  twill::fill_bytes(s, in.data(), 1, in.size_bytes());
  CHECK(on.fault_of(&simt::copy, middle.data(), in.data()).empty());
  CHECK(on.fault_of(&simt::copy, out.data(), middle.data()).empty());
}

TEST_CASE("released memory") {
  const checked_device on;
  const twill::stream s(on.gpu);
  twill::buffer<int> out(on.gpu, simt::threads);
  const int* gone = nullptr;
  {
    twill::buffer<int> in(on.gpu, simt::threads);
    twill::fill_bytes(s, in.data(), 1, in.size_bytes());
    gone = in.data();
  }
  CHECK(contains(on.fault_of(&simt::copy, out.data(), gone),
                 at(simt::copy_line) + " of a released allocation of 256 bytes"));
}

TEST_CASE("shared memory: uninitialised reads, and accesses out of bounds") {
  const checked_device on;
  CHECK(on.fault_of(&simt::uninitialised_discarded).empty());
  CHECK(contains(on.fault_of(&simt::uninitialised_shared),
                 "(thread (0,0,0) loads 4 bytes" + at(simt::uninitialised_shared_line) +
                     " of uninitialised shared memory) store it before it is read, or put a __syncthreads()"));
  CHECK(contains(on.fault_of(&simt::past_shared), "(thread (63,0,0) stores 4 bytes" + at(simt::past_shared_line) +
                                                      ", 0 bytes past the 256 bytes of dynamic shared memory)"));
}

TEST_CASE("accesses at addresses that are no multiple of their width") {
  const checked_device on;
  CHECK(contains(on.fault_of(&simt::misaligned_global),
                 "(thread (0,0,0) loads 16 bytes" + at(simt::misaligned_global_line) +
                     ", at an address that is 4 past a multiple of 16) GPUs fault there: align"));
  CHECK(contains(on.fault_of(&simt::misaligned_shared), "(thread (1,0,0) stores 2 bytes" +
                                                            at(simt::misaligned_shared_line) +
                                                            ", at an address that is 1 past a multiple of 2)"));
  CHECK(on.fault_of(&simt::declared_unaligned).empty());
}

TEST_CASE("a barrier in a divergent branch") {
  const checked_device on;
  const auto fault = on.fault_of(&simt::divergent_barrier);
  CHECK(contains(fault, "(threads wait at different barriers: thread (0,0,0) waits" + at(simt::divergent_barrier_line) +
                            ", thread (32,0,0) waits" + at(simt::divergent_barrier_line + 3) + ")"));
}

TEST_CASE("a kernel that never ends") {
  const checked_device on;
  twill::set_step_limit(on.gpu, 1000);
  const twill::stream s(on.gpu);
  twill::buffer<unsigned> out(on.gpu, 1);
  twill::fill_bytes(s, out.data(), 0, out.size_bytes());
  CHECK(contains(on.fault_of(&simt::endless, out.data(), nullptr),
                 "(thread 0 has taken 1000 steps, and is now" + at(simt::endless_line) + ")"));
  CHECK(contains(on.fault_of(&simt::endless_barriers, out.data(), nullptr),
                 "has taken 1000 steps, and is now" + at(simt::endless_barrier_line) + ")"));
  CHECK(contains(on.fault_of(&simt::endless_shuffles, out.data(), nullptr), "has taken 1000 steps, and is now at "));
}

TEST_CASE("a kernel that never ends outside of a sample") {
  const auto gpu = twill::device::open("simt:h200");
  twill::set_step_limit(gpu, 1000);
  const twill::stream s(gpu);
  twill::buffer<unsigned> out(gpu, 1);
  twill::fill_bytes(s, out.data(), 0, out.size_bytes());
  twill::profile_options few;
  few.most_threads = 32;
  twill::take_profile(
      gpu, [&] { support::launch(s, support::line(100, 32), &simt::endless_last_block, out.data()); }, few);
  CHECK(contains(support::error_of([&] { s.wait(); }), "steps, and is now" + at(simt::endless_block_line) + ")"));
}

TEST_CASE("a device goes on after faults, again and again") {
  const checked_device on;
  for (int i = 0; i < 200; ++i) {
    REQUIRE(contains(on.fault_of(&simt::removed_barrier), "race"));
    REQUIRE(on.fault_of(&simt::with_barrier).empty());
  }
}

TEST_CASE("without checks nothing is reported") {
  const checked_device on;
  twill::set_checks(on.gpu, false);
  CHECK(on.fault_of(&simt::removed_barrier).empty());
}

TEST_SUITE_END();
