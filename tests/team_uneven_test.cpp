// Pieces whose rows are no multiples of 16 bytes, as those of uneven parts.

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include <twill/twill.hpp>

#include "support/cases.hpp"
#include "support/team_run.hpp"

namespace {

using support::on_each_device;
using support::redistribution;
using support::slab_transpose;

twill::global_options direct_with(int blocks_per_peer) {
  twill::global_options options;
  options.via = twill::transport::direct;
  options.blocks_per_peer = blocks_per_peer;
  return options;
}

}  // namespace

TEST_SUITE_BEGIN("uneven");

TEST_CASE("uneven slabs") {
  // Several tiles each way, and rows that end soon after a tile begins.
  const std::vector<std::pair<std::int64_t, std::int64_t>> sizes{{1301, 403}, {1283, 129}, {641, 260}, {261, 131}};
  on_each_device([&](const twill::device& device) {
    for (const std::int64_t bytes : {1, 2, 4, 8}) {
      for (const auto& [rows, cols] : sizes) {
        CAPTURE(bytes);
        CAPTURE(rows);
        for (const int blocks : {0, 1}) {
          CHECK(support::right_in_one_process(device, slab_transpose(2, rows, cols, bytes), 1, 0, direct_with(blocks)));
        }
        const auto one_further = static_cast<std::size_t>(bytes);
        CHECK(support::right_in_one_process(device, slab_transpose(3, rows, cols, bytes), 1, one_further,
                                            direct_with(0)));
      }
    }
  });
}

TEST_CASE("uneven slabs of more ranks than one kernel takes") {
  on_each_device([](const twill::device& device) {
    CHECK(support::right_in_one_process(device, slab_transpose(17, 817, 647, 4), 1, 0, direct_with(0)));
  });
}

TEST_CASE("uneven pencils, and batches of misaligned matrices") {
  on_each_device([](const twill::device& device) {
    for (const std::int64_t bytes : {1, 2, 4, 8}) {
      CAPTURE(bytes);
      redistribution one;
      one.size = 4;
      one.element_bytes = bytes;
      one.shape = {{19, 161, 137}, {{2, 2, 1}}, {{2, 1, 2}, {0, 2, 1}}};
      CHECK(support::right_in_one_process(device, one, 1, 0, direct_with(0)));
      one.shape.out.lds = {0, 0, 171};
      CHECK(support::right_in_one_process(device, one, 1, 0, direct_with(0)));
    }
  });
}

TEST_SUITE_END();
