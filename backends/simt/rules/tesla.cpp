// Compute capability 1.x: half-warps of 16 lanes, 16 banks, no cache.
// Sources: CUDA C Programming Guide, appendix on compute capabilities 1.x; GPGPU-Sim, memory_coalescing_arch.

#include <algorithm>

#include "families.hpp"
#include "parts.hpp"

namespace twill::simt::rules {
namespace {

constexpr unsigned half = 16, banks = 16;
constexpr lane_mask halves[] = {lanes(0, half), lanes(half, half)};

bool is_coalesced_1_0(const warp_access& access, lane_mask group) {
  if (access.bytes < 4) return false;
  const auto first = static_cast<unsigned>(__builtin_ctzll(group));
  const std::uint64_t base = access.address[first] - std::uint64_t{access.bytes} * (first % half);
  bool in_order = base % (std::uint64_t{half} * access.bytes) == 0;
  for_each_lane(group, [&](unsigned lane) {
    in_order = in_order && access.address[lane] == base + std::uint64_t{access.bytes} * (lane % half);
  });
  return in_order;
}

void global_1_0(const warp_access& access, global_cost& cost) {
  constexpr unsigned least_bytes = 32, most_bytes = 128;
  for (const lane_mask each : halves) {
    const lane_mask group = access.active & each;
    if (group == 0) continue;
    ++cost.requests;
    const unsigned span = half * access.bytes, step = std::min(span, most_bytes);
    cost.ideal_transactions += access.bytes < 4 ? lane_count(group) : std::min(lane_count(group), span / step);
    if (is_coalesced_1_0(access, group)) {
      const std::uint64_t base = access.address[__builtin_ctzll(group)] / span * span;
      for (unsigned at = 0; at < span; at += step) cost.move(base + at, step);
    } else {
      for_each_lane(group,
                    [&](unsigned lane) { cost.move(access.address[lane] / least_bytes * least_bytes, least_bytes); });
    }
  }
  cost.bytes_used = distinct_bytes(access);
  cost.lsu_clocks = cost.transactions;
}

// A segment serves all lanes that lie in it, then shrinks to the half, and the quarter, that is used.
void move_segment(const warp_access& access, lane_mask group, std::uint64_t base, unsigned bytes, global_cost& cost) {
  std::uint64_t low = base + bytes, high = base;
  for_each_lane(group, [&](unsigned lane) {
    low = std::min(low, access.address[lane]);
    high = std::max(high, access.address[lane] + access.bytes);
  });
  while (bytes > 32) {
    const std::uint64_t middle = base + bytes / 2;
    if (low < middle && high > middle) break;
    if (low >= middle) base = middle;
    bytes /= 2;
  }
  cost.move(base, bytes);
}

void global_1_2(const warp_access& access, global_cost& cost) {
  const unsigned segment = access.bytes == 1 ? 32 : access.bytes == 2 ? 64 : 128;
  for (const lane_mask each : halves) {
    lane_mask left = access.active & each;
    if (left == 0) continue;
    ++cost.requests;
    cost.ideal_transactions += blocks_for(distinct_bytes(access, left), 128);
    while (left != 0) {
      const std::uint64_t base = access.address[__builtin_ctzll(left)] / segment * segment;
      lane_mask served = 0;
      for_each_lane(left, [&](unsigned lane) {
        if (access.address[lane] / segment * segment == base) served |= lane_mask{1} << lane;
      });
      move_segment(access, served, base, segment, cost);
      left &= ~served;
    }
  }
  cost.bytes_used = distinct_bytes(access);
  cost.lsu_clocks = cost.transactions;
}

// Each cycle serves one word to all lanes that read it (a broadcast), and one lane in each other bank.
void add_shared_wavefronts(const warp_access& access, lane_mask group, unsigned offset, shared_cost& cost) {
  unsigned used = 0;
  for (; group != 0; ++cost.wavefronts) {
    const std::uint64_t broadcast = (access.address[__builtin_ctzll(group)] + offset) / 4;
    unsigned busy = 1u << broadcast % banks;
    lane_mask served = 0;
    for_each_lane(group, [&](unsigned lane) {
      const std::uint64_t word = (access.address[lane] + offset) / 4;
      const unsigned bank = 1u << word % banks;
      if (word != broadcast && (busy & bank) != 0) return;
      busy |= bank;
      served |= lane_mask{1} << lane;
    });
    group &= ~served;
    used |= busy;
    for (unsigned bank = 0; bank < banks; ++bank) cost.bank_wavefronts[bank] += busy >> bank & 1;
  }
  for (unsigned bank = 0; bank < banks; ++bank) cost.bank_ideal[bank] += used >> bank & 1;
}

// Wide accesses are made of 32-bit ones.
shared_cost shared_1_x(const warp_access& access) {
  shared_cost cost;
  for (const lane_mask each : halves) {
    const lane_mask group = access.active & each;
    if (group == 0) continue;
    for (unsigned offset = 0; offset < access.bytes; offset += 4) {
      add_shared_wavefronts(access, group, offset, cost);
      ++cost.ideal_wavefronts;
    }
  }
  return cost;
}

constexpr const char* names_1_0[] = {"sm_10", "sm_11", nullptr};
constexpr const char* names_1_2[] = {"sm_12", "sm_13", nullptr};

}  // namespace

const access_rules tesla_1_0{"compute capability 1.0 and 1.1", names_1_0, &global_1_0, &shared_1_x, banks, "segments"};
const access_rules tesla_1_2{"compute capability 1.2 and 1.3", names_1_2, &global_1_2, &shared_1_x, banks, "segments"};

}  // namespace twill::simt::rules
