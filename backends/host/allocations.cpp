#include "allocations.hpp"

#include <algorithm>
#include <iterator>

namespace twill::host {

void allocations::add(const void* base, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(base);
  const std::lock_guard lock(mutex_);
  live_[at] = {at, bytes, made_++, false};
  live_bytes_ += bytes;
}

std::optional<std::size_t> allocations::remove(const void* base) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(reinterpret_cast<std::uintptr_t>(base));
  if (found == live_.end()) return std::nullopt;
  const std::size_t bytes = found->second.bytes;
  live_bytes_ -= bytes;
  auto& slot = released_[releases_++ % remembered];
  slot = found->second;
  slot.released = true;
  live_.erase(found);
  return bytes;
}

std::size_t allocations::live_bytes() const {
  const std::lock_guard lock(mutex_);
  return live_bytes_;
}

std::vector<allocation> allocations::live_by_age() const {
  std::vector<allocation> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [base, one] : live_) all.push_back(one);
  }
  std::sort(all.begin(), all.end(), [](const allocation& a, const allocation& b) { return a.serial < b.serial; });
  return all;
}

const allocation* allocations::live_at(std::uintptr_t address) const {
  const auto after = live_.upper_bound(address);
  if (after == live_.begin() || !std::prev(after)->second.holds(address)) return nullptr;
  return &std::prev(after)->second;
}

std::optional<allocation> allocations::find_live(const void* address) const {
  const std::lock_guard lock(mutex_);
  const allocation* const found = live_at(reinterpret_cast<std::uintptr_t>(address));
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::optional<allocation> allocations::find(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  if (const allocation* const live = live_at(at)) return *live;
  for (std::size_t back = 1; back <= std::min(releases_, remembered); ++back) {
    const auto& one = released_[(releases_ - back) % remembered];
    if (one.holds(at)) return one;
  }
  return std::nullopt;
}

}  // namespace twill::host
