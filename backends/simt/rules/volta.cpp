// Compute capability 7.x to 9.x: a request an instruction, 32-byte sectors, L1 and shared memory in the same 32 banks.
// Sources: Nsight Compute documentation (what it counts); turns of the load/store unit: fitted to the strided loads of
// gpu-benches (te42kyfo/gpu-benches, gpu-strides, H200) to 0.25 clocks, not to any kernel of Twill.

#include <algorithm>

#include "families.hpp"
#include "parts.hpp"

namespace twill::simt::rules {
namespace {

constexpr bank_layout banks{32, 128};

unsigned lanes_each(const warp_access& access) {
  return access.bytes <= 4 ? 32 : 128 / access.bytes;
}

void global(const warp_access& access, global_cost& cost) {
  if (access.active == 0) return;
  cost.requests = 1;
  move_blocks(access, access.active, 32, cost);
  cost.bytes_used = distinct_bytes(access);
  cost.ideal_transactions = blocks_for(cost.bytes_used, 32);
  const unsigned lines = distinct_blocks(access, access.active, 128);
  const unsigned data = turns_of_runs(access, 32, lanes_each(access), banks).wavefronts;
  cost.turns = std::max<double>(data, 0.56 + 0.27 * lines);
}

shared_cost shared(const warp_access& access) {
  return turns_of_runs(access, 32, lanes_each(access), banks);
}

constexpr const char* names[] = {"sm_70", "sm_72", "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", nullptr};

}  // namespace

const access_rules volta{"compute capability 7.x to 9.x", names, &global, &shared, banks.banks};

}  // namespace twill::simt::rules
