// What the recorder makes of shared memory, atomics and waiting blocks.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <twill/profile.hpp>
#include <twill/simt.hpp>
#include <twill/twill.hpp>

#include "backends/simt/simt_device.hpp"
#include "backends/simt/timing/prediction.hpp"
#include "gpu/cleared_scratch.hpp"
#include "support/environment.hpp"
#include "support/simt_launch.hpp"

namespace twill::simt {
namespace {

// 16 KiB in three variables, beside what is dynamic.
__global__ void use_shared(float* out) {
  __shared__ float low[1024], high[3008];
  __shared__ float last[64];
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) low[i] = 1;
  for (unsigned i = threadIdx.x; i < 3008; i += blockDim.x) high[i] = 2;
  if (threadIdx.x < 64) last[threadIdx.x] = 3;
  auto* const dynamic = dynamic_shared<float>();
  dynamic[threadIdx.x] = 4;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = low[threadIdx.x] + high[threadIdx.x] + dynamic[threadIdx.x] + last[0];
}

__global__ void tell_alignment(std::uint64_t* out) {
  __shared__ char one[1], another[3];
  one[0] = 1;
  another[2] = 1;
  out[0] = reinterpret_cast<std::uintptr_t>(one) % 256;
  out[1] = reinterpret_cast<std::uintptr_t>(another) % 256;
}

// Blocks in a chain; each looks at the flag of the one before it as often as it takes, and five times more.
__global__ void wait_in_chain(std::uint32_t* flags, std::uint32_t* sum) {
  if (threadIdx.x == 0 && blockIdx.x > 0) {
    while (load_acquire(flags + blockIdx.x - 1) == 0) {
    }
    for (int again = 0; again < 5; ++again) *sum += load_acquire(flags + blockIdx.x - 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) store_release(flags + blockIdx.x, 1u);
}

// Block 1 looks at two flags in turn until both are there, at least four times at the first and six times at the
// second. Compilers make a loop of its own for what is left when the first is there.
__global__ void wait_for_two(std::uint32_t* flags, std::uint32_t* looks) {
  if (blockIdx.x == 0) {
    for (std::uint32_t flag = 0; flag < 2; ++flag) {
      while (load_relaxed(looks) < 3 + 2 * flag) std::this_thread::yield();
      store_relaxed(flags + flag, 1u);
    }
    return;
  }
  bool has_a = false, has_b = false;
  for (std::uint32_t n = 1; !has_a || !has_b; ++n) {
    if (!has_a) has_a = load_acquire(flags) != 0;
    if (!has_b) has_b = load_acquire(flags + 1) != 0;
    store_relaxed(looks, n);
  }
}

constexpr unsigned first_atomic_line = __LINE__ + 2;
__global__ void change(std::uint32_t* words, std::int32_t* least) {
  atomic_add(words + threadIdx.x, 1u);
  atomic_min(least, static_cast<std::int32_t>(threadIdx.x));
  store_relaxed(words + 64 + threadIdx.x, 1u);
}

}  // namespace
}  // namespace twill::simt

using namespace twill;
using support::launch;
using support::line;

namespace {

struct words {
  explicit words(const device& on, std::size_t count) : stream(on), data(on, count) {
    fill_bytes(stream, data.data(), 0, data.size_bytes());
  }
  twill::stream stream;
  buffer<std::uint32_t> data;
};

profile profile_of_chain(const char* threads) {
  const support::environment set("TWILL_THREADS", threads);
  const auto gpu = device::open("simt:h200");
  words flags(gpu, 65);
  return take_profile(gpu, [&] {
    launch(flags.stream, line(64, 32), &simt::wait_in_chain, flags.data.data(), flags.data.data() + 64);
  });
}

}  // namespace

TEST_SUITE_BEGIN("simt counts" * doctest::skip(TWILL_SANITIZED));

TEST_CASE("a block's shared memory is what it has of both kinds, wherever a linker puts the static part") {
  const auto gpu = device::open("simt:h200");
  words out(gpu, 512);
  const auto resident = [&](std::size_t dynamic_bytes) {
    simt::timing::launch_predictor predictor(simt::find_datasheet("h200"));
    auto& simulated = dynamic_cast<simt::simt_device&>(*gpu.impl());
    simulated.record(&predictor, 0);
    launch(out.stream, line(2, 256, dynamic_bytes), &simt::use_shared, reinterpret_cast<float*>(out.data.data()));
    simulated.stop_recording();
    return predictor.launches().at(0).resident;
  };
  CHECK(resident(1024) == 8);       // threads are the limit
  CHECK(resident(62 * 1024) == 2);  // 228 KiB hold three of 62 KiB, and two of 62 + 16
  CHECK(resident(97 * 1024) == 2);
  CHECK(resident(99 * 1024) == 1);
}

