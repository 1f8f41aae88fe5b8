// The segmented sieve on all cores. A thread keeps a segment of odd numbers, a byte each, in its L1 cache and carries
// the next multiple of each sieving prime from segment to segment.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "backends/cpu/device.hpp"
#include "table.hpp"

namespace twill::cpu {
namespace {

using detail::sieve_args;

constexpr std::int64_t segment_odds = 1 << 15, segment_span = 2 * segment_odds;
constexpr std::size_t most_primes = detail::sieve_base_bytes / sizeof(std::uint32_t);

// The multiples of 3, 5, 7, 11 and 13 are periodic in their product: copied instead of marked again.
constexpr std::uint32_t by_pattern = 5, pattern_period = 3 * 5 * 7 * 11 * 13;

struct pattern_bytes {
  std::array<unsigned char, pattern_period + segment_odds> composite{};  // of the odd numbers from 1 on
  pattern_bytes() {
    for (const std::size_t p : {3, 5, 7, 11, 13}) {
      for (std::size_t i = p / 2; i < composite.size(); i += p) composite[i] = 1;
    }
  }
};

// composite[i] is for first + 2 i + 1; the entry of 1 stands for 2.
void begin_segment(unsigned char* composite, std::int64_t first) {
  static const pattern_bytes pattern;
  std::memcpy(composite, pattern.composite.data() + first / 2 % pattern_period, segment_odds);
  if (first > 0) return;
  for (const int p : {3, 5, 7, 11, 13}) composite[p / 2] = 0;
}

// The odd primes up to `limit`, at most 2^20: how many, then they. Those up to its root are in the first segment.
void base_primes(std::uint32_t* base, std::uint32_t limit) {
  unsigned char composite[segment_odds];
  std::uint32_t found = 0;
  for (std::uint32_t first = 0; first <= limit; first += segment_span) {
    begin_segment(composite, first);
    for (std::uint32_t k = by_pattern; k < found; ++k) {
      const std::uint32_t p = base[1 + k];
      if (p * p >= first + segment_span) break;
      const std::uint32_t multiple = (first / p + 1) * p;
      for (std::uint32_t i = (multiple % 2 == 0 ? multiple + p - first : multiple - first) / 2; i < segment_odds;
           i += p)
        composite[i] = 1;
    }
    for (std::uint32_t i = first == 0 ? 1 : 0; i < segment_odds && first + 2 * i + 1 <= limit; ++i) {
      if (composite[i] != 0) continue;
      const std::uint32_t p = first + 2 * i + 1;
      base[1 + found++] = p;
      if (first == 0 && p < 256 && p > 13) {
        for (std::uint32_t at = p * p / 2; at < segment_odds; at += p) composite[at] = 1;
      }
    }
  }
  base[0] = found;
}

// Goes through segments, one after the other, on one thread.
class walker {
 public:
  walker(const std::uint32_t* base, std::int64_t first) : base_(base), first_(first) {}

  // Calls f(segment, first, composite, odds) for `count` segments from number `segment` of the range of `a` on; `odds`
  // places are of numbers below its end.
  template <class F>
  void walk(const sieve_args& a, std::int64_t segment, std::int64_t count, F&& f) {
    alignas(64) unsigned char composite[segment_odds];
    for (; count > 0; --count, ++segment, first_ += segment_span) {
      begin_segment(composite, first_);
      mark_multiples(composite);
      const std::int64_t odds = first_ == 0 && a.last <= 2 ? 0 : std::min(segment_odds, (a.last - first_) / 2);
      f(segment, first_, composite, odds);
    }
  }

 private:
  void mark_multiples(unsigned char* composite) {
    const std::int64_t end = first_ + segment_span;
    for (; begun_ < base_[0]; ++begun_) {
      const std::int64_t p = base_[1 + begun_];
      if (p * p >= end) break;
      std::int64_t multiple = std::max(p * p, (first_ + p - 1) / p * p);
      if (multiple % 2 == 0) multiple += p;
      next_[begun_] = static_cast<std::uint32_t>((multiple - first_) / 2);
    }
    for (std::uint32_t k = by_pattern; k < begun_; ++k) {
      const std::uint32_t p = base_[1 + k];
      std::uint32_t i = next_[k];
      for (; i < segment_odds; i += p) composite[i] = 1;
      next_[k] = i - segment_odds;
    }
  }

