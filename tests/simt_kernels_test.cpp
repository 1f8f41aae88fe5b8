// What kernels are made of, on the simulated device.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "support/simt_launch.hpp"

namespace twill::simt {
namespace {

// Each thread writes what it is, at its own place.
struct identity {
  unsigned thread[3], block[3], threads[3], blocks[3];
};

__global__ void write_identity(identity* out) {
  const unsigned in_block = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  out[block * (blockDim.x * blockDim.y * blockDim.z) + in_block] = {{threadIdx.x, threadIdx.y, threadIdx.z},
                                                                    {blockIdx.x, blockIdx.y, blockIdx.z},
                                                                    {blockDim.x, blockDim.y, blockDim.z},
                                                                    {gridDim.x, gridDim.y, gridDim.z}};
}

// Counts the visits of each of `blocks` places, as kernels do that may need more blocks than a line of a grid holds.
__global__ void count_places(int* visits, unsigned blocks) {
  const unsigned place = blockIdx.y * gridDim.x + blockIdx.x;
  if (place >= blocks) return;
  visits[place] += 1;
}

__global__ void reverse_static(int* out, const int* in) {
  __shared__ int tile[1024];
  const unsigned n = blockDim.x, base = blockIdx.x * n;
  tile[threadIdx.x] = in[base + threadIdx.x];
  __syncthreads();
  out[base + threadIdx.x] = tile[n - 1 - threadIdx.x];
}

template <class T>
__global__ void reverse_dynamic(T* out, const T* in) {
  T* tile = dynamic_shared<T>();
  const unsigned n = blockDim.x, base = blockIdx.x * n;
  tile[threadIdx.x] = in[base + threadIdx.x];
  __syncthreads();
  out[base + threadIdx.x] = tile[n - 1 - threadIdx.x];
}

// Passes values round the block, one place a round: two barriers each.
__global__ void rotate(int* out, int rounds) {
  __shared__ int ring[1024];
  const unsigned n = blockDim.x, t = threadIdx.x;
  ring[t] = static_cast<int>(t);
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    const int next = ring[(t + 1) % n];
    __syncthreads();
    ring[t] = next;
    __syncthreads();
  }
  out[t] = ring[t];
}

// Gathers through shared memory what another warp added up with shuffles: warps are at different places meanwhile.
__global__ void warp_sums(std::uint32_t* out) {
  __shared__ std::uint32_t sums[32];
  std::uint32_t value = threadIdx.x + 1;
  if (threadIdx.x / 32 % 2 == 0) {
    for (int mask = 16; mask > 0; mask /= 2) value += shuffle_xor(value, mask);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  }
  __syncthreads();
  const unsigned last_even_warp = threadIdx.x / 64 * 2;
  out[threadIdx.x] = sums[last_even_warp];
}

template <class T>
__global__ void all_shuffles(T* out, int lane, unsigned delta, int mask) {
  const T value = static_cast<T>(100 + threadIdx.x) / static_cast<T>(4);
  T* mine = out + std::size_t{4} * threadIdx.x;
  mine[0] = shuffle(value, lane);
  mine[1] = shuffle_up(value, delta);
  mine[2] = shuffle_down(value, delta);
  mine[3] = shuffle_xor(value, mask);
}

__global__ void count_with_atomics(std::uint32_t* sum, std::uint64_t* bits, std::int32_t* least, std::int64_t* most,
                                   std::uint32_t* last, std::int32_t* by_cas) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomic_add(sum, i);
  atomic_or(bits, std::uint64_t{1} << (i % 64));
  atomic_min(least, static_cast<std::int32_t>(5 - static_cast<int>(i)));
  atomic_max(most, static_cast<std::int64_t>(i) << 33);
  atomic_exchange(last, i);
  std::int32_t seen = load_relaxed(by_cas), before;
  while ((before = atomic_cas(by_cas, seen, seen + 2)) != seen) seen = before;
}

