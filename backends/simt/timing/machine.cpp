#include "machine.hpp"

#include <algorithm>

namespace twill::simt::timing {
namespace {

double or_else(double value, double otherwise) {
  return value > 0 ? value : otherwise;
}

// Before compute capability 2.0: no caches, 32-bit addresses, parameters of a kernel in shared memory.
bool is_tesla(const datasheet& sheet) {
  return sheet.architecture.rfind("sm_1", 0) == 0 && sheet.architecture.size() == 5;
}

void set_instructions(const timing_sheet& t, bool tesla, bool amd, machine& m) {
  m.issue_clocks = 1 / or_else(t.warp_instructions_per_clock, tesla ? 0.25 : amd ? 1 : 4);
  m.alu_latency = or_else(t.alu_latency_clocks, tesla ? 24 : 6);
  // Counted in the machine code of the transpose ladder: 32-bit, and 64-bit with bounds.
  m.startup_instructions = or_else(t.startup_instructions, tesla ? 20 : 50);
  m.address_instructions = or_else(t.address_instructions, tesla ? 3 : 7);
  m.slow_instructions = tesla ? 4 : 1;  // CUDA Programming Guide 1.0: 16 clocks a warp, where others take 4
  m.wavefront_clocks = or_else(t.wavefront_clocks, tesla ? 2 : 1);
  m.barrier_clocks = or_else(t.barrier_clocks, 20);
  m.shared_latency = or_else(t.shared_latency_clocks, 36);
  m.registers_per_thread = tesla ? 16 : 32;
  m.shared_overhead = tesla ? 64 : 0;
}

void set_caches(const datasheet& sheet, bool tesla, machine& m) {
  const timing_sheet& t = sheet.timing;
  m.l1_bytes = static_cast<std::uint64_t>(t.l1_bytes);
  m.l1_latency = or_else(t.l1_latency_clocks, 32);
  m.l2_bytes = std::max(sheet.l2_bytes, sheet.last_level_cache_bytes);
  m.l2_latency = or_else(t.l2_latency_clocks, 250);
  m.l2_bytes_per_clock =
      or_else(t.l2_bytes_per_second, 2.2 * static_cast<double>(sheet.peak_bytes_per_second)) / m.clock_hz;
  m.fill_bytes = static_cast<unsigned>(or_else(t.l2_fill_bytes, sheet.warp_size == 64 ? 64 : 32));
  m.packet_bytes = tesla ? 1 : 128;
}

void set_ports(const timing_sheet& t, bool tesla, machine& m) {
  m.multiprocessors_per_port = static_cast<unsigned>(or_else(t.multiprocessors_per_port, 1));
  m.load_bytes_per_clock = or_else(t.port_load_bytes_per_clock, 64);
  m.store_bytes_per_clock = or_else(t.port_store_bytes_per_clock, 32);
  m.store_slot_bytes = static_cast<unsigned>(or_else(t.port_store_slot_bytes, tesla ? 32 : 128));
}

void set_channels(const datasheet& sheet, bool tesla, machine& m) {
  const timing_sheet& t = sheet.timing;
  const double clocks_per_nanosecond = m.clock_hz * 1e-9;
  m.channels = static_cast<unsigned>(or_else(t.channels, std::max(1.0, sheet.bus_width_bits / 64.0)));
  m.interleave_bytes = static_cast<unsigned>(or_else(t.channel_bytes, 256));
  m.channel_queue = static_cast<unsigned>(or_else(t.channel_queue, tesla ? 16 : 128));
  m.map = channel_map::uniform;
  if (t.channel_hash == "none" || (t.channel_hash.empty() && tesla)) m.map = channel_map::modulo;
  if (t.channel_hash == "mi200") m.map = channel_map::mi200;
  if (t.channel_hash == "mi300") m.map = channel_map::mi300;
  const auto peak = static_cast<double>(sheet.peak_bytes_per_second);
  m.copy_bytes_per_second = or_else(t.copy_bytes_per_second, 0.8 * peak);
  // Memory whose rows are given loses its part of the peak by them.
  const double rate = t.banks > 0 ? peak : m.copy_bytes_per_second;
  m.channel_bytes_per_clock = rate / m.channels / m.clock_hz;
  m.banks = static_cast<unsigned>(t.banks);
  m.page_bytes = static_cast<unsigned>(or_else(t.page_bytes, 2048));
  m.activate_clocks = t.activate_nanoseconds * clocks_per_nanosecond;
  m.row_cycle_clocks = t.row_cycle_nanoseconds * clocks_per_nanosecond;
  m.turnaround_clocks = t.turnaround_nanoseconds * clocks_per_nanosecond;
}

}  // namespace

machine machine_of(const datasheet& sheet) {
  const bool tesla = is_tesla(sheet), amd = sheet.architecture.rfind("gfx", 0) == 0;
  machine m;
  m.clock_hz = static_cast<double>(sheet.shader_clock_hz > 0 ? sheet.shader_clock_hz : sheet.core_clock_hz);
  m.multiprocessors = static_cast<unsigned>(sheet.multiprocessors);
  m.launch_seconds = or_else(sheet.timing.launch_microseconds, 5) * 1e-6;
  m.memory_latency = or_else(sheet.timing.memory_latency_clocks, 600);
  set_instructions(sheet.timing, tesla, amd, m);
  set_caches(sheet, tesla, m);
  set_ports(sheet.timing, tesla, m);
  set_channels(sheet, tesla, m);
  return m;
}

}  // namespace twill::simt::timing
