// The segmented sieve on all cores. A thread holds the bytes of a segment of odd numbers in its first-level cache.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "device.hpp"
#include "operations.hpp"

namespace twill::cpu {
namespace {

constexpr std::int64_t segment_odds = 1 << 15, segment_span = 2 * segment_odds;

// The odd primes up to `limit`: how many, then they.
void base_primes(std::uint32_t* base, std::uint32_t limit) {
  std::uint32_t found = 0;
  for (std::uint32_t n = 3; n <= limit; n += 2) {
    bool prime = true;
    for (std::uint32_t k = 0; k < found && base[1 + k] * base[1 + k] <= n; ++k) {
      if (n % base[1 + k] == 0) {
        prime = false;
        break;
      }
    }
    if (prime) base[1 + found++] = n;
  }
  base[0] = found;
}

// composite[i] says it of first + 2 i + 1; the place of 1 stands for 2.
void sieve_segment(unsigned char* composite, std::int64_t first, std::int64_t end, const std::uint32_t* base) {
  std::memset(composite, 0, segment_odds);
  for (std::uint32_t k = 0; k < base[0]; ++k) {
    const std::int64_t p = base[1 + k];
    if (p * p >= end) return;
    std::int64_t multiple = p * p;
    if (multiple < first) {
      multiple = (first + p - 1) / p * p;
      if (multiple % 2 == 0) multiple += p;
    }
    for (std::int64_t i = (multiple - first) / 2; i < segment_odds; i += p) composite[i] = 1;
  }
}

std::int64_t number_at(std::int64_t first, std::int64_t i) {
  return first + i == 0 ? 2 : first + 2 * i + 1;
}

}  // namespace

void sieve(const detail::work_queue& queue, const detail::sieve_args& a) {
  auto* base = static_cast<std::uint32_t*>(a.scratch);
  auto* counts = reinterpret_cast<std::uint64_t*>(static_cast<unsigned char*>(a.scratch) + detail::sieve_base_bytes);
  base_primes(base, static_cast<std::uint32_t>(std::sqrt(static_cast<double>(a.last))) + 1);
  const std::int64_t segments = (a.last - a.first + segment_span - 1) / segment_span;
  const auto each_segment = [&](auto&& f) {
    team_of(queue).run(static_cast<std::size_t>(segments), [&](std::size_t segment) {
      unsigned char composite[segment_odds];
      const std::int64_t first = a.first + static_cast<std::int64_t>(segment) * segment_span;
      sieve_segment(composite, first, std::min(a.last, first + segment_span), base);
      std::int64_t odds = 0;  // places of numbers below `last`
      while (odds < segment_odds && number_at(first, odds) < a.last) ++odds;
      f(static_cast<std::int64_t>(segment), first, composite, odds);
    });
  };
  if (a.bits != nullptr) {
    return each_segment(
        [&](std::int64_t segment, std::int64_t first, const unsigned char* composite, std::int64_t odds) {
          const std::int64_t words = std::min(segment_odds / 32, (a.last - first + 63) / 64);
          for (std::int64_t w = 0; w < words; ++w) {
            std::uint32_t bits = 0;
            for (std::int64_t i = 32 * w; i < std::min(odds, 32 * w + 32); ++i) bits |= (composite[i] ^ 1u) << (i % 32);
            a.bits[segment * (segment_odds / 32) + w] = bits;
          }
        });
  }
  each_segment([&](std::int64_t segment, std::int64_t, const unsigned char* composite, std::int64_t odds) {
    std::uint64_t composites = 0;
    for (std::int64_t i = 0; i < odds; ++i) composites += composite[i];
    counts[segment] = static_cast<std::uint64_t>(odds) - composites;
  });
  std::uint64_t before = 0;
  for (std::int64_t s = 0; s < segments; ++s) before += std::exchange(counts[s], before);
  *a.count = before;
  if (!a.wants_list || a.capacity == 0) return;
  each_segment([&](std::int64_t segment, std::int64_t first, const unsigned char* composite, std::int64_t odds) {
    auto at = static_cast<std::int64_t>(counts[segment]);
    for (std::int64_t i = 0; i < odds; ++i) {
      if (composite[i] != 0) continue;
      if (at < a.capacity) a.list[at] = static_cast<std::uint64_t>(number_at(first, i));
      ++at;
    }
  });
}

}  // namespace twill::cpu
