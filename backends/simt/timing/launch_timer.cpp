#include "launch_timer.hpp"

#include <algorithm>

namespace twill::simt::timing {
namespace {

constexpr std::size_t port_requests = 32;  // that wait before a port
constexpr unsigned sector_bytes = 32;
// Of the instructions around an access, those of the longest chain in which each waits for another; the others overlap.
// Counted by scripts/kernel-instructions --chains: the median of the transpose ladder is 0.14 (sm_90) and 0.17 (sm_35).
constexpr double serial_part = 0.15;

// Whether all of a packet is in L1; from now on it is.
bool in_l1(fifo_cache& l1, const packet& each) {
  bool here = true;
  for (std::uint64_t at = each.address; at < each.address + each.bytes; at += sector_bytes) {
    here = here && l1.holds(at / sector_bytes);
    l1.insert(at / sector_bytes);
  }
  return here;
}

}  // namespace

launch_timer::launch_timer(const machine& on, const std::vector<traced_block>& blocks,
                           const std::vector<packet>& packets, unsigned resident, std::uint64_t l1_bytes)
    : on_(on), blocks_(blocks), packets_(packets), memory_(on), resident_(resident) {
  sms_.resize(on.multiprocessors, sm_state{0, 0, fifo_cache(l1_bytes, sector_bytes)});
  ports_.resize((on.multiprocessors + on.multiprocessors_per_port - 1) / on.multiprocessors_per_port);
  running_.reserve(blocks.size());
  ends_.reserve(blocks.size());
}

void launch_timer::run() {
  for (unsigned slot = 0; slot < resident_; ++slot) {
    for (std::uint32_t sm = 0; sm < on_.multiprocessors; ++sm) push(0, event_kind::block_start, sm);
  }
  while (!events_.empty()) {
    const event now = events_.top();
    events_.pop();
    switch (now.kind) {
      case event_kind::warp:
        step_warp(now.which, now.time);
        break;
      case event_kind::port:
        move_port(now.which, now.time);
        break;
      case event_kind::block_start:
        start_block(now.which, now.time);
        break;
      case event_kind::block_end:
        end_block(now.which, now.time);
        break;
    }
  }
}

void launch_timer::push(double time, event_kind kind, std::uint32_t which) {
  events_.push({time, made_++, kind, which});
}

void launch_timer::start_block(std::uint32_t sm, double now) {
  if (next_block_ == blocks_.size()) return;
  const traced_block& traced = blocks_[next_block_++];
  block_state block;
  block.sm = sm;
  block.first_warp = static_cast<std::uint32_t>(warps_.size());
  block.warps = static_cast<std::uint32_t>(traced.warps.size());
  const auto place = static_cast<std::uint32_t>(running_.size());
  running_.push_back(block);
  for (const auto& steps : traced.warps) {
    push(now, event_kind::warp, static_cast<std::uint32_t>(warps_.size()));
    warps_.push_back({place, &steps});
  }
}

void launch_timer::step_warp(std::uint32_t which, double now) {
  warp_state& warp = warps_[which];
  const bool at_end = warp.next == warp.steps->size();
  const bool needs_loads = at_end || is_store((*warp.steps)[warp.next].kind);
  if (needs_loads && warp.loads_out > 0) {
    warp.held = true;
    return;
  }
  if (needs_loads && warp.loads_done > now) return push(warp.loads_done, event_kind::warp, which);
  if (at_end) return end_warp(warp, now);
  const step& what = (*warp.steps)[warp.next];
  if (what.kind == step_kind::barrier) return reach_barrier(which, now);
  access(which, what, now);
}

// Issues the instructions around an access and the access itself, and queues it at its execution unit.
void launch_timer::access(std::uint32_t which, const step& what, double now) {
  warp_state& warp = warps_[which];
  block_state& block = running_[warp.block];
  sm_state& sm = sms_[block.sm];
  const std::uint32_t port_number = port_of(block.sm);
  port_state& port = ports_[port_number];
  if (is_global(what.kind) && port.queue.size() >= port_requests) {
    port.waiting.push_back(which);
    return;
  }
  double instructions = 1 + what.instructions;
  if (!warp.started) instructions += on_.startup_instructions;
  warp.started = true;
  const double begins = std::max(now, sm.issue_free);
  sm.issue_free = begins + instructions * on_.issue_clocks;
  const double issued =
      begins + std::max(instructions * on_.issue_clocks, (instructions - 1) * on_.alu_latency * serial_part);
  const double served = std::max(issued, sm.unit_free);
  sm.unit_free = served + what.lsu_clocks * on_.wavefront_clocks;
  ++warp.next;
  if (what.kind == step_kind::shared_load) {
    warp.loads_done = std::max(warp.loads_done, sm.unit_free + on_.shared_latency);
  } else if (is_global(what.kind)) {
    if (what.kind == step_kind::global_load) {
      warp.loads_out += what.packets;
    } else {
      block.stores_out += what.packets;
    }
    port.queue.push_back({served, which, &what, 0});
    schedule(port, port_number, now);
  }
  push(served, event_kind::warp, which);
}

void launch_timer::reach_barrier(std::uint32_t which, double now) {
  block_state& block = running_[warps_[which].block];
  sm_state& sm = sms_[block.sm];
  sm.issue_free = std::max(now, sm.issue_free) + on_.barrier_instructions * on_.issue_clocks;
  if (++block.arrived < block.warps) return;
  block.arrived = 0;
  for (std::uint32_t other = block.first_warp; other < block.first_warp + block.warps; ++other) {
    ++warps_[other].next;
    push(now + on_.barrier_clocks, event_kind::warp, other);
  }
}

void launch_timer::end_warp(warp_state& warp, double now) {
  block_state& block = running_[warp.block];
  block.done = std::max(block.done, now);
  if (++block.ended == block.warps && block.stores_out == 0) push(block.done, event_kind::block_end, warp.block);
}

void launch_timer::end_block(std::uint32_t which, double now) {
  ends_.push_back(now);
  push(now, event_kind::block_start, running_[which].sm);
}

void launch_timer::schedule(port_state& port, std::uint32_t which, double now) {
  if (port.scheduled || port.queue.empty()) return;
  port.scheduled = true;
  push(std::max({now, port.free, port.queue.front().ready}), event_kind::port, which);
}

void launch_timer::move_port(std::uint32_t which, double now) {
  port_state& port = ports_[which];
  port.scheduled = false;
  request& head = port.queue.front();
  send_packet(port, head, now);
  if (++head.sent == head.what->packets) {
    port.queue.pop_front();
    if (!port.waiting.empty()) {
      push(now, event_kind::warp, port.waiting.front());
      port.waiting.pop_front();
    }
  }
  schedule(port, which, now);
}

void launch_timer::send_packet(port_state& port, const request& head, double now) {
  const packet& each = packets_[head.what->first_packet + head.sent];
  warp_state& warp = warps_[head.warp];
  block_state& block = running_[warp.block];
  const bool store = head.what->kind == step_kind::global_store;
  if (!store && in_l1(sms_[block.sm].l1, each)) return loaded(head.warp, now + on_.l1_latency);
  const auto [accepted, done] = memory_.offer(each, store, now);
  if (!store) {
    port.free = accepted + each.bytes / on_.load_bytes_per_clock;
    return loaded(head.warp, done);
  }
  port.free = accepted + std::max(each.bytes, on_.store_slot_bytes) / on_.store_bytes_per_clock;
  block.done = std::max(block.done, done);
  if (--block.stores_out == 0 && block.ended == block.warps) push(block.done, event_kind::block_end, warp.block);
}

void launch_timer::loaded(std::uint32_t which, double done) {
  warp_state& warp = warps_[which];
  warp.loads_done = std::max(warp.loads_done, done);
  if (--warp.loads_out > 0 || !warp.held) return;
  warp.held = false;
  push(warp.loads_done, event_kind::warp, which);
}

}  // namespace twill::simt::timing
