#pragma once

// Which devices are simulated: datasheets in presets/devices, built into the library, or a user's own.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "link_sheet.hpp"
#include "timing_sheet.hpp"

namespace twill::simt {

/// A datasheet as CMake built it in.
struct embedded_model {
  const char* name;
  const char* json;
};
extern const embedded_model embedded_models[];
extern const std::size_t embedded_model_count;

/// What a datasheet says. A figure that it leaves out is 0; clocks are in Hz.
struct datasheet {
  std::string vendor, model, architecture, memory_type;
  std::string compared_with;  ///< the measurements that predictions were compared with; "none", or empty
  std::uint64_t memory_bytes = 0, bus_width_bits = 0, memory_transfers_per_second = 0, peak_bytes_per_second = 0;
  std::uint64_t multiprocessors = 0, core_clock_hz = 0, shader_clock_hz = 0;
  std::uint64_t warp_size = 0, max_threads_per_block = 0;
  std::uint64_t max_grid_x = 0, max_grid_yz = 0;
  std::uint64_t max_threads_per_multiprocessor = 0, max_blocks_per_multiprocessor = 0;
  std::uint64_t registers_per_multiprocessor = 0;
  std::uint64_t shared_bytes_per_block = 0, shared_bytes_per_multiprocessor = 0;
  std::uint64_t l2_bytes = 0, last_level_cache_bytes = 0;
  timing_sheet timing;
  link_sheet link;
  std::vector<std::string> sources;
};

/// All numbers beside those of "timing" and "link".
std::vector<sheet_number> numbers_of_datasheets();

/// Reads a datasheet; `origin` names it in messages. Throws: invalid_argument, naming the field and what it should be.
datasheet parse_datasheet(std::string_view json, const std::string& origin);

/// The datasheet of `which`: the name of an embedded one, or a path that ends in ".json".
/// Throws: no_device, with the names there are; invalid_argument as `parse_datasheet`, or when the file cannot be read.
datasheet find_datasheet(std::string_view which);

}  // namespace twill::simt
