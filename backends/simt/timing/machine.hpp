#pragma once

// A device as the timing of a launch sees it: rates and latencies, in clocks of a multiprocessor.

#include <cstdint>

#include "backends/simt/models.hpp"

namespace twill::simt::timing {

/// Which channel of memory an address lies in.
enum class channel_map : std::uint8_t {
  modulo,   ///< address / interleave mod channels: before compute capability 2.0
  uniform,  ///< an unpublished hash that spreads every pattern
  mi200,    ///< published exclusive-or of address bits
  mi300,
};

struct machine {
  double clock_hz = 0;
  unsigned multiprocessors = 0;
  unsigned multiprocessors_per_port = 1;  ///< that share a memory port

  double issue_clocks = 0;      ///< of the issue port for a warp instruction
  double alu_latency = 0;       ///< from an instruction to one that needs its result
  double wavefront_clocks = 1;  ///< of the load/store unit
  double shared_latency = 0, l1_latency = 0, l2_latency = 0, memory_latency = 0;
  double barrier_clocks = 0;
  double barrier_instructions = 1;  ///< of a warp for each barrier: its own and those of the loop around it
  double slow_instructions = 1;     ///< that a multiplication of 32 bits, or a reciprocal, takes the time of
  double startup_instructions = 0;  ///< of a warp before its first access
  double address_instructions = 0;  ///< before a global access whose address its warp has not used there before
  double shared_instructions = 2;   ///< before one of shared memory: a sum, or a part of the instruction

  double load_bytes_per_clock = 0, store_bytes_per_clock = 0;  ///< of a port
  unsigned store_slot_bytes = 0;  ///< a store of fewer bytes of a line takes the time of this many

  unsigned channels = 1, interleave_bytes = 256;
  channel_map map = channel_map::uniform;
  double channel_bytes_per_clock = 0;  ///< of one channel, reading or writing
  unsigned channel_queue = 16;         ///< packets that a channel holds before it accepts no more
  double turnaround_clocks = 0;        ///< from reading to writing and back, once a queue that holds both
  unsigned banks = 0, page_bytes = 0;  ///< of a channel; 0: rows of its banks are no matter
  double activate_clocks = 0;          ///< from one activation in a channel to the next
  double row_cycle_clocks = 0;         ///< from one activation in a bank to the next

  std::uint64_t l1_bytes = 0;  ///< for global loads; 0: none
  std::uint64_t l2_bytes = 0;  ///< 0: none
  double l2_bytes_per_clock = 0;
  unsigned fill_bytes = 32;  ///< that L2 fetches from memory at once

  double launch_seconds = 0;
  double copy_bytes_per_second = 0;  ///< of the device's own memcpy, read and written

  unsigned registers_per_thread = 32;  ///< where a kernel's own number is not known
  std::uint64_t shared_overhead = 0;   ///< of a block, beside what its kernel asks for
  unsigned packet_bytes = 128;         ///< of one instruction's transactions that travel together
};

/// The machine that a datasheet describes; what it leaves out comes from its architecture.
machine machine_of(const datasheet& sheet);

}  // namespace twill::simt::timing
