#include "memory_system.hpp"

#include <algorithm>
#include <numeric>

#include "channels.hpp"

namespace twill::simt::timing {

fifo_cache::fifo_cache(std::uint64_t bytes, unsigned block_bytes) : capacity_(bytes / block_bytes) {}

void fifo_cache::insert(std::uint64_t block) {
  if (capacity_ == 0 || !blocks_.insert(block).second) return;
  order_.push_back(block);
  if (order_.size() <= capacity_) return;
  blocks_.erase(order_.front());
  order_.pop_front();
}

memory_system::memory_system(const machine& on)
    : on_(on), channels_(on.channels), channel_bytes_(on.channels), l2_(on.l2_bytes, on.fill_bytes) {
  for (channel& each : channels_) each.banks.resize(on.banks);
}

memory_system::reply memory_system::offer(const packet& each, bool store, double now) {
  return on_.l2_bytes == 0 ? offer_channel(each, store, now) : offer_cached(each, store, now);
}

// When the row of `address` can be read or written: now, or after its bank and its channel may open another row. Banks
// work side by side; what waits for one does not hold up the others.
double memory_system::open_page(channel& home, std::uint64_t address, double now) {
  const std::uint64_t stripe = std::uint64_t{on_.interleave_bytes} * on_.channels;
  const std::uint64_t local = address / stripe * on_.interleave_bytes + address % on_.interleave_bytes;
  const std::uint64_t page = local / on_.page_bytes;
  bank& of = home.banks[page % on_.banks];
  if (of.open_page == page) return std::max(now, of.activated);
  of.open_page = page;
  of.activated = std::max({now, of.activated + on_.row_cycle_clocks, home.activated + on_.activate_clocks});
  home.activated = std::max(home.activated, now) + on_.activate_clocks;
  return of.activated;
}

// The controller drains its queue by direction: one bus turnaround for all that the queue holds.
void memory_system::turn_around(channel& home, bool store) {
  (store ? home.writes : home.reads) = true;
  if (++home.taken < on_.channel_queue) return;
  if (home.reads && home.writes) home.free_at += on_.turnaround_clocks;
  home.taken = 0;
  home.reads = home.writes = false;
}

// Takes `bytes` through the channel of `address`. Returns when they are through.
double memory_system::serve(std::uint64_t address, double bytes, bool store, double now) {
  const unsigned which = channel_of(on_, address);
  channel& home = channels_[which];
  const double takes = bytes / on_.channel_bytes_per_clock;
  home.free_at = std::max(home.free_at, now) + takes;
  channel_bytes_[which] += bytes;
  if (on_.turnaround_clocks > 0) turn_around(home, store);
  double through = home.free_at;
  if (on_.banks > 0) through = std::max(through, open_page(home, address, now) + takes);
  home.held.push(through);
  return through;
}

// When the channel has a place in its queue for one packet more. First come, first served.
double memory_system::take_place(channel& home, double now) const {
  while (!home.held.empty() && home.held.top() <= now) home.held.pop();
  if (home.held.size() < on_.channel_queue) return now;
  const double open = home.held.top();
  home.held.pop();
  return open;
}

memory_system::reply memory_system::offer_channel(const packet& each, bool store, double now) {
  const double accepted = take_place(channels_[channel_of(on_, each.address)], now);
  const double through = serve(each.address, each.bytes, store, accepted);
  return {accepted, store ? through : through + on_.memory_latency};
}

// Stores end in L2, which writes each block back once; loads that miss fetch whole blocks. A channel that is far behind
// holds up both.
memory_system::reply memory_system::offer_cached(const packet& each, bool store, double now) {
  l2_free_at_ = std::max(l2_free_at_, now) + each.bytes / on_.l2_bytes_per_clock;
  double accepted = now, done = l2_free_at_ + (store ? 0 : on_.l2_latency);
  const std::uint64_t first = each.address / on_.fill_bytes, last = (each.address + each.bytes - 1) / on_.fill_bytes;
  for (std::uint64_t block = first; block <= last; ++block) {
    if (l2_.holds(block)) continue;
    l2_.insert(block);
    const std::uint64_t address = block * on_.fill_bytes;
    const double place = take_place(channels_[channel_of(on_, address)], now);
    const double through = serve(address, on_.fill_bytes, store, place);
    accepted = std::max(accepted, place);
    if (!store) done = std::max(done, through + on_.memory_latency);
  }
  return {accepted, std::max(done, accepted)};
}

double memory_system::drained() const {
  double last = l2_free_at_;
  for (const channel& each : channels_) last = std::max(last, each.free_at);
  return last;
}

double memory_system::bytes() const {
  return std::accumulate(channel_bytes_.begin(), channel_bytes_.end(), 0.0);
}

}  // namespace twill::simt::timing
