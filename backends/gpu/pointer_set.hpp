#pragma once

// A set of addresses that several threads add to at the same time, without locks and allocations.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace twill::detail {

template <std::size_t Capacity>
class pointer_set {
  static_assert((Capacity & (Capacity - 1)) == 0);

 public:
  bool contains(const void* pointer) const noexcept {
    for (std::size_t i = 0; i < Capacity; ++i) {
      const void* const found = places_[place(pointer, i)].load(std::memory_order_acquire);
      if (found == pointer) return true;
      if (found == nullptr) return false;
    }
    return false;
  }

  /// Does nothing where it is full. `pointer`: not null.
  void add(const void* pointer) noexcept {
    for (std::size_t i = 0; i < Capacity; ++i) {
      const void* found = nullptr;
      if (places_[place(pointer, i)].compare_exchange_strong(found, pointer, std::memory_order_acq_rel)) return;
      if (found == pointer) return;
    }
  }

 private:
  static std::size_t place(const void* pointer, std::size_t step) noexcept {
    const auto bits = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer));
    return (static_cast<std::size_t>(bits * 0x9e3779b97f4a7c15u >> 40) + step) & (Capacity - 1);
  }

  std::array<std::atomic<const void*>, Capacity> places_{};
};

}  // namespace twill::detail
