// Compute capability 3.x: global loads bypass L1 and move 32-byte sectors; 32 banks of 8 bytes, in 4-byte mode.
// Source: CUDA C Programming Guide, appendix on compute capability 3.x. In that mode word i lies in bank i mod 32, and
// words i and i + 32 of one aligned run of 64 are served together.

#include "families.hpp"
#include "parts.hpp"

namespace twill::simt::rules {
namespace {

void global_3_x(const warp_access& access, global_cost& cost) {
  const unsigned lanes_each = access.bytes <= 4 ? 32 : 128 / access.bytes;
  for (unsigned first = 0; first < 32; first += lanes_each) {
    const lane_mask group = access.active & lanes(first, lanes_each);
    if (group == 0) continue;
    ++cost.requests;
    move_blocks(access, group, 32, cost);
    cost.ideal_transactions += blocks_for(distinct_bytes(access, group), 32);
    cost.lsu_clocks += distinct_blocks(access, group, 128);
  }
  cost.bytes_used = distinct_bytes(access);
}

shared_cost shared_3_x(const warp_access& access) {
  return wavefronts_of_runs(access, 32, access.bytes == 16 ? 16 : 32, {32, 256});
}

constexpr const char* names_3_x[] = {"sm_30", "sm_32", "sm_35", "sm_37", nullptr};

}  // namespace

const access_rules kepler{"compute capability 3.x", names_3_x, &global_3_x, &shared_3_x, 32};

}  // namespace twill::simt::rules
