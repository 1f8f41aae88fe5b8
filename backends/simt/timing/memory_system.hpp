#pragma once

// Global memory as packets find it: caches, channels, and the queues before them. Times are in clocks.

#include <cstdint>
#include <deque>
#include <queue>
#include <unordered_set>
#include <vector>

#include "machine.hpp"
#include "trace.hpp"

namespace twill::simt::timing {

/// A cache that forgets what came first. It holds blocks of a fixed size.
class fifo_cache {
 public:
  fifo_cache(std::uint64_t bytes, unsigned block_bytes);

  bool holds(std::uint64_t block) const { return blocks_.count(block) != 0; }
  void insert(std::uint64_t block);

 private:
  std::size_t capacity_;
  std::unordered_set<std::uint64_t> blocks_;
  std::deque<std::uint64_t> order_;
};

class memory_system {
 public:
  explicit memory_system(const machine& on);

  /// What becomes of a packet that a port offers at `now`. Until it is `accepted`, it blocks what stands behind it.
  /// `done`: a load's data are back, a store is out of the way.
  struct reply {
    double accepted, done;
  };
  reply offer(const packet& each, bool store, double now);

  /// When all that was accepted has reached memory.
  double drained() const;
  /// Bytes that each channel has moved.
  const std::vector<double>& channel_bytes() const { return channel_bytes_; }
  double bytes() const;

 private:
  struct bank {
    std::uint64_t open_page = ~std::uint64_t{0};
    double activated = -1e9;
  };
  struct channel {
    double free_at = 0, activated = -1e9;
    std::priority_queue<double, std::vector<double>, std::greater<double>> held;  // when each leaves the queue
    unsigned taken = 0;                                                           // since its last turnaround
    bool reads = false, writes = false;
    std::vector<bank> banks;
  };
  double take_place(channel& home, double now) const;
  double open_page(channel& home, std::uint64_t address, double now);
  reply offer_channel(const packet& each, bool store, double now);
  reply offer_cached(const packet& each, bool store, double now);
  double serve(std::uint64_t address, double bytes, bool store, double now);
  void turn_around(channel& home, bool store);

  const machine& on_;
  std::vector<channel> channels_;
  std::vector<double> channel_bytes_;
  double l2_free_at_ = 0;
  fifo_cache l2_;
};

}  // namespace twill::simt::timing
