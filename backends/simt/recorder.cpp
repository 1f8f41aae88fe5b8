#include "recorder.hpp"

#include <algorithm>
#include <utility>

namespace twill::simt {
block_sample block_sample::of(std::uint64_t blocks, std::uint64_t threads_per_block, std::uint64_t most_threads) {
  const std::uint64_t most_blocks = std::max<std::uint64_t>(1, most_threads / threads_per_block);
  if (blocks <= most_blocks) return {};
  block_sample sample;
  sample.run = std::clamp<std::uint64_t>(most_blocks / 16, 1, 8);
  // Odd, and so out of step with grids of 2^n columns, whose every column is to be seen.
  sample.every = (blocks + most_blocks - 1) / most_blocks | 1;
  return sample;
}

recording::recording(access_sink& sink, launch_facts facts, block_sample sample, source_lines& lines)
    : sink_(sink), facts_(std::move(facts)), sample_(sample), lines_(lines) {}

void recording::count_block() {
  const std::lock_guard lock(mutex_);
  ++facts_.recorded;
}

void recording::note_wait() {
  const std::lock_guard lock(mutex_);
  facts_.waits = true;
}

std::uint32_t recording::site_of(const void* place) {
  const source_line line = lines_.of_call(place);
  const auto key = line.file.empty() ? std::to_string(reinterpret_cast<std::uintptr_t>(place))
                                     : line.file + ":" + std::to_string(line.line);
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = sites_.emplace(key, static_cast<std::uint32_t>(facts_.lines.size()));
  if (is_new) facts_.lines.push_back(line);
  return found->second;
}

recorder::recorder(recording& into) : into_(into), lanes_(into.facts().warp_lanes) {}

void recorder::begin_block(std::uint64_t block, unsigned threads) {
  block_ = block;
  threads_ = threads;
  warps_.resize((threads + lanes_ - 1) / lanes_);
  into_.count_block();
}

recorder::place_record& recorder::record_of(const void* place, memory_space space, std::size_t bytes,
                                            access_kind kind) {
  // User addresses have 47 bits on the processors that run this, or 56: the other distinctions go above them.
  const std::uint64_t key = reinterpret_cast<std::uintptr_t>(place) ^ static_cast<std::uint64_t>(bytes) << 57 ^
                            static_cast<std::uint64_t>(space == memory_space::shared) << 62 ^
                            static_cast<std::uint64_t>(writes(kind)) << 63;
  if (key == last_key_ && last_ != nullptr) return *last_;
  const auto [found, is_new] = places_.try_emplace(key);
  place_record& record = found->second;
  if (is_new) {
    record.site = into_.site_of(place);
    record.bytes = static_cast<std::uint8_t>(bytes);
    record.space = space;
    record.kind = kind;
    record.threads.resize(threads_);
    record.warps.resize(warps_.size());
  }
  last_key_ = key;
  last_ = &record;
  return record;
}

bool recorder::is_polled_again(std::uint32_t site, unsigned thread, std::uint64_t address) {
  if (!waits_) into_.note_wait();
  waits_ = true;
  return !polled_.emplace(site, thread, address).second;
}

void recorder::add(unsigned thread, memory_space space, std::uint64_t address, std::size_t bytes, access_kind kind,
                   const void* place) {
  place_record& here = record_of(place, space, bytes, kind);
  if (kind == access_kind::atomic_load && is_polled_again(here.site, thread, address)) return;
  const unsigned warp = thread / lanes_, lane = thread % lanes_;
  auto& mine = here.threads[thread];
  auto& ours = here.warps[warp];
  if (mine.interval != interval_) mine = {interval_, 0};
  if (ours.interval != interval_) {
    ours.interval = interval_;
    ours.lanes = 0;
    ours.instructions.clear();
  }
  const std::uint32_t time = mine.count++;
  auto& instructions = warps_[warp];
  if (time == ours.instructions.size()) {
    ours.instructions.push_back(static_cast<std::uint32_t>(instructions.size()));
    instructions.push_back({&here, time, addresses_.size(), 0});
    addresses_.resize(addresses_.size() + lanes_);
  }
  instruction& one = instructions[ours.instructions[time]];
  one.active |= std::uint64_t{1} << lane;
  ours.lanes |= std::uint64_t{1} << lane;
  addresses_[one.first + lane] = address;
}

// The place that `place` counts as, for this warp and interval.
recorder::place_record* recorder::head_of(place_record& place, unsigned warp) {
  const std::uint64_t lanes = place.warps[warp].lanes;
  for (auto& group : groups_) {
    if (group.head == &place) return &place;
    if (!group.head->same_kind(place) || (group.lanes & lanes) != 0) continue;
    group.lanes |= lanes;
    return group.head;
  }
  groups_.push_back({&place, lanes});
  return &place;
}

void recorder::unite_alternatives(unsigned warp) {
  groups_.clear();
  auto& instructions = warps_[warp];
  for (auto& first : instructions) {
    if (first.time != 0) continue;
    place_record& place = *first.place;
    const auto& all = place.warps[warp].instructions;
    const auto* head = head_of(place, warp);
    if (head == &place) continue;
    const auto& into = head->warps[warp].instructions;
    for (std::size_t time = 0; time < all.size() && time < into.size(); ++time) {
      instruction &from = instructions[all[time]], &to = instructions[into[time]];
      for (unsigned lane = 0; lane < lanes_; ++lane) {
        if (from.active >> lane & 1) addresses_[to.first + lane] = addresses_[from.first + lane];
      }
      to.active |= std::exchange(from.active, 0);
    }
  }
}

void recorder::end_interval(unsigned interval) {
  for (unsigned w = 0; w < warps_.size(); ++w) unite_alternatives(w);
  ++interval_;
  into_.with_sink([&](access_sink& sink) {
    warp_access access;
    access.block = block_;
    access.interval = interval;
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      access.warp = static_cast<std::uint32_t>(w);
      for (const instruction& one : warps_[w]) {
        if (one.active == 0) continue;
        access.space = one.place->space;
        access.store = writes(one.place->kind);
        access.atomic = one.place->kind == access_kind::atomic;
        access.bytes = one.place->bytes;
        access.site = one.place->site;
        access.active = one.active;
        for (unsigned lane = 0; lane < lanes_; ++lane) access.address[lane] = addresses_[one.first + lane];
        sink.add(access);
      }
    }
  });
  for (auto& warp : warps_) warp.clear();
  addresses_.clear();
  polled_.clear();
}

}  // namespace twill::simt
