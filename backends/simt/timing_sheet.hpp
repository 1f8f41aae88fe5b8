#pragma once

// The part of a datasheet that predicts times: "timing". Each figure may be left out; presets/devices/README.md says
// what it means and what is taken then.

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace twill::simt {

/// A figure that the sheet leaves out is 0. Clocks are those of a multiprocessor.
struct timing_sheet {
  double copy_bytes_per_second = 0;  ///< the one figure that may be measured on the device itself
  double launch_microseconds = 0;
  double warp_instructions_per_clock = 0, alu_latency_clocks = 0;
  double startup_instructions = 0, address_instructions = 0;
  double wavefront_clocks = 0, shared_latency_clocks = 0, barrier_clocks = 0;
  double l1_bytes = 0, l1_latency_clocks = 0;
  double l2_latency_clocks = 0, l2_bytes_per_second = 0, l2_fill_bytes = 0;
  double memory_latency_clocks = 0;
  double multiprocessors_per_port = 0, port_load_bytes_per_clock = 0, port_store_bytes_per_clock = 0;
  double port_store_slot_bytes = 0;
  double channels = 0, channel_bytes = 0, channel_queue = 0;
  double banks = 0, page_bytes = 0;
  double activate_nanoseconds = 0, row_cycle_nanoseconds = 0, turnaround_nanoseconds = 0;
  std::string channel_hash;
};

/// A field of a datasheet that is a number, and what it may be.
struct sheet_number {
  std::string name;
  bool required, whole;
  double least, most;
};

/// All of "timing".
std::vector<sheet_number> numbers_of_timing();

/// A value of a datasheet as messages quote it: one short line, however long or deep it is.
std::string short_text(const nlohmann::json& value);

/// What is wrong with the value of a number, in the words of messages; "" when it fits.
std::string wrong_number(const sheet_number& field, const nlohmann::json& value);

/// Reads "timing" of a datasheet. Returns "", or what is wrong with it: the field, and what was expected.
std::string read_timing(const nlohmann::json& timing, timing_sheet& sheet);

}  // namespace twill::simt
