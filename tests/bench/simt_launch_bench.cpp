// What a simulated thread costs: the aim is at most 40 ns of one core for a kernel with one barrier. Look at
// "ns_per_thread": processor time, whatever the number of OS threads.

#include <benchmark/benchmark.h>

#include <ctime>

#include <twill/simt.hpp>
#include <twill/twill.hpp>

#include "device.hpp"
#include "launch.hpp"

namespace twill::simt {
namespace {

__global__ void no_barrier(int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<int>(threadIdx.x);
}

__global__ void one_barrier(int* out) {
  __shared__ int tile[1024];
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void one_shuffle(int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = shuffle_xor(static_cast<int>(threadIdx.x), 1);
}

constexpr unsigned threads_in_all = 1u << 18;

void run(benchmark::State& state, void (*kernel)(int*), interleaving order) {
  const auto gpu = device::open("simt");
  set_interleaving(gpu, order, 1);
  const stream s(gpu);
  buffer<int> out(gpu, threads_in_all);
  const auto threads = static_cast<unsigned>(state.range(0));
  const detail::work_queue queue{gpu.impl().get(), s.native()};
  const detail::launch_config config{{threads_in_all / threads, 1, 1}, {threads, 1, 1}, 0};
  const std::clock_t start = std::clock();
  for (auto unused : state) {
    static_cast<void>(unused);
    check(launch(queue, config, kernel, out.data()), "launch of a benchmark");
  }
  s.wait();
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  state.counters["ns_per_thread"] = seconds * 1e9 / (static_cast<double>(state.iterations()) * threads_in_all);
}

void empty_launch(benchmark::State& state) {
  const auto gpu = device::open("simt");
  const stream s(gpu);
  int out = 0;
  const detail::work_queue queue{gpu.impl().get(), s.native()};
  for (auto unused : state) {
    static_cast<void>(unused);
    check(launch(queue, {{1, 1, 1}, {1, 1, 1}, 0}, &no_barrier, &out), "launch of a benchmark");
  }
  s.wait();
}

void blocks(benchmark::internal::Benchmark* b) {
  for (const int threads : {32, 128, 256, 512, 1024}) b->Arg(threads);
  b->UseRealTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(run, no_barrier, &no_barrier, interleaving::forward)->Apply(blocks);
BENCHMARK_CAPTURE(run, one_barrier, &one_barrier, interleaving::forward)->Apply(blocks);
BENCHMARK_CAPTURE(run, one_barrier_reverse, &one_barrier, interleaving::reverse)->Arg(256)->UseRealTime();
BENCHMARK_CAPTURE(run, one_barrier_shuffled, &one_barrier, interleaving::shuffled)->Arg(256)->UseRealTime();
BENCHMARK_CAPTURE(run, one_shuffle, &one_shuffle, interleaving::forward)->Arg(256)->UseRealTime();
BENCHMARK(empty_launch)->UseRealTime();

}  // namespace
}  // namespace twill::simt

BENCHMARK_MAIN();
