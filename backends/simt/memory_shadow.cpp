#include "memory_shadow.hpp"

#include <algorithm>
#include <iterator>

namespace twill::simt {

void memory_shadow::add(const void* base, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  flags_[reinterpret_cast<std::uintptr_t>(base)].assign(bytes, 0);
}

void memory_shadow::remove(const void* base) noexcept {
  const std::lock_guard lock(mutex_);
  flags_.erase(reinterpret_cast<std::uintptr_t>(base));
}

// The flags of the bytes at `at`; nullptr unless all of them lie in one allocation.
std::uint8_t* memory_shadow::find(const void* at, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  const auto after = flags_.upper_bound(address);
  if (after == flags_.begin()) return nullptr;
  auto& [base, flags] = *std::prev(after);
  const std::size_t offset = address - base;
  return offset <= flags.size() && flags.size() - offset >= bytes ? flags.data() + offset : nullptr;
}

void memory_shadow::write(const void* at, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (auto* flags = find(at, bytes)) std::fill_n(flags, bytes, std::uint8_t{1});
}

void memory_shadow::copy(const void* to, const void* from, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  auto* const target = find(to, bytes);
  const auto* const source = find(from, bytes);
  if (target == nullptr) return;
  if (source == nullptr) {
    std::fill_n(target, bytes, std::uint8_t{1});
  } else {
    std::copy_n(source, bytes, target);
  }
}

std::size_t memory_shadow::unwritten(const void* at, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto* const flags = find(at, bytes);
  return flags == nullptr ? 0 : static_cast<std::size_t>(std::count(flags, flags + bytes, std::uint8_t{0}));
}

std::uint8_t* memory_shadow::flags_of(std::uintptr_t base) {
  const std::lock_guard lock(mutex_);
  const auto found = flags_.find(base);
  return found == flags_.end() ? nullptr : found->second.data();
}

}  // namespace twill::simt
