#include "parts.hpp"

#include <algorithm>
#include <array>

namespace twill::simt::rules {
namespace {

constexpr unsigned word_bytes = 4;
constexpr unsigned most_words = warp_access::max_lanes * 5;  // 16 bytes at any alignment touch five words

// A set of numbers, small enough to sort in place.
class number_set {
 public:
  void add(std::uint64_t value) {
    if (count_ > 0 && values_[count_ - 1] == value) return;
    values_[count_++] = value;
  }
  void unite() {
    std::sort(values_.begin(), values_.begin() + count_);
    count_ = static_cast<unsigned>(std::unique(values_.begin(), values_.begin() + count_) - values_.begin());
  }
  const std::uint64_t* begin() const { return values_.data(); }
  const std::uint64_t* end() const { return values_.data() + count_; }
  unsigned size() const { return count_; }

 private:
  std::array<std::uint64_t, most_words> values_;
  unsigned count_ = 0;
};

void add_blocks(const warp_access& access, lane_mask group, unsigned block_bytes, number_set& blocks) {
  for_each_lane(access.active & group, [&](unsigned lane) {
    const std::uint64_t first = access.address[lane] / block_bytes;
    const std::uint64_t last = (access.address[lane] + access.bytes - 1) / block_bytes;
    for (std::uint64_t block = first; block <= last; ++block) blocks.add(block);
  });
  blocks.unite();
}

}  // namespace

unsigned distinct_bytes(const warp_access& access, lane_mask group) {
  std::array<std::uint64_t, warp_access::max_lanes> starts;
  unsigned count = 0;
  for_each_lane(access.active & group, [&](unsigned lane) { starts[count++] = access.address[lane]; });
  std::sort(starts.begin(), starts.begin() + count);
  std::uint64_t bytes = 0, end = 0;
  for (unsigned i = 0; i < count; ++i) {
    const std::uint64_t from = i == 0 ? starts[i] : std::max(starts[i], end);
    end = starts[i] + access.bytes;
    bytes += end - from;
  }
  return static_cast<unsigned>(bytes);
}

unsigned move_blocks(const warp_access& access, lane_mask group, unsigned block_bytes, global_cost& cost) {
  number_set blocks;
  add_blocks(access, group, block_bytes, blocks);
  for (const std::uint64_t block : blocks) cost.move(block * block_bytes, block_bytes);
  return blocks.size();
}

unsigned distinct_blocks(const warp_access& access, lane_mask group, unsigned block_bytes) {
  number_set blocks;
  add_blocks(access, group, block_bytes, blocks);
  return blocks.size();
}

void add_bank_wavefronts(const warp_access& access, lane_mask group, bank_layout layout, shared_cost& cost) {
  number_set words;
  add_blocks(access, group, word_bytes, words);
  // A bank and a row, as one number.
  number_set places;
  const unsigned words_a_row = layout.row_bytes / word_bytes;
  for (const std::uint64_t word : words) {
    places.add(word % layout.banks << 40 | word / words_a_row);
  }
  places.unite();
  unsigned most = 0, run = 0;
  std::uint64_t bank = ~std::uint64_t{0};
  for (const std::uint64_t place : places) {
    run = place >> 40 == bank ? run + 1 : 1;
    bank = place >> 40;
    ++cost.bank_wavefronts[bank];
    if (run == 1) ++cost.bank_ideal[bank];
    most = std::max(most, run);
  }
  cost.wavefronts += most;
}

shared_cost wavefronts_of_groups(const warp_access& access, const lane_mask* groups, unsigned count,
                                 bank_layout layout) {
  shared_cost cost;
  for (unsigned i = 0; i < count; ++i) {
    if ((access.active & groups[i]) == 0) continue;
    add_bank_wavefronts(access, groups[i], layout, cost);
    ++cost.ideal_wavefronts;
  }
  return cost;
}

shared_cost wavefronts_of_runs(const warp_access& access, unsigned warp_lanes, unsigned lanes_each,
                               bank_layout layout) {
  lane_mask groups[warp_access::max_lanes];
  unsigned count = 0;
  for (unsigned lane = 0; lane < warp_lanes; lane += lanes_each) groups[count++] = lanes(lane, lanes_each);
  return wavefronts_of_groups(access, groups, count, layout);
}

}  // namespace twill::simt::rules
