#pragma once

// Numbers for words in memory that a launch writes without clearing them first.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <random>

namespace twill::detail {

/// Counts both halves of a random number up. From several threads at once.
class launch_tags {
 public:
  /// Differs from all before; each half also differs from those of almost 2^32 calls before, and from what memory is
  /// often full of: 0 and -1, and 1 and 2, which scans leave in scratch that they clear.
  std::uint64_t next() noexcept {
    const auto is_common = [](std::uint32_t half) { return half + 1 <= 3; };
    std::uint32_t low = 0, high = 0;
    do {
      const std::uint64_t call = ++calls_;
      low = static_cast<std::uint32_t>(first_ + call);
      high = static_cast<std::uint32_t>((first_ >> 32) + call + (call >> 32));
    } while (is_common(low) || is_common(high));
    return std::uint64_t{high} << 32 | low;
  }

 private:
  static std::uint64_t random_number() noexcept {
    try {
      std::random_device random;
      return std::uint64_t{random()} << 32 | random();
    } catch (const std::exception&) {  // no source of random numbers
      const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
      return static_cast<std::uint64_t>(now) * 0x9e3779b97f4a7c15u;
    }
  }

  const std::uint64_t first_ = random_number();
  std::atomic<std::uint64_t> calls_{0};
};

}  // namespace twill::detail
