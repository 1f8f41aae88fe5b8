#pragma once

// Orders: of the threads of a block from one barrier to the next, and of the blocks of a grid.

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <twill/simt.hpp>

namespace twill::simt {

/// The interleaving of a launch.
struct schedule {
  interleaving order = interleaving::forward;
  std::uint64_t seed = 0;
};

/// "forward", "reverse", "shuffled" or "shuffled:SEED". Throws: invalid_argument.
schedule parse_schedule(std::string_view text);

/// Numbers that only the seed decides (splitmix64, Steele, Lea and Flood, 2014).
class random_sequence {
 public:
  explicit random_sequence(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(((next() >> 32) * limit) >> 32); }

 private:
  std::uint64_t state_;
};

/// A permutation of the blocks of a grid: the block at position `i`.
class block_order {
 public:
  block_order(schedule chosen, std::uint64_t blocks);
  std::uint64_t operator()(std::uint64_t i) const;

 private:
  std::uint64_t blocks_, factor_ = 1, offset_ = 0;
  bool reverse_;
};

/// Threads that are ready to run, first in, first out.
class ready_queue {
 public:
  static constexpr unsigned capacity = 1024;

  bool empty() const { return head_ == tail_; }
  void clear() { head_ = tail_ = 0; }
  void push(unsigned thread) { ring_[tail_++ % capacity] = static_cast<std::uint16_t>(thread); }
  unsigned pop() { return ring_[head_++ % capacity]; }

 private:
  unsigned head_ = 0, tail_ = 0;
  std::uint16_t ring_[capacity];
};

/// Puts threads into the queue in the order of the schedule.
class thread_order {
 public:
  void begin_launch(schedule chosen) { chosen_ = chosen; }
  void begin_block(std::uint64_t block);

  /// Appends threads first ... first + count - 1.
  void push(ready_queue& queue, unsigned first, unsigned count);

 private:
  schedule chosen_;
  random_sequence random_{0};
};

}  // namespace twill::simt
