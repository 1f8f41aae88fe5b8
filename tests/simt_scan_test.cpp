// What scans only do where more blocks run at once than a simulated device runs.

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <twill/scan.hpp>

#include "support/simt_launch.hpp"

#include "scan/gpu/plan.hpp"
#include "scan/gpu/scan.hpp"

namespace twill::simt {
namespace {

using kind = kernels::integer_sum<std::uint32_t>;

// Tile t of each row sums up to t + 1. One block then asks for what comes before some tiles, as blocks do that claim
// tiles far from one another; they rise, as tickets do.
__global__ void ask_for_sums(kernels::scan_problem p, const std::uint32_t* tiles, int count, std::uint32_t* out) {
  __shared__ std::uint32_t groups[2 * kernels::scan_warps];
  for (std::uint32_t t = threadIdx.x; t < p.tiles; t += blockDim.x) {
    kernels::publish(p.states + t, t % p.tiles_in_row + 1);
  }
  __syncthreads();
  kernels::scan_carry<std::uint32_t> carry{0, 0, 0};
  for (int i = 0; i < count; ++i) {
    const std::uint32_t sum = kernels::sum_before(kind{}, p, tiles[i], carry, groups);
    if (threadIdx.x == 0) out[i] = sum;
    __syncthreads();
  }
}

void check_sums(const std::vector<std::uint32_t>& tiles) {
  CAPTURE(tiles);
  constexpr std::uint32_t in_row = 2500;
  const twill::device on = twill::device::open("simt");
  const twill::stream stream(on);
  twill::buffer<std::uint64_t> states(on, 2 * in_row);
  twill::buffer<std::uint32_t> asked(on, tiles.size()), out(on, tiles.size());
  twill::fill_bytes(stream, states.data(), 0, states.size_bytes());
  asked.upload(tiles, stream);
  kernels::scan_problem problem{};
  problem.tiles = 2 * in_row;
  problem.tiles_in_row = in_row;
  problem.states = states.data();
  support::launch(stream, support::line(1, kernels::scan_threads), &ask_for_sums, problem, asked.data(),
                  static_cast<int>(tiles.size()), out.data());
  std::vector<std::uint32_t> found(tiles.size()), expected;
  out.download(found, stream);
  stream.wait();
  for (const std::uint32_t tile : tiles) expected.push_back(tile % in_row * (tile % in_row + 1) / 2);
  CHECK(found == expected);
}

TEST_CASE("a scan's block finds the prefix of tiles hundreds of tiles away") {
  check_sums({0, 1, 31, 32, 33, 511, 512, 513, 1023, 1024, 1700, 2499});
  check_sums({2499, 2500, 3011, 3012, 3600, 4999});
  check_sums({511});
  check_sums({512, 1056});
  check_sums({4999});
}

// Where tiles end, and with them the order of additions. A state is 8 bytes for 4 of a value; without pointers a row
// may begin at the last element of a vector.
TEST_CASE("literal: elements of a tile") {
  const auto bytes = [](element_type type, std::int64_t count) {
    return scan_scratch_bytes(device::open("simt"), type, count);
  };
  const auto fills_a_tile = [&](element_type type, std::int64_t elements) {
    const std::int64_t most = elements - (16 / static_cast<std::int64_t>(element_bytes(type)) - 1);
    return bytes(type, most) == bytes(type, 1) && bytes(type, most + 1) > bytes(type, 1);
  };
  CHECK(fills_a_tile(element_type::u8, 256 * 11 * 16));
  CHECK(fills_a_tile(element_type::f16, 256 * 11 * 8));
  CHECK(fills_a_tile(element_type::f32, 256 * 11 * 4));
  CHECK(fills_a_tile(element_type::f64, 256 * 10 * 2));
  CHECK(fills_a_tile(element_type::c128, 256 * 4));
  const auto in_segments = [](std::int64_t count) {
    return scan_segments_scratch_bytes(device::open("simt"), element_type::f32, count, 1);
  };
  CHECK(in_segments(256 * 8 * 4 - 3) == in_segments(1));
  CHECK(in_segments(256 * 8 * 4 - 2) > in_segments(1));
}

// A tile of floats has 11264. `in` begins `offset` bytes behind a multiple of 16; -1: no pointer is known.
scan_plan plan_of(element_type type, std::int64_t cols, std::int64_t offset) {
  detail::scan_args a{};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address, never followed
  a.in = offset < 0 ? nullptr : reinterpret_cast<const void*>(std::uintptr_t{4096} + offset);
  a.type = type;
  a.rows = 7;
  a.cols = a.in_ld = a.out_ld = cols;
  return plan_scan(a);
}

TEST_CASE("literal: packed rows are joined where they would leave too much of a tile empty") {
  const auto joined = [](std::int64_t cols, std::int64_t offset) {
    return plan_of(element_type::f32, cols, offset).segments;
  };
  CHECK(joined(5628, 0));
  CHECK(!joined(5632, 0));
  CHECK(!joined(11268, 0));
  CHECK(joined(5633, 0));  // rows begin at any multiple of 4 bytes
  CHECK(joined(9008, 4));
  CHECK(!joined(9012, 4));
  CHECK(!joined(11268, 4));
  const auto bytes_joined = [](std::int64_t cols) { return plan_of(element_type::u8, cols, 1).segments; };
  CHECK(bytes_joined(22527));
  CHECK(!bytes_joined(22529));
  CHECK(joined(5632, -1));
  CHECK(!joined(9012, -1));
}

TEST_CASE("scratch that is asked for without pointers is enough for all") {
  for (const element_type type : {element_type::u8, element_type::f16, element_type::f32, element_type::f64,
                                  element_type::c64, element_type::c128}) {
    const auto bytes = static_cast<std::int64_t>(element_bytes(type));
    for (std::int64_t cols = 1; cols < 200000 / bytes; cols += 1 + cols / 9) {
      for (const std::int64_t even : {cols, (cols + 15) & -16}) {
        for (std::int64_t offset = 0; offset < 16; offset += bytes) {
          CAPTURE(even);
          CHECK(plan_of(type, even, -1).bytes() >= plan_of(type, even, offset).bytes());
        }
      }
    }
  }
}

}  // namespace
}  // namespace twill::simt
