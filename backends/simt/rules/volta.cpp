// Compute capability 7.x to 10.x: a request an instruction, 32-byte sectors, L1 and shared memory in the same 32 banks.
// Sources: Nsight Compute documentation (what it counts); cycles of the load/store unit: fitted to the strided loads of
// gpu-benches (te42kyfo/gpu-benches, gpu-strides, H200) to 0.25 clocks, not to any kernel of Twill. Wide loads of pairs
// that share an address: an answer of NVIDIA on its developer forum, thread 77228, for 7.0 to 7.5; taken to hold up
// to 10.x. Nothing of 10.x was compared: it is taken to be as 9.0.

#include <algorithm>

#include "families.hpp"
#include "parts.hpp"

namespace twill::simt::rules {
namespace {

constexpr bank_layout banks_7_x{32, 128};

unsigned lanes_each_7_x(const warp_access& access) {
  return access.bytes <= 4 ? 32 : 128 / access.bytes;
}

void global_7_x(const warp_access& access, global_cost& cost) {
  if (access.active == 0) return;
  cost.requests = 1;
  move_blocks(access, access.active, 32, cost);
  cost.bytes_used = distinct_bytes(access);
  cost.ideal_transactions = blocks_for(cost.bytes_used, 32);
  const unsigned lines = distinct_blocks(access, access.active, 128);
  const unsigned data = wavefronts_of_runs(access, 32, lanes_each_7_x(access), banks_7_x).wavefronts;
  cost.lsu_clocks = std::max<double>(data, 0.56 + 0.27 * lines);
}

// Whether each active lane has the address of the active lane whose number differs in `bit`.
bool pairs_share(const warp_access& access, unsigned bit) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    const bool both = (access.active >> lane & 1) != 0 && (access.active >> (lane ^ bit) & 1) != 0;
    if (both && access.address[lane] != access.address[lane ^ bit]) return false;
  }
  return true;
}

// A wide load of lanes that share addresses in pairs returns two lanes' values at once, to twice as many lanes a cycle.
shared_cost shared_7_x(const warp_access& access) {
  const bool packs = access.bytes > 4 && !access.store && (pairs_share(access, 1) || pairs_share(access, 2));
  return wavefronts_of_runs(access, 32, packs ? 2 * lanes_each_7_x(access) : lanes_each_7_x(access), banks_7_x);
}

constexpr const char* names_7_x[] = {"sm_70", "sm_72", "sm_75", "sm_80",  "sm_86",
                                     "sm_87", "sm_89", "sm_90", "sm_100", nullptr};

}  // namespace

const access_rules volta{"compute capability 7.x to 10.x", names_7_x, &global_7_x, &shared_7_x, banks_7_x.banks};

}  // namespace twill::simt::rules