std::vector<int> ascending(std::size_t count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

// What CUDA's documentation says of `shuffle(value, lane)` and its kin in a warp of `lanes` lanes.
unsigned source_of(int kind, unsigned self, unsigned lanes, int lane, unsigned delta, int mask) {
  unsigned from = self;
  if (kind == 0) from = static_cast<unsigned>(lane) % 32;
  if (kind == 1 && self >= delta) from = self - delta;
  if (kind == 2) from = self + delta;
  if (kind == 3) from = self ^ static_cast<unsigned>(mask);
  return from < lanes ? from : self;
}

template <class T>
void check_shuffles(stream_ref stream, unsigned threads, int lane, unsigned delta, int mask) {
  buffer<T> out(stream.on(), threads * 4);
  support::launch(stream, support::line(1, threads), &all_shuffles<T>, out.data(), lane, delta, mask);
  stream.wait();
  CAPTURE(threads);
  CAPTURE(delta);
  bool right = true;
  for (unsigned t = 0; t < threads; ++t) {
    const unsigned warp = t / 32 * 32, lanes = std::min(32u, threads - warp);
    for (int kind = 0; kind < 4; ++kind) {
      const unsigned from = warp + source_of(kind, t - warp, lanes, lane, delta, mask);
      right = right && out.data()[t * 4 + kind] == static_cast<T>(100 + from) / static_cast<T>(4);
    }
  }
  CHECK(right);
}

template <class T>
void check_reverse(stream_ref stream, unsigned blocks, unsigned threads) {
  buffer<T> in(stream.on(), blocks * threads), out(stream.on(), blocks * threads);
  for (unsigned i = 0; i < blocks * threads; ++i) in.data()[i] = static_cast<T>(i);
  support::launch(stream, support::line(blocks, threads, threads * sizeof(T)), &reverse_dynamic<T>, out.data(),
                  in.data());
  stream.wait();
  bool right = true;
  for (unsigned i = 0; i < blocks * threads; ++i) {
    right = right && out.data()[i] == in.data()[i / threads * threads + threads - 1 - i % threads];
  }
  CHECK(right);
}

}  // namespace
}  // namespace twill::simt

using namespace twill;

TEST_SUITE_BEGIN("simt kernels");

TEST_CASE("literal: four threads reverse four numbers") {
  const auto gpu = support::unchecked_simt();
  const stream s(gpu);
  buffer<int> in(gpu, 4), out(gpu, 4);
  std::vector<int> result(4);
  in.upload({1, 2, 3, 4}, s);
  support::launch(s, support::line(1, 4), &simt::reverse_static, out.data(), in.data());
  out.download(result, s);
  s.wait();
  CHECK(result == std::vector<int>{4, 3, 2, 1});
}

TEST_CASE("threads and blocks know their places in three dimensions") {
  const auto gpu = support::unchecked_simt();
  const stream s(gpu);
  const detail::launch_config shapes[] = {
      {{1, 1, 1}, {1, 1, 1}, 0},  {{3, 2, 4}, {5, 3, 2}, 0},    {{7, 1, 1}, {1, 1, 1024}, 0},
      {{1, 9, 1}, {1, 33, 1}, 0}, {{2, 3, 5}, {1024, 1, 1}, 0}, {{1, 1, 6}, {16, 16, 4}, 0},
  };
  for (const auto& shape : shapes) {
    const auto &grid = shape.grid, &block = shape.block;
    const unsigned threads = block.x * block.y * block.z, blocks = grid.x * grid.y * grid.z;
    buffer<simt::identity> out(gpu, std::size_t{threads} * blocks);
    fill_bytes(s, out.data(), 0xff, out.size_bytes());
    support::launch(s, shape, &simt::write_identity, out.data());
    s.wait();
    bool right = true;
    for (unsigned b = 0; b < blocks; ++b) {
      for (unsigned t = 0; t < threads; ++t) {
        const auto& seen = out.data()[b * threads + t];
        right = right && seen.thread[0] == t % block.x && seen.thread[1] == t / block.x % block.y &&
                seen.thread[2] == t / block.x / block.y && seen.block[0] == b % grid.x &&
                seen.block[1] == b / grid.x % grid.y && seen.block[2] == b / grid.x / grid.y &&
                seen.threads[0] == block.x && seen.threads[2] == block.z && seen.blocks[1] == grid.y;
      }
    }
    CHECK(right);
  }
}

TEST_CASE("a rectangle of blocks visits every place once where a line of the grid is too short") {
  const auto gpu = support::unchecked_simt();
  const stream s(gpu);
  for (const std::int64_t blocks : {1, 6, 7, 8, 14, 15, 50}) {
    CAPTURE(blocks);
    const detail::extent3 grid = detail::rectangle(blocks, 7);
    CHECK(grid.x <= 7);
    CHECK(std::int64_t{grid.x} * grid.y < blocks + grid.x);
    buffer<int> visits(gpu, 50);
    fill_bytes(s, visits.data(), 0, visits.size_bytes());
    support::launch(s, {grid, {1, 1, 1}, 0}, &simt::count_places, visits.data(), static_cast<unsigned>(blocks));
    s.wait();
    for (std::int64_t i = 0; i < 50; ++i) CHECK(visits.data()[i] == (i < blocks ? 1 : 0));
  }
  // More blocks than AMD's grids of 32-bit threads hold in a line of 256-thread blocks.
  const detail::extent3 large = detail::rectangle(std::int64_t{1} << 31, UINT32_MAX / 256);
  CHECK(large.x == UINT32_MAX / 256);
  CHECK(large.y == 129);
}

