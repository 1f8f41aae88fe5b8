// Compute capability 2.x: loads by 128-byte lines of L1, stores by 32-byte sectors, 32 banks that multicast.
// Source: CUDA C Programming Guide, appendix on compute capability 2.x.

#include "families.hpp"
#include "parts.hpp"

namespace twill::simt::rules {
namespace {

// Wide accesses are taken in halves and quarters of a warp.
unsigned lanes_each(const warp_access& access) {
  return access.bytes <= 4 ? 32 : 128 / access.bytes;
}

void global_2_x(const warp_access& access, global_cost& cost) {
  const unsigned block = access.store ? 32 : 128;
  for (unsigned first = 0; first < 32; first += lanes_each(access)) {
    const lane_mask group = access.active & lanes(first, lanes_each(access));
    if (group == 0) continue;
    ++cost.requests;
    move_blocks(access, group, block, cost);
    cost.ideal_transactions += blocks_for(distinct_bytes(access, group), block);
    cost.lsu_clocks += distinct_blocks(access, group, 128);
  }
  cost.bytes_used = distinct_bytes(access);
}

shared_cost shared_2_x(const warp_access& access) {
  return wavefronts_of_runs(access, 32, lanes_each(access), {32, 128});
}

constexpr const char* names_2_x[] = {"sm_20", "sm_21", nullptr};

}  // namespace

const access_rules fermi{"compute capability 2.x", names_2_x, &global_2_x, &shared_2_x, 32};

}  // namespace twill::simt::rules
