#include "trace.hpp"

#include <algorithm>

namespace twill::simt::timing {
namespace {

step_kind kind_of(const warp_access& access) {
  if (access.space == memory_space::global) return access.store ? step_kind::global_store : step_kind::global_load;
  return access.store ? step_kind::shared_store : step_kind::shared_load;
}

}  // namespace

void trace::add_packets(const global_cost& cost, step& to) {
  to.first_packet = static_cast<std::uint32_t>(packets_.size());
  for (unsigned i = 0; i < cost.transactions; ++i) {
    const transaction& each = cost.list[i];
    packet* const last = packets_.size() > to.first_packet ? &packets_.back() : nullptr;
    const bool joins = last != nullptr && last->address / packet_bytes_ == each.address / packet_bytes_ &&
                       last->address + last->bytes == each.address;
    if (joins) {
      last->bytes += each.bytes;
    } else {
      packets_.push_back({each.address, each.bytes});
    }
  }
  to.packets = static_cast<std::uint32_t>(packets_.size()) - to.first_packet;
}

void trace::add(const warp_access& access) {
  if (access.active == 0) return;
  open_block& block = blocks_[access.block];
  if (block.warps.size() <= access.warp) {
    block.warps.resize(access.warp + 1);
    block.intervals.resize(access.warp + 1);
    block.known.resize(access.warp + 1);
  }
  auto& steps = block.warps[access.warp];
  for (auto& passed = block.intervals[access.warp]; passed < access.interval; ++passed) {
    steps.push_back({step_kind::barrier});
  }
  step taken{kind_of(access)};
  // An address that the warp has had at this place before, in a loop, is still in its registers.
  const std::uint64_t place = std::uint64_t{access.site} << 48 ^ access.address[__builtin_ctzll(access.active)];
  if (block.known[access.warp].insert(place).second) {
    const bool shared = access.space == memory_space::shared;
    taken.instructions = static_cast<float>(shared ? shared_instructions_ : address_instructions_);
  }
  if (access.space == memory_space::global) {
    global_cost cost;
    rules_.global(access, cost);
    taken.lsu_clocks = static_cast<float>(cost.lsu_clocks);
    add_packets(cost, taken);
    counts_.add(counts_of(access, cost));
  } else {
    const shared_cost cost = rules_.shared(access);
    taken.lsu_clocks = static_cast<float>(cost.wavefronts);
    counts_.add(counts_of(access, cost));
    note_static_shared(access);
  }
  steps.push_back(taken);
}

void trace::note_static_shared(const warp_access& access) {
  for (unsigned lane = 0; lane < warp_access::max_lanes; ++lane) {
    if ((access.active >> lane & 1) == 0 || access.address[lane] < warp_access::static_shared) continue;
    const std::uint64_t offset = access.address[lane] - warp_access::static_shared;
    for (auto unit = offset / shared_unit; unit <= (offset + access.bytes - 1) / shared_unit; ++unit) {
      if (unit >= static_shared_.size()) static_shared_.resize(unit + 1);
      static_shared_[unit] = true;
    }
  }
}

std::uint64_t trace::static_shared_bytes() const {
  return shared_unit * static_cast<std::uint64_t>(std::count(static_shared_.begin(), static_shared_.end(), true));
}

std::vector<traced_block> trace::take_blocks() {
  std::vector<traced_block> all;
  all.reserve(blocks_.size());
  for (auto& [id, block] : blocks_) {
    const std::uint32_t barriers = *std::max_element(block.intervals.begin(), block.intervals.end());
    for (std::size_t warp = 0; warp < block.warps.size(); ++warp) {
      for (auto passed = block.intervals[warp]; passed < barriers; ++passed) {
        block.warps[warp].push_back({step_kind::barrier});
      }
    }
    all.push_back({id, std::move(block.warps)});
  }
  blocks_.clear();
  return all;
}

}  // namespace twill::simt::timing