  const std::uint32_t* base_;
  std::int64_t first_;
  std::uint32_t begun_ = 0;          // sieving primes in use
  std::uint32_t next_[most_primes];  // next multiple of each, in odd numbers from the segment's start
};

std::int64_t number_at(std::int64_t first, std::int64_t i) {
  return first + i == 0 ? 2 : first + 2 * i + 1;
}

// Eight bytes of 0 or 1, inverted and packed: the product gathers them in its top byte.
std::uint32_t eight_primes(const unsigned char* composite) {
  std::uint64_t bytes;
  std::memcpy(&bytes, composite, sizeof bytes);
  return static_cast<std::uint32_t>((bytes ^ 0x0101010101010101u) * 0x0102040810204080u >> 56);
}

void write_bits(std::uint32_t* bits, std::int64_t words, const unsigned char* composite, std::int64_t odds) {
  for (std::int64_t w = 0; w < words; ++w) {
    const unsigned char* at = composite + 32 * w;
    bits[w] = eight_primes(at) | eight_primes(at + 8) << 8 | eight_primes(at + 16) << 16 | eight_primes(at + 24) << 24;
  }
  if (odds < 32 * words) bits[words - 1] &= (std::uint32_t{1} << (odds - 32 * (words - 1))) - 1;
}

std::uint64_t primes_among(const unsigned char* composite, std::int64_t odds) {
  std::uint32_t composites = 0;
  for (std::int64_t i = 0; i < odds; ++i) composites += composite[i];
  return static_cast<std::uint64_t>(odds) - composites;
}

// Sieves with `each_segment`, which calls a function for all segments as walker::walk does.
template <class Each>
void sieve_with(const sieve_args& a, std::uint64_t* counts, std::int64_t segments, Each&& each_segment) {
  if (a.bits != nullptr) {
    return each_segment(
        [&](std::int64_t segment, std::int64_t first, const unsigned char* composite, std::int64_t odds) {
          write_bits(a.bits + segment * (segment_odds / 32), std::min(segment_odds / 32, (a.last - first + 63) / 64),
                     composite, odds);
        });
  }
  each_segment([&](std::int64_t segment, std::int64_t, const unsigned char* composite, std::int64_t odds) {
    counts[segment] = primes_among(composite, odds);
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

}  // namespace

void sieve_in_runs(const detail::work_queue& queue, const sieve_args& a, bool alone) {
  auto* base = static_cast<std::uint32_t*>(a.scratch);
  auto* counts = reinterpret_cast<std::uint64_t*>(static_cast<unsigned char*>(a.scratch) + detail::sieve_base_bytes);
  base_primes(base, static_cast<std::uint32_t>(std::sqrt(static_cast<double>(a.last))) + 1);
  const std::int64_t segments = (a.last - a.first + segment_span - 1) / segment_span;
  // Runs of segments: long, for a run divides by every prime at its beginning, but enough for all threads.
  const std::int64_t run = alone ? segments : std::clamp<std::int64_t>(segments / (4 * team_of(queue).size()), 1, 256);
  const auto walk_run = [&](std::int64_t segment, auto&& f) {
    walker walks(base, a.first + segment * segment_span);
    walks.walk(a, segment, std::min(run, segments - segment), f);
  };
  sieve_with(a, counts, segments, [&](auto&& f) {
    if (alone) return walk_run(0, f);
    team_of(queue).run(static_cast<std::size_t>((segments + run - 1) / run),
                       [&](std::size_t task) { walk_run(static_cast<std::int64_t>(task) * run, f); });
  });
}

void sieve(const detail::work_queue& queue, const sieve_args& a) {
  sieve_in_runs(queue, a, false);
}

}  // namespace twill::cpu
