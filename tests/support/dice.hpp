#pragma once

// Random numbers for tests that draw their cases, and how many they draw. TWILL_TEST_CASES says how many cases (400),
// TWILL_TEST_SEED adds to the seed, and with TWILL_TEST_SECONDS a test goes on with new seeds until the time is over.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>

namespace support {

/// The same numbers on every platform, unlike the distributions of the standard library.
class dice {
 public:
  explicit dice(std::uint64_t seed) : random_(seed) {}

  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool one_in(std::int64_t n) { return pick(1, n) == 1; }

  /// 1 to `most`: mostly small, often around multiples of what kernels like.
  std::int64_t extent(std::int64_t most) {
    std::int64_t n = 1;
    switch (pick(0, 4)) {
      case 0:
        n = pick(1, 9);
        break;
      case 1:
        n = pick(1, 100);
        break;
      case 2:
        n = (std::int64_t{1} << pick(2, 9)) * pick(1, 3) + pick(-1, 1);
        break;
      case 3:
        n = 16 * pick(1, 20);
        break;
      default:
        n = pick(1, std::int64_t{2} << pick(0, 14));
    }
    return std::min(n, std::max<std::int64_t>(1, most));
  }
  std::int64_t element_bytes() { return one_in(2) ? std::int64_t{1} << pick(0, 4) : pick(1, 64); }
  std::size_t offset() {
    const std::int64_t step = std::int64_t{1} << pick(0, 5);
    return one_in(3) ? 0 : static_cast<std::size_t>(pick(0, 128 / step) * step);
  }
  /// Bytes that a call may take: small, and now and then large enough for every kernel's main path.
  std::int64_t budget() { return one_in(40) ? 1 << 20 : one_in(4) ? 1 << 17 : 1 << 14; }
  /// A leading dimension for rows of `row` elements.
  std::int64_t leading(std::int64_t row) {
    return one_in(2) ? 0 : one_in(2) ? row + pick(0, 20) : (row + 15) / 16 * 16 + 16 * pick(0, 2);
  }

 private:
  std::mt19937_64 random_;
};

inline std::int64_t number_from_environment(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoll(text, nullptr, 10);
}

/// Calls f(seed, cases) once, or with TWILL_TEST_SECONDS again and again with the next seed until they are over.
template <class F>
void on_random_rounds(std::uint64_t seed, F&& f) {
  const auto cases = static_cast<int>(std::max<std::int64_t>(1, number_from_environment("TWILL_TEST_CASES", 400)));
  seed += static_cast<std::uint64_t>(number_from_environment("TWILL_TEST_SEED", 0));
  const std::chrono::seconds limit(number_from_environment("TWILL_TEST_SECONDS", 0));
  const auto begin = std::chrono::steady_clock::now();
  do {
    CAPTURE(seed);
    f(seed++, cases);
  } while (std::chrono::steady_clock::now() - begin < limit);
}

}  // namespace support
