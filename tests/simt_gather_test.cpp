// Tiles of gather: what their segments hold, and where they lie in shared memory.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <twill/device.hpp>

#include "move/plan/candidates.hpp"
#include "move/plan/gather.hpp"
#include "move/plan/normal_form.hpp"
#include "support/dice.hpp"

namespace twill::detail {
namespace {

// The byte of shared memory that unit `unit` of the first output segment lies at.
std::int64_t place_of_unit(const gather_plan& p, std::int64_t unit) {
  std::int64_t segment = 0, segments = 1, offset = 0, misalignment = 0;
  for (int i = 0; i < p.tile.rank && p.tile.dims[i].out_segment; ++i) {
    const tile_dim& d = p.tile.dims[i];
    const std::int64_t indices = i == p.tile.last_out ? p.tile.out_indices() : d.tile, index = unit % indices;
    unit /= indices;
    if (d.in_segment) {
      offset += index * d.in_stride;
    } else {
      segment += index * segments;
      segments *= indices;
      misalignment += index * (d.in_stride % 16);
    }
  }
  return padded_bytes(offset + misalignment % 16 + segment * p.pitch, p.pad);
}

// The most words of one bank that a warp reads at once; a word that the preceding lane reads too counts once.
int most_of_a_bank(const gather_plan& p) {
  int banks[32] = {}, most = 0;
  std::int64_t before = -1;
  for (int lane = 0; lane < 32; ++lane) {
    const std::int64_t word = place_of_unit(p, lane * units_of_vector(p.tile.unit)) / 4;
    if (word != before) most = std::max(most, ++banks[word % 32]);
    before = word;
  }
  return most;
}

device_model h200(std::int64_t shared_bytes = 0) {
  device_model model = model_of(device::open("simt:h200").properties());
  if (shared_bytes > 0) model.shared_bytes = shared_bytes;
  return model;
}

std::optional<gather_plan> find_plan(std::int64_t bytes, const std::vector<permute_dim>& dims,
                                     const device_model& model) {
  alignas(64) static unsigned char place[64];
  permute_args args{place, place, bytes, 0, {}};
  for (const permute_dim& dim : dims) args.dims[args.rank++] = dim;
  normalise(args);
  composite_tile units;
  set_untiled(units, args, unit_of(args));
  std::optional<gather_plan> found;
  plan_gather(args, units, model, args.bytes(), HUGE_VAL, found);
  return found;
}

// The tile of a movement of contiguous elements on an H200, or one whose blocks may have less shared memory.
composite_tile gather_tile(std::int64_t bytes, const std::vector<permute_dim>& dims, std::int64_t shared_bytes = 0) {
  const auto found = find_plan(bytes, dims, h200(shared_bytes));
  REQUIRE(found);
  return found->tile;
}

// The plan of a packed permutation on an H200, whose launches may overlap.
gather_plan gather_plan_of(std::int64_t bytes, const std::vector<std::int64_t>& extents, const std::vector<int>& order,
                           bool overlaps = true) {
  std::vector<permute_dim> dims;
  std::int64_t out_stride = bytes;
  for (std::size_t i = order.size(); i-- > 0;) {
    const auto dim = static_cast<std::size_t>(order[i]);
    std::int64_t in_stride = bytes;
    for (std::size_t k = dim + 1; k < extents.size(); ++k) in_stride *= extents[k];
    dims.push_back({extents[dim], in_stride, out_stride});
    out_stride *= extents[dim];
  }
  device_model model = h200();
  model.overlaps = overlaps;
  const auto found = find_plan(bytes, dims, model);
  REQUIRE(found);
  return *found;
}

TEST_CASE("literal: tiles of gather") {
  const struct {
    std::int64_t bytes;
    std::vector<std::int64_t> extents;
    std::vector<int> order;
    std::int64_t in_bytes, in_segments, out_bytes, out_segments;
  } tiles[] = {{1, {58, 76, 355}, {0, 2, 1}, 90, 76, 684, 10},           // output segments four times as long
               {2, {320, 112, 32, 48}, {2, 1, 3, 0}, 192, 64, 128, 96},  // half as long, though longer ones pay too
               {8, {120, 14, 103, 22, 16}, {1, 4, 2, 0, 3}, 2816, 5, 880, 16},  // longer ones not expected to pay
               {4, {96, 8, 432}, {2, 0, 1}, 192, 24, 96, 48},       // shorter ones, of smaller tiles: few blocks
               {2, {383, 217, 69}, {2, 1, 0}, 138, 96, 192, 69},    // a larger tile
               {1, {504, 272, 100}, {0, 2, 1}, 27200, 1, 544, 50},  // one 2.5 times as large
               {4, {75, 411, 92}, {1, 2, 0}, 196, 75, 2100, 7},  // output segments that take in the rest of a dimension
               {2, {32, 80, 496}, {2, 1, 0}, 352, 32, 64, 176},  // input segments that do
               {4, {128, 96, 80}, {0, 2, 1}, 10240, 1, 128, 80}};  // two thirds of a wave
  for (const auto& each : tiles) {
    const composite_tile t = gather_plan_of(each.bytes, each.extents, each.order).tile;
    CAPTURE(each.extents[0]);
    CHECK(t.in_bytes == each.in_bytes);
    CHECK(t.in_segments == each.in_segments);
    CHECK(t.out_bytes == each.out_bytes);
    CHECK(t.out_segments == each.out_segments);
  }
}

TEST_CASE("gather: no tile on a device without shared memory, and none of extents near the largest integers") {
  const std::vector<permute_dim> matrix = {{100, 280, 4}, {70, 4, 400}};
  for (const std::int64_t bytes : {0, 1, 119, 500}) {
    device_model model = h200();
    model.shared_bytes = bytes;
    CHECK(!find_plan(4, matrix, model));
  }
  const std::int64_t most = (std::int64_t{1} << 61) - 1;
  CHECK(!find_plan(1, {{2, most, 1}, {most, 1, 2}}, h200()));
}

TEST_CASE("gather: up to half a wave of blocks costs less where launches overlap") {
  const auto us = [](bool overlaps) { return gather_plan_of(2, {238, 73, 67}, {0, 2, 1}, overlaps).microseconds; };
  CHECK(us(true) < 0.97 * us(false));
}

TEST_CASE("gather: output segments are short where input segments are, and long where those cannot be") {
  // f64 640x500x64 to 2,1,0; u16 32x26x3x39x34 to 2,4,3,1,0; pixels of 4 u32, mirrored, to planes.
  CHECK(gather_tile(8, {{640, 256000, 8}, {500, 512, 5120}, {64, 8, 2560000}}).out_bytes == 256);
  CHECK(
      gather_tile(2, {{32, 206856, 2}, {26, 7956, 64}, {39, 68, 1664}, {34, 2, 64896}, {3, 2652, 2206464}}).out_bytes ==
      64);
  CHECK(gather_tile(4, {{3840, -16, 4}, {2160, 61440, 15360}, {4, 4, 33177600}}).out_bytes == 1920);
}

TEST_CASE("gather: little shared memory takes shorter segments, not tiles of a few hundred bytes") {
  const std::vector<permute_dim> seven = {{15, 23, 1},           {23, 1, 15},     {16, 77280, 345},  {7, 1380, 5520},
                                          {17, 1236480, 154560}, {4, 345, 38640}, {8, 9660, 2627520}};
  CHECK(gather_tile(1, seven, 48 << 10).bytes() == 9660);
  CHECK(gather_tile(
            1,
            {{4, 43264, 1}, {104, 1, 4}, {13, 173056, 416}, {13, 104, 5408}, {41, 2249728, 70304}, {32, 1352, 2882464}},
            64 << 10)
            .bytes() == 5408);
  CHECK(gather_tile(1, {{28, 15360, 1}, {16, 32, 28}, {10, 1536, 448}, {3, 512, 4480}, {32, 1, 13440}}, 16 << 10)
            .out_bytes == 112);
  CHECK(gather_tile(2, {{64, 84, 2}, {6, 14, 128}, {7, 2, 768}}, 16 << 10).out_bytes == 32);
}

TEST_CASE("gather: wider pitch and pads never add conflicts of banks, and take some away") {
  const device_model model = h200();
  support::dice d(20261129);
  int tried = 0, fewer = 0;
  for (int i = 0; i < 1500; ++i) {
    const std::int64_t bytes = std::int64_t{1} << d.pick(0, 2);
    const std::int64_t n[4] = {d.pick(2, 90), d.pick(2, 40), d.pick(2, 90), d.pick(2, 90)};
    // To 2,0,3,1 in an output that holds dimension 2 contiguously.
    const auto found = find_plan(bytes,
                                 {{n[0], bytes, bytes * n[2]},
                                  {n[1], bytes * n[0], bytes * n[2] * n[0] * n[3]},
                                  {n[2], bytes * n[0] * n[1], bytes},
                                  {n[3], bytes * n[0] * n[1] * n[2], bytes * n[2] * n[0]}},
                                 model);
    if (!found || found->units < 32 * units_of_vector(found->tile.unit)) continue;
    gather_plan plain = *found;
    REQUIRE(lay_out(plain, model));
    const int now = most_of_a_bank(*found), before = most_of_a_bank(plain);
    CHECK(now <= before);
    ++tried;
    fewer += now < before;
  }
  CHECK(tried > 300);
  CHECK(fewer > 30);
}

}  // namespace
}  // namespace twill::detail
