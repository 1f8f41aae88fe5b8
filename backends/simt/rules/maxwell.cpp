// Compute capability 5.x and 6.x: the texture path takes an instruction in parts of 8 lanes, 4 of 8 bytes, 2 of 16.
// Sources: CUDA C Programming Guide, appendix on compute capabilities 5.x and 6.x; NVIDIA developer forum, thread
// 49571.

#include "families.hpp"
#include "parts.hpp"

namespace twill::simt::rules {
namespace {

void global_5_x(const warp_access& access, global_cost& cost) {
  const unsigned lanes_each = access.bytes <= 4 ? 8 : 32 / access.bytes;
  for (unsigned first = 0; first < 32; first += lanes_each) {
    const lane_mask group = access.active & lanes(first, lanes_each);
    if (group == 0) continue;
    ++cost.requests;
    cost.lsu_clocks += move_blocks(access, group, 32, cost);
    cost.ideal_transactions += blocks_for(distinct_bytes(access, group), 32);
  }
  cost.bytes_used = distinct_bytes(access);
}

shared_cost shared_5_x(const warp_access& access) {
  return wavefronts_of_runs(access, 32, access.bytes <= 4 ? 32 : 128 / access.bytes, {32, 128});
}

constexpr const char* names_5_x[] = {"sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62", nullptr};

}  // namespace

const access_rules maxwell{"compute capability 5.x and 6.x", names_5_x, &global_5_x, &shared_5_x, 32};

}  // namespace twill::simt::rules
