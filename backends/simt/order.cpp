#include "order.hpp"

#include <charconv>
#include <numeric>
#include <string>

#include "backends/error.hpp"

namespace twill::simt {

schedule parse_schedule(std::string_view text) {
  if (text == "forward") return {interleaving::forward, 0};
  if (text == "reverse") return {interleaving::reverse, 0};
  if (text == "shuffled") return {interleaving::shuffled, 0};
  constexpr std::string_view prefix = "shuffled:";
  std::uint64_t seed = 0;
  if (text.substr(0, prefix.size()) == prefix) {
    const auto digits = text.substr(prefix.size());
    const auto read = std::from_chars(digits.begin(), digits.end(), seed);
    if (read.ec == std::errc() && read.ptr == digits.end()) return {interleaving::shuffled, seed};
  }
  detail::fail(errc::invalid_argument, "no interleaving \"" + std::string(text) + "\"", "given in TWILL_SIMT_ORDER",
               "use forward, reverse, shuffled or shuffled:SEED");
}

std::uint64_t random_sequence::next() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

block_order::block_order(schedule chosen, std::uint64_t blocks)
    : blocks_(blocks), reverse_(chosen.order == interleaving::reverse) {
  if (chosen.order != interleaving::shuffled || blocks < 2) return;
  random_sequence random(chosen.seed);
  offset_ = random.next() % blocks;
  do {
    factor_ = random.next() % blocks;
  } while (std::gcd(factor_, blocks) != 1);
}

std::uint64_t block_order::operator()(std::uint64_t i) const {
  if (reverse_) return blocks_ - 1 - i;
  if (factor_ == 1 && offset_ == 0) return i;
  // A factor without a divisor in common with the number of blocks leads to each of them once.
  using wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<wide>(i) * factor_ + offset_) % blocks_);
}

void thread_order::begin_block(std::uint64_t block) {
  if (chosen_.order != interleaving::shuffled) return;
  random_ = random_sequence(chosen_.seed ^ random_sequence(block).next());
}

void thread_order::push(ready_queue& queue, unsigned first, unsigned count) {
  if (chosen_.order == interleaving::forward) {
    for (unsigned i = 0; i < count; ++i) queue.push(first + i);
  } else if (chosen_.order == interleaving::reverse) {
    for (unsigned i = count; i > 0; --i) queue.push(first + i - 1);
  } else {
    std::uint16_t drawn[ready_queue::capacity];
    for (unsigned i = 0; i < count; ++i) {
      const unsigned j = random_.below(i + 1);
      drawn[i] = drawn[j];
      drawn[j] = static_cast<std::uint16_t>(first + i);
    }
    for (unsigned i = 0; i < count; ++i) queue.push(drawn[i]);
  }
}

}  // namespace twill::simt
