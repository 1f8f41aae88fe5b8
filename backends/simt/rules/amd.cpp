// AMD. Global memory: requests by lines of the vector L1 cache. LDS: groups of lanes that must not meet in a bank;
// which lanes form a group depends on the width, and for 16-byte reads they are not consecutive. Sources: LDS bank
// conflict notes of AMD's Composable Kernel (b32, b128) and HipKittens (b64, gfx950), both measured; ROCm
// documentation, MI100/MI200/MI300 performance counters (line sizes). Turns of global accesses: te42kyfo/gpu-benches,
// gpu-strides, MI210 (4-byte loads: 4.0 clocks for 32 lanes in runs of 8, 7.5 in runs of 4, 16.1 at stride 2, 14.1 at
// other odd strides, 32.2 at large strides; at stride 3 it has 8.1, for which these rules say 16).
// Assumed, for no published measurement was found: groups of 16-byte reads on gfx906, gfx908 and gfx90a as on gfx942;
// cycles of other widths, of stores and of other wave64 devices as those loads; wave32 of RDNA as half a wave64, its
// wide accesses in consecutive lanes, and a cycle a line.

#include <algorithm>

#include "families.hpp"
#include "parts.hpp"

namespace twill::simt::rules {
namespace {

constexpr bank_layout banks_32{32, 128};
constexpr bank_layout banks_64{64, 256};

// Runs of four lanes whose addresses do not follow each other (or are the same): each takes a cycle for half of it.
unsigned broken_quads(const warp_access& access) {
  unsigned broken = 0;
  for (unsigned first = 0; first < warp_access::max_lanes; first += 4) {
    bool in_order = true;
    for (unsigned lane = first + 1; lane < first + 4; ++lane) {
      if ((access.active >> (lane - 1) & 3) != 3) continue;
      const std::uint64_t step = access.address[lane] - access.address[lane - 1];
      in_order = in_order && (step == 0 || step == access.bytes);
    }
    broken += in_order ? 0 : 1;
  }
  return broken;
}

template <unsigned LineBytes, bool Quads>
void global(const warp_access& access, global_cost& cost) {
  if (access.active == 0) return;
  cost.requests = 1;
  move_blocks(access, access.active, LineBytes, cost);
  cost.bytes_used = distinct_bytes(access);
  cost.ideal_transactions = blocks_for(cost.bytes_used, LineBytes);
  const unsigned lines = distinct_blocks(access, access.active, 64);
  cost.lsu_clocks = Quads ? std::max(lines, 2 * broken_quads(access)) : lines;
}

// Both halves of a wave64 have the same groups.
constexpr lane_mask both(lane_mask low) {
  return low | low << 32;
}
constexpr lane_mask high_half = lanes(32, 32);
constexpr lane_mask read_16_cdna3[] = {lanes(0, 4) | lanes(20, 4), lanes(4, 4) | lanes(16, 4),
                                       lanes(8, 4) | lanes(28, 4), lanes(12, 4) | lanes(24, 4)};
constexpr lane_mask read_16_cdna4[] = {lanes(0, 4) | lanes(12, 4) | lanes(20, 8),
                                       lanes(4, 8) | lanes(16, 4) | lanes(28, 4)};

template <unsigned Count>
shared_cost read_16(const warp_access& access, const lane_mask (&low)[Count], bank_layout layout) {
  lane_mask groups[2 * Count];
  for (unsigned i = 0; i < Count; ++i) {
    groups[i] = both(low[i]) & ~high_half;
    groups[Count + i] = both(low[i]) & high_half;
  }
  return wavefronts_of_groups(access, groups, 2 * Count, layout);
}

shared_cost shared_wave64(const warp_access& access) {
  if (access.bytes <= 4) return wavefronts_of_runs(access, 64, 32, banks_32);
  if (access.bytes == 16 && !access.store) return read_16(access, read_16_cdna3, banks_32);
  return wavefronts_of_runs(access, 64, 128 / access.bytes, banks_32);
}

// Reads of 8 and 16 bytes see 64 banks, all else 32.
shared_cost shared_cdna4(const warp_access& access) {
  if (access.store || access.bytes <= 4) return shared_wave64(access);
  if (access.bytes == 16) return read_16(access, read_16_cdna4, banks_64);
  return wavefronts_of_runs(access, 64, 32, banks_64);
}

shared_cost shared_wave32(const warp_access& access) {
  return wavefronts_of_runs(access, 32, access.bytes <= 4 ? 32 : 128 / access.bytes, banks_32);
}

constexpr const char* gcn_names[] = {"gfx900", "gfx906", "gfx908", "gfx90a", nullptr};
constexpr const char* cdna3_names[] = {"gfx940", "gfx941", "gfx942", nullptr};
constexpr const char* cdna4_names[] = {"gfx950", nullptr};
constexpr const char* rdna_names[] = {"gfx1030", "gfx1031", "gfx1032", "gfx1100", "gfx1101", "gfx1102", nullptr};

}  // namespace

const access_rules gcn{
    "AMD gfx906, gfx908 and gfx90a", gcn_names, &global<64, true>, &shared_wave64, banks_32.banks, "lines"};
const access_rules cdna3{"AMD gfx942", cdna3_names, &global<128, true>, &shared_wave64, banks_32.banks, "lines"};
const access_rules cdna4{"AMD gfx950", cdna4_names, &global<128, true>, &shared_cdna4, banks_64.banks, "lines"};
const access_rules rdna{
    "AMD gfx1030 and gfx1100", rdna_names, &global<128, false>, &shared_wave32, banks_32.banks, "lines"};

}  // namespace twill::simt::rules
