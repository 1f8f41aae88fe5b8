#pragma once

// Plays the traced blocks of a launch on a machine, event by event: warps issue, wait for data and at barriers; load
// and store units, ports and channels of memory serve one after the other; a multiprocessor starts the next block when
// one has ended. The figures are the machine's.

#include <cstdint>
#include <deque>
#include <queue>
#include <vector>

#include "machine.hpp"
#include "memory_system.hpp"
#include "trace.hpp"

namespace twill::simt::timing {

class launch_timer {
 public:
  /// `blocks` in the order in which they start; `resident` of them on a multiprocessor at once.
  launch_timer(const machine& on, const std::vector<traced_block>& blocks, const std::vector<packet>& packets,
               unsigned resident, std::uint64_t l1_bytes);

  void run();

  /// When each block ended, ascending; and when the last store was in memory.
  const std::vector<double>& ends() const { return ends_; }
  double drained() const { return memory_.drained(); }
  const memory_system& memory() const { return memory_; }

 private:
  enum class event_kind : std::uint8_t { warp, port, block_start, block_end };
  struct event {
    double time;
    std::uint64_t order;  // of equal times: first made, first served
    event_kind kind;
    std::uint32_t which;
    bool operator>(const event& other) const { return time != other.time ? time > other.time : order > other.order; }
  };
  struct warp_state {
    std::uint32_t block = 0;  // place in `running_`
    const std::vector<step>* steps = nullptr;
    std::size_t next = 0;
    std::uint32_t loads_out = 0;
    double loads_done = 0;
    bool held = false;     // until loads_out is 0
    bool started = false;  // the instructions before its first access are counted
  };
  struct block_state {
    std::uint32_t sm = 0, first_warp = 0, warps = 0, ended = 0, arrived = 0;
    std::uint64_t stores_out = 0;
    double done = 0;
  };
  struct sm_state {
    double issue_free = 0, unit_free = 0;
    fifo_cache l1;
  };
  struct request {
    double ready;
    std::uint32_t warp;
    const step* what;
    std::uint32_t sent;
  };
  struct port_state {
    std::deque<request> queue;
    std::deque<std::uint32_t> waiting;  // warps, for a place in the queue
    double free = 0;
    bool scheduled = false;
  };

  void push(double time, event_kind kind, std::uint32_t which);
  void start_block(std::uint32_t sm, double now);
  void step_warp(std::uint32_t which, double now);
  void access(std::uint32_t which, const step& what, double now);
  void reach_barrier(std::uint32_t which, double now);
  void end_warp(warp_state& warp, double now);
  void end_block(std::uint32_t which, double now);
  void move_port(std::uint32_t which, double now);
  void send_packet(port_state& port, const request& head, double now);
  void loaded(std::uint32_t warp, double done);
  void schedule(port_state& port, std::uint32_t which, double now);
  std::uint32_t port_of(std::uint32_t sm) const { return sm / on_.multiprocessors_per_port; }

  const machine& on_;
  const std::vector<traced_block>& blocks_;
  const std::vector<packet>& packets_;
  memory_system memory_;
  std::vector<sm_state> sms_;
  std::vector<port_state> ports_;
  std::vector<warp_state> warps_;
  std::vector<block_state> running_;
  std::size_t next_block_ = 0;
  std::uint64_t made_ = 0;
  unsigned resident_;
  std::priority_queue<event, std::vector<event>, std::greater<event>> events_;
  std::vector<double> ends_;
};

}  // namespace twill::simt::timing
