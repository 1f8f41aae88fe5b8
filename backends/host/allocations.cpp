#include "allocations.hpp"

#include <new>

namespace twill::host {

void allocations::add(const void* base, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(base);
  const std::lock_guard lock(mutex_);
  live_[at] = {at, bytes, false};
  live_bytes_ += bytes;
}

std::optional<std::size_t> allocations::remove(const void* base) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(reinterpret_cast<std::uintptr_t>(base));
  if (found == live_.end()) return std::nullopt;
  const std::size_t bytes = found->second.bytes;
  live_bytes_ -= bytes;
  try {
    released_.push_back(found->second);
    released_.back().released = true;
  } catch (const std::bad_alloc&) {
    // Then it is forgotten, which costs a later diagnosis its name and nothing else.
  }
  live_.erase(found);
  if (released_.size() > remembered) released_.pop_front();
  return bytes;
}

std::size_t allocations::live_bytes() const {
  const std::lock_guard lock(mutex_);
  return live_bytes_;
}

std::optional<allocation> allocations::find(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  auto after = live_.upper_bound(at);
  if (after != live_.begin() && (--after)->second.holds(at)) return after->second;
  for (auto one = released_.rbegin(); one != released_.rend(); ++one) {
    if (one->holds(at)) return *one;
  }
  return std::nullopt;
}

}  // namespace twill::host
