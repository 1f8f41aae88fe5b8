#include "timing_sheet.hpp"

#include <cmath>
#include <cstdint>

#include <nlohmann/json.hpp>

namespace twill::simt {
namespace {

using nlohmann::json;

struct figure {
  const char* name;
  double timing_sheet::* value;
  double least, most;
  bool whole = false;
};
constexpr double any_figure = 1e18;
constexpr figure figures[] = {
    {"copy_bytes_per_second", &timing_sheet::copy_bytes_per_second, 1e6, any_figure},
    {"launch_microseconds", &timing_sheet::launch_microseconds, 0, 1e6},
    {"warp_instructions_per_clock", &timing_sheet::warp_instructions_per_clock, 0.01, 64},
    {"alu_latency_clocks", &timing_sheet::alu_latency_clocks, 1, 1000},
    {"startup_instructions", &timing_sheet::startup_instructions, 1, 10000},
    {"address_instructions", &timing_sheet::address_instructions, 0.1, 1000},
    {"wavefront_clocks", &timing_sheet::wavefront_clocks, 0.1, 64},
    {"shared_latency_clocks", &timing_sheet::shared_latency_clocks, 1, 10000},
    {"barrier_clocks", &timing_sheet::barrier_clocks, 1, 10000},
    {"l1_bytes", &timing_sheet::l1_bytes, 1024, 1 << 24, true},
    {"l1_latency_clocks", &timing_sheet::l1_latency_clocks, 1, 10000},
    {"l2_latency_clocks", &timing_sheet::l2_latency_clocks, 1, 10000},
    {"l2_bytes_per_second", &timing_sheet::l2_bytes_per_second, 1e6, any_figure},
    {"l2_fill_bytes", &timing_sheet::l2_fill_bytes, 32, 256, true},
    {"memory_latency_clocks", &timing_sheet::memory_latency_clocks, 1, 100000},
    {"multiprocessors_per_port", &timing_sheet::multiprocessors_per_port, 1, 1024, true},
    {"port_load_bytes_per_clock", &timing_sheet::port_load_bytes_per_clock, 0.1, 4096},
    {"port_store_bytes_per_clock", &timing_sheet::port_store_bytes_per_clock, 0.1, 4096},
    {"port_store_slot_bytes", &timing_sheet::port_store_slot_bytes, 1, 256, true},
    {"channels", &timing_sheet::channels, 1, 1024, true},
    {"channel_bytes", &timing_sheet::channel_bytes, 32, 1 << 20, true},
    {"channel_queue", &timing_sheet::channel_queue, 1, 65536, true},
    {"banks", &timing_sheet::banks, 1, 1024, true},
    {"page_bytes", &timing_sheet::page_bytes, 256, 1 << 20, true},
    {"activate_nanoseconds", &timing_sheet::activate_nanoseconds, 0.1, 1000},
    {"row_cycle_nanoseconds", &timing_sheet::row_cycle_nanoseconds, 0.1, 1000},
    {"turnaround_nanoseconds", &timing_sheet::turnaround_nanoseconds, 0.1, 1000},
};
constexpr char hash_field[] = "channel_hash";
constexpr const char* hashes[] = {"none", "uniform", "mi200", "mi300"};

std::string plain(double value) {
  const bool exact = value == std::floor(value) && value < 1e15;
  return exact ? std::to_string(static_cast<std::int64_t>(value)) : json(value).dump();
}

std::string read_figure(const std::string& name, const json& value, timing_sheet& sheet) {
  for (const auto& each : figures) {
    if (name != each.name) continue;
    std::string wrong = wrong_number({"timing." + name, false, each.whole, each.least, each.most}, value);
    if (wrong.empty()) sheet.*each.value = value.get<double>();
    return wrong;
  }
  return "no field is called " + short_text(json("timing." + name));
}

std::string read_hash(const json& value, timing_sheet& sheet) {
  std::string known;
  for (const char* each : hashes) {
    if (value == each) {
      sheet.channel_hash = each;
      return {};
    }
    known += known.empty() ? each : std::string(", ") + each;
  }
  return "timing.channel_hash is " + short_text(value) + "; it must be one of " + known;
}

// The published hashes are of these channels, and no others.
struct hashed_channels {
  const char* hash;
  unsigned channels, channel_bytes;
};
constexpr hashed_channels hashed[] = {{"mi200", 32, 256}, {"mi300", 128, 256}};

std::string compare_with_hash(const timing_sheet& sheet) {
  for (const auto& each : hashed) {
    if (sheet.channel_hash != each.hash) continue;
    const bool same_size = sheet.channel_bytes == 0 || sheet.channel_bytes == each.channel_bytes;
    if (sheet.channels == each.channels && same_size) continue;
    return std::string("timing.channel_hash is \"") + each.hash + "\"; timing.channels must be " +
           std::to_string(each.channels) + " with it, and timing.channel_bytes " + std::to_string(each.channel_bytes);
  }
  return {};
}

}  // namespace

std::string short_text(const json& value) {
  constexpr std::size_t most = 60;
  if (value.is_structured()) return std::string("an ") + value.type_name();
  const std::string text = value.dump(-1, ' ', true);
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

std::string wrong_number(const sheet_number& field, const json& value) {
  const double given = value.is_number() ? value.get<double>() : -1;
  if (given >= field.least && given <= field.most && (!field.whole || given == std::floor(given))) return {};
  return field.name + " is " + short_text(value) + "; it must be " + (field.whole ? "an integer" : "a number") +
         " from " + plain(field.least) + " to " + plain(field.most);
}

std::string read_timing(const json& timing, timing_sheet& sheet) {
  if (!timing.is_object()) return "timing must be an object";
  for (const auto& [name, value] : timing.items()) {
    std::string wrong = name == hash_field ? read_hash(value, sheet) : read_figure(name, value, sheet);
    if (!wrong.empty()) return wrong;
  }
  const bool some_rows = sheet.banks > 0 || sheet.activate_nanoseconds > 0 || sheet.row_cycle_nanoseconds > 0;
  const bool all_rows = sheet.banks > 0 && sheet.activate_nanoseconds > 0 && sheet.row_cycle_nanoseconds > 0;
  if (some_rows && !all_rows) {
    return "of timing.banks, timing.activate_nanoseconds and timing.row_cycle_nanoseconds only some are given; "
           "rows of memory need all three";
  }
  return compare_with_hash(sheet);
}

std::vector<sheet_number> numbers_of_timing() {
  std::vector<sheet_number> all;
  for (const auto& each : figures) all.push_back({each.name, false, each.whole, each.least, each.most});
  return all;
}

}  // namespace twill::simt
