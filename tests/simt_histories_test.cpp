// What the checks of the simulated device compare accesses with lasts for a block, or up to a barrier.

#include <doctest/doctest.h>

#include <string>

#include <twill/simt.hpp>

#include "support/simt_launch.hpp"

namespace twill::simt {
namespace {

constexpr int threads = 64, many = 1 << 14;

__global__ void initialised(int* out, const int* in) {
  int* held = dynamic_shared<int>();
  held[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = held[threadIdx.x];
}

__global__ void uninitialised(int* out, const int*) {
  out[threadIdx.x] = dynamic_shared<int>()[threadIdx.x];
}

__global__ void all_store_one(int*, const int*) {
  *dynamic_shared<int>() = static_cast<int>(threadIdx.x);
}

// Each interval touches 64 KiB and more, and each element by another thread.
__global__ void many_in_turns(int* out, const int* in) {
  const int own = static_cast<int>(threadIdx.x);
  for (int i = own; i < many; i += threads) out[i] = in[many - 1 - i];
  __syncthreads();
  for (int i = own; i < many; i += threads) out[many - 1 - i] += 1;
}

template <class Kernel>
std::string fault_of(const device& gpu, Kernel kernel, int launches) {
  const stream s(gpu);
  buffer<int> in(gpu, many), in_other_launches(gpu, many), out(gpu, many);
  for (buffer<int>* each : {&in, &in_other_launches, &out}) fill_bytes(s, each->data(), 1, each->size_bytes());
  for (int i = 0; i < launches; ++i) {
    const buffer<int>& from = i % 2 == 0 ? in : in_other_launches;
    support::launch(s, support::line(1, threads, threads * sizeof(int)), kernel, out.data(), from.data());
  }
  return support::error_of([&] { s.wait(); });
}

TEST_SUITE_BEGIN("simt histories" * doctest::skip(TWILL_SANITIZED));

TEST_CASE("what earlier launches and intervals did is forgotten: neither initialised nor a race") {
  const device gpu = device::open("simt");
  set_checks(gpu, true);
  for (int turn = 0; turn < 2; ++turn) {
    CHECK(fault_of(gpu, &initialised, 64).empty());  // by each worker
    CHECK(support::contains(fault_of(gpu, &uninitialised, 1), "of uninitialised shared memory"));
    CHECK(fault_of(gpu, &many_in_turns, 1).empty());
    CHECK(support::contains(fault_of(gpu, &all_store_one, 1), "race on shared memory"));
    CHECK(fault_of(gpu, &many_in_turns, 64).empty());
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace twill::simt
