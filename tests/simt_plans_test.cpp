// The planner's two answers: what a launch takes, and what `explain` lists.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <twill/device.hpp>

#include "move/plan/candidates.hpp"
#include "move/plan/elementwise.hpp"
#include "move/plan/normal_form.hpp"
#include "support/dice.hpp"

namespace twill::detail {
namespace {

// Plans for a launch and for `explain` agree, and the lower bounds of elementwise kernels are no higher than their
// costs.
void check_plans(const permute_args& args, const device_model& model) {
  const auto all = candidates_of(args, model), launched = candidates_of(args, model, wanted::cheapest);
  REQUIRE(launched.list[0].kind == all.list[0].kind);
  REQUIRE(launched.list[0].microseconds == all.list[0].microseconds);
  if (launched.list[0].kind == family::gather) {
    REQUIRE(launched.gather->pitch == all.gather->pitch);
    REQUIRE(launched.gather->blocks == all.gather->blocks);
    REQUIRE(launched.gather->pad == all.gather->pad);
    REQUIRE(launched.gather->tile.in_bytes == all.gather->tile.in_bytes);
    REQUIRE(launched.gather->tile.out_bytes == all.gather->tile.out_bytes);
  }
  for (int k = 0; k < all.count; ++k) {
    if (k > 0) REQUIRE(all.list[k - 1].microseconds <= all.list[k].microseconds);
    const family kind = all.list[k].kind;
    if (kind != family::elementwise_vectors && kind != family::elementwise) continue;
    const cost_of_launch least = kind == family::elementwise ? least_of_elementwise(args, all.units.unit)
                                                             : least_of_elementwise_vectors(all.units);
    REQUIRE(all.list[k].microseconds >= all.corrected_us(kind, least));
  }
}

// Of 4 to 6 dimensions in any order, before those are merged that stay side by side.
permute_args packed_permutation(support::dice& d, void* place, std::int64_t element_bytes) {
  permute_args args{place, place, element_bytes, static_cast<int>(d.pick(4, 6)), {}};
  std::int64_t stride = element_bytes;
  for (int k = 0; k < args.rank; ++k) {
    args.dims[k] = {d.pick(2, k == 0 ? 200 : 40), stride, 0};
    stride *= args.dims[k].extent;
  }
  for (int k = args.rank; k-- > 1;) std::swap(args.dims[k], args.dims[d.pick(0, k)]);
  stride = element_bytes;
  for (int k = 0; k < args.rank; ++k) {
    args.dims[k].out_stride = stride;
    stride *= args.dims[k].extent;
  }
  normalise(args);
  return args;
}

TEST_CASE("what launches plan is what explain shows first") {
  alignas(64) static unsigned char place[64];
  constexpr std::int64_t sizes[] = {1, 2, 4, 8, 1, 2, 4, 8, 12, 16, 24, 48};
  support::dice d(20261126);
  for (const char* name : {"simt:h200", "simt:v100", "simt:gtx280", "simt:mi300x"}) {
    const auto model = model_of(device::open(name).properties());
    for (int i = 0; i < 4000; ++i) {
      const std::int64_t bytes = sizes[d.pick(0, 11)], slow = d.pick(0, 1);
      std::int64_t n[3] = {16 * d.pick(1, 40), d.pick(2, 700), 16 * d.pick(1, 40)};  // 2 - slow becomes the fastest
      const std::int64_t in[3] = {bytes, bytes * n[0], bytes * n[0] * n[1]}, out = bytes * n[2 - slow];
      INFO(name, ", three dimensions, case ", i);
      check_plans({place,
                   place,
                   bytes,
                   3,
                   {{n[2 - slow], in[2 - slow], bytes}, {n[0], in[0], out}, {n[1 + slow], in[1 + slow], out * n[0]}}},
                  model);
    }
    for (int i = 0; i < 4000; ++i) {
      const permute_args args = packed_permutation(d, place, sizes[d.pick(0, 11)]);
      INFO(name, ", ", args.rank, " dimensions, case ", i);
      if (args.rank > 0) check_plans(args, model);
    }
  }
}

TEST_CASE("launches overlap on NVIDIA GPUs from sm_90 on, by CUDA") {
  const auto overlap = [](const char* backend, const char* architecture) {
    device_properties device;
    device.backend = backend, device.architecture = architecture;
    return model_of(device).overlaps;
  };
  for (const char* const from : {"sm_90", "sm_90a", "sm_100", "sm_120"}) CHECK(overlap("cuda", from));
  for (const char* const before : {"sm_35", "sm_70", "sm_89", "gfx90a", "gfx942", ""}) CHECK(!overlap("cuda", before));
  CHECK(!overlap("hip", "sm_90"));
}

TEST_CASE("cube roots of costs") {
  double worst = 0;
  for (double value = 1e-12; value < 1e30; value *= 1.001) {
    worst = std::max(worst, std::abs(cube_root(value) / std::cbrt(value) - 1));
  }
  CHECK(worst < 1e-13);
}

}  // namespace
}  // namespace twill::detail