TEST_CASE("static shared memory begins at a row of banks, so that counts do not depend on a linker") {
  const auto gpu = device::open("simt:k20");
  stream on(gpu);
  buffer<std::uint64_t> out(gpu, 2);
  launch(on, line(1, 1), &simt::tell_alignment, out.data());
  std::vector<std::uint64_t> found(2, 1);
  out.download(found, on);
  on.wait();
  CHECK(found[0] == 0);
  CHECK(found[1] == 0);
}

TEST_CASE("a look that is repeated counts once, on any number of OS threads") {
  for (const char* threads : {"1", "8"}) {
    CAPTURE(threads);
    const auto seen = profile_of_chain(threads);
    REQUIRE(seen.kernels.size() == 1);
    CHECK(seen.kernels[0].waits);
    // A look at each of two places for 63 blocks; the sum is loaded five times, and the flags are visited one after
    // another.
    CHECK(seen.loads.requests == 63 * (2 + 5));
    CHECK(seen.stores.requests == 64 + 63 * 5);
    CHECK(seen.atomics.requests == 0);
  }
}

TEST_CASE("looks at two places in turn count once each, however often they are repeated") {
  const support::environment set("TWILL_THREADS", "4");
  const auto gpu = device::open("simt:h200");
  words flags(gpu, 3);
  const auto work = [&] {
    launch(flags.stream, line(2, 1), &simt::wait_for_two, flags.data.data(), flags.data.data() + 2);
  };
  CHECK(take_profile(gpu, work).loads.requests == 1 + 2);
}

TEST_CASE("a scan counts the same on any number of OS threads, and its time is not predicted") {
  profile seen[2];
  for (int i = 0; i < 2; ++i) {
    const support::environment threads("TWILL_THREADS", i == 0 ? "1" : "8");
    const auto gpu = device::open("simt:h200");
    const std::size_t count = std::size_t{1} << 17;  // of few tiles: each block takes one
    stream on(gpu);
    buffer<float> in(gpu, count), out(gpu, count);
    const scan_shape shape{1, count};
    const raw_buffer scratch(gpu, scan_scratch_bytes(gpu, element_type::f32, shape));
    fill_bytes(on, in.data(), 0, in.size_bytes());
    const auto work = [&] { scan(on, in.data(), out.data(), shape, scratch); };
    seen[i] = take_profile(gpu, work);
    const auto time = predict(gpu, work);
    const auto clear = predict(gpu, [&] {
      launch(on, line(1, 256), &simt::kernels::clear_scratch<256>, static_cast<std::uint32_t*>(scratch.data()),
             static_cast<std::int64_t>(scratch.size_bytes() / 4));
    });
    CHECK(time.launches == 2);
    CHECK(time.waiting == 1);
    CHECK(time.seconds == clear.seconds);  // of the scan itself, none
  }
  CHECK(seen[0].loads.requests == seen[1].loads.requests);
  CHECK(seen[0].loads.sectors == seen[1].loads.sectors);
  CHECK(seen[0].stores.requests == seen[1].stores.requests);
  CHECK(seen[0].shared_loads.wavefronts == seen[1].shared_loads.wavefronts);
}

TEST_CASE("atomics are counted separately, once each, at their line") {
  const auto gpu = device::open("simt:h200");
  words all(gpu, 128);
  buffer<std::int32_t> least(gpu, 1);
  fill_bytes(all.stream, least.data(), 0x7f, sizeof(std::int32_t));
  const auto seen =
      take_profile(gpu, [&] { launch(all.stream, line(1, 64), &simt::change, all.data.data(), least.data()); });
  CHECK(seen.atomics.requests == 4);  // two a warp
  CHECK(seen.atomics.sectors == 2 * (4 + 1));
  CHECK(seen.stores.requests == 2);
  CHECK(seen.loads.requests == 0);
  const auto& lines = seen.kernels.at(0).lines;
  REQUIRE(lines.size() == 3);
  for (unsigned i = 0; i < 3; ++i) {
    CHECK(support::contains(lines[i].file, "simt_counts_test.cpp"));
    CHECK(lines[i].line == simt::first_atomic_line + i);
  }
  CHECK(lines[0].atomics.requests == 2);
  CHECK(lines[2].stores.requests == 2);
  CHECK_FALSE(seen.kernels[0].waits);
}

TEST_SUITE_END();