TEST_CASE("barriers hold for every number of threads, in every order") {
  const auto gpu = support::unchecked_simt();
  const stream s(gpu);
  for (const auto order : {interleaving::forward, interleaving::reverse, interleaving::shuffled}) {
    set_interleaving(gpu, order, 5);
    for (const unsigned threads : {1u, 2u, 31u, 32u, 33u, 64u, 255u, 1023u, 1024u}) {
      CAPTURE(threads);
      const unsigned blocks = 17;
      const auto values = simt::ascending(std::size_t{blocks} * threads);
      buffer<int> in(gpu, values.size()), out(gpu, values.size());
      in.upload(values, s);
      support::launch(s, support::line(blocks, threads), &simt::reverse_static, out.data(), in.data());
      support::launch(s, support::line(blocks, threads), &simt::reverse_static, in.data(), out.data());
      s.wait();
      CHECK(std::equal(values.begin(), values.end(), in.data()));
      support::launch(s, support::line(1, threads), &simt::rotate, out.data(), 7);
      s.wait();
      bool right = true;
      for (unsigned t = 0; t < threads; ++t) right = right && out.data()[t] == static_cast<int>((t + 7) % threads);
      CHECK(right);
    }
  }
}

TEST_CASE("dynamic shared memory has the size asked for, for any type") {
  const auto gpu = support::unchecked_simt();
  const stream s(gpu);
  for (const unsigned threads : {1u, 33u, 1024u}) {
    simt::check_reverse<std::uint8_t>(s, 3, threads);
    simt::check_reverse<float>(s, 3, threads);
    simt::check_reverse<double>(s, 2, threads);
  }
}

TEST_CASE_TEMPLATE("shuffles", T, std::int32_t, std::uint32_t, float, std::int64_t, std::uint64_t, double) {
  const auto gpu = support::unchecked_simt();
  const stream s(gpu);
  for (const auto order : {interleaving::forward, interleaving::reverse, interleaving::shuffled}) {
    set_interleaving(gpu, order, 9);
    for (const unsigned threads : {1u, 31u, 32u, 33u, 64u, 100u, 1024u}) {
      simt::check_shuffles<T>(s, threads, 0, 1, 1);
      simt::check_shuffles<T>(s, threads, 31, 16, 16);
      simt::check_shuffles<T>(s, threads, 5, 31, 31);
      simt::check_shuffles<T>(s, threads, 37, 0, 0);
      simt::check_shuffles<T>(s, threads, -1, 7, 21);
    }
  }
}

TEST_CASE("warps shuffle while others wait at a barrier") {
  const auto gpu = support::unchecked_simt();
  const stream s(gpu);
  for (const auto order : {interleaving::forward, interleaving::reverse, interleaving::shuffled}) {
    set_interleaving(gpu, order, 2);
    buffer<std::uint32_t> out(gpu, 256);
    support::launch(s, support::line(1, 256), &simt::warp_sums, out.data());
    s.wait();
    for (unsigned t = 0; t < 256; ++t) {
      const unsigned first = t / 64 * 64 + 1;  // 32 consecutive numbers from here
      CHECK(out.data()[t] == 32 * first + 496);
    }
  }
}

TEST_CASE("atomics lose nothing over many blocks") {
  const auto gpu = support::unchecked_simt();
  const stream s(gpu);
  const unsigned blocks = 500, threads = 64, count = blocks * threads;
  std::uint32_t sum = 0, last = count;
  std::uint64_t bits = 0;
  std::int32_t least = 100, by_cas = 1;
  std::int64_t most = -1;
  support::launch(s, support::line(blocks, threads), &simt::count_with_atomics, &sum, &bits, &least, &most, &last,
                  &by_cas);
  s.wait();
  CHECK(sum == count / 2 * (count - 1));
  CHECK(bits == ~std::uint64_t{0});
  CHECK(least == 5 - static_cast<std::int32_t>(count - 1));
  CHECK(most == static_cast<std::int64_t>(count - 1) << 33);
  CHECK(last < count);
  CHECK(by_cas == 1 + 2 * static_cast<std::int32_t>(count));
}

TEST_CASE("words and bytes") {
  const auto words = simt::make_word16(1, 2, 3, 0xffffffff);
  CHECK(simt::word<0>(words) == 1);
  CHECK(simt::word<2>(words) == 3);
  CHECK(simt::word<3>(words) == 0xffffffff);
  CHECK(sizeof(simt::word16) == 16);
  CHECK(simt::byte_permute(0x33221100, 0x77665544, 0x3210) == 0x33221100);
  CHECK(simt::byte_permute(0x33221100, 0x77665544, 0x7654) == 0x77665544);
  CHECK(simt::byte_permute(0x33221100, 0x77665544, 0x0426) == 0x00442266);
  CHECK(simt::funnel_shift(0x33221100, 0x77665544, 0) == 0x33221100);
  CHECK(simt::funnel_shift(0x33221100, 0x77665544, 4 + 3) == 0x66554433);
}

TEST_SUITE_END();
