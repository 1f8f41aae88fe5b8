#include "models.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>

#include <nlohmann/json.hpp>

#include "access_rules.hpp"
#include "backends/error.hpp"
#include "contradictions.hpp"

namespace twill::simt {
namespace {

using nlohmann::json;

enum class need { required, optional };

struct text_field {
  const char* name;
  std::string datasheet::* value;
  need needed;
};
constexpr text_field text_fields[] = {
    {"vendor", &datasheet::vendor, need::required},
    {"model", &datasheet::model, need::required},
    {"architecture", &datasheet::architecture, need::required},
    {"memory_type", &datasheet::memory_type, need::optional},
    {"compared_with", &datasheet::compared_with, need::optional},
};

struct number_field {
  const char* name;
  std::uint64_t datasheet::* value;
  need needed;
  std::uint64_t least, most;
};
constexpr std::uint64_t any = std::uint64_t{1} << 53;  // as far as all JSON writers keep integers exact
constexpr number_field number_fields[] = {
    {"memory_bytes", &datasheet::memory_bytes, need::required, 1, std::uint64_t{1} << 48},
    {"bus_width_bits", &datasheet::bus_width_bits, need::required, 8, 1 << 20},
    {"memory_transfers_per_second", &datasheet::memory_transfers_per_second, need::required, 1, std::uint64_t{1} << 40},
    {"peak_bytes_per_second", &datasheet::peak_bytes_per_second, need::required, 1, any},
    {"multiprocessors", &datasheet::multiprocessors, need::required, 1, 65535},
    {"core_clock_hz", &datasheet::core_clock_hz, need::required, 1, any},
    {"shader_clock_hz", &datasheet::shader_clock_hz, need::optional, 1, any},
    {"warp_size", &datasheet::warp_size, need::required, 32, 64},
    {"max_threads_per_block", &datasheet::max_threads_per_block, need::required, 32, 1024},
    {"max_grid_x", &datasheet::max_grid_x, need::optional, 1, 0xffffffff},
    {"max_grid_yz", &datasheet::max_grid_yz, need::optional, 1, 0xffffffff},
    {"max_threads_per_multiprocessor", &datasheet::max_threads_per_multiprocessor, need::required, 32, 65535},
    {"max_blocks_per_multiprocessor", &datasheet::max_blocks_per_multiprocessor, need::required, 1, 65535},
    {"registers_per_multiprocessor", &datasheet::registers_per_multiprocessor, need::required, 1, any},
    {"shared_bytes_per_block", &datasheet::shared_bytes_per_block, need::required, 0, 1 << 24},
    {"shared_bytes_per_multiprocessor", &datasheet::shared_bytes_per_multiprocessor, need::required, 0, 1 << 24},
    {"l2_bytes", &datasheet::l2_bytes, need::required, 0, any},
    {"last_level_cache_bytes", &datasheet::last_level_cache_bytes, need::optional, 0, any},
};
constexpr char sources_field[] = "sources";
constexpr char timing_field[] = "timing";
constexpr char link_field[] = "link";

[[noreturn]] void fail_datasheet(const std::string& origin, const std::string& why) {
  detail::fail(errc::invalid_argument, "the datasheet " + origin + " is not usable", why,
               "see presets/devices, installed as share/twill/devices");
}

std::string expected(const number_field& field) {
  return "an integer from " + std::to_string(field.least) + " to " + std::to_string(field.most);
}

// The value of a field, or nullptr where one that is optional is missing.
const json* value_of(const json& all, const char* name, need needed, const std::string& what,
                     const std::string& origin) {
  const auto found = all.find(name);
  if (found != all.end()) return &*found;
  if (needed == need::required) fail_datasheet(origin, std::string(name) + " is missing; it is " + what);
  return nullptr;
}

void read_texts(const json& all, const std::string& origin, datasheet& sheet) {
  for (const auto& field : text_fields) {
    const json* value = value_of(all, field.name, field.needed, "a text", origin);
    if (value == nullptr) continue;
    if (!value->is_string() || value->get_ref<const std::string&>().empty()) {
      fail_datasheet(origin, std::string(field.name) + " is " + short_text(*value) + "; it must be a text");
    }
    sheet.*field.value = value->get<std::string>();
  }
}

void read_numbers(const json& all, const std::string& origin, datasheet& sheet) {
  for (const auto& field : number_fields) {
    const json* value = value_of(all, field.name, field.needed, expected(field), origin);
    if (value == nullptr) continue;
    const double given = value->is_number() ? value->get<double>() : -1;  // exact up to `any`
    if (given < field.least || given > field.most || given != std::floor(given)) {
      fail_datasheet(origin, std::string(field.name) + " is " + short_text(*value) + "; it must be " + expected(field));
    }
    sheet.*field.value = static_cast<std::uint64_t>(given);
  }
}

void read_sources(const json& all, const std::string& origin, datasheet& sheet) {
  const std::string what = "a list of texts, where each figure comes from";
  const json& value = *value_of(all, sources_field, need::required, what, origin);
  const bool is_list = value.is_array() && !value.empty();
  if (!is_list) fail_datasheet(origin, std::string(sources_field) + " must be " + what);
  for (const auto& one : value) {
    if (!one.is_string() || one.get_ref<const std::string&>().empty())
      fail_datasheet(origin, std::string(sources_field) + " must be " + what);
    sheet.sources.push_back(one.get<std::string>());
  }
}

void require_known_architecture(const datasheet& sheet, const std::string& origin) {
  if (find_rules(sheet.architecture) != nullptr) return;
  std::string known;
  for (const std::string& name : known_architectures()) known.append(known.empty() ? "" : ", ").append(name);
  fail_datasheet(origin, "architecture is " + short_text(json(sheet.architecture)) + "; it must be one of " + known);
}

void refuse_unknown(const json& all, const std::string& origin) {
  for (const auto& item : all.items()) {
    bool known = item.key() == sources_field || item.key() == timing_field || item.key() == link_field;
    for (const auto& field : text_fields) known = known || item.key() == field.name;
    for (const auto& field : number_fields) known = known || item.key() == field.name;
    if (!known) fail_datasheet(origin, "no field is called " + short_text(json(item.key())));
  }
}

std::string read_file(const std::string& path) {
  std::ostringstream text;
  std::error_code failed;
  if (std::filesystem::is_regular_file(path, failed)) {  // opening a FIFO would wait for a writer
    const std::ifstream file(path, std::ios::binary);
    if (file) text << file.rdbuf();
  }
  detail::require(!text.str().empty(), "cannot read the datasheet " + path,
                  "there is no such file, it is empty or not a regular file, or it may not be read", "check the path");
  return text.str();
}

// A name that an object has twice is most likely meant to be another one.
json parse_once(std::string_view text, const std::string& origin) {
  std::vector<std::set<std::string>> open;  // the names in each object around
  std::string twice;
  const auto look = [&](int, json::parse_event_t event, const json& parsed) {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key && !open.back().insert(parsed).second) twice = parsed;
    return true;
  };
  try {
    json all = json::parse(text, look);
    if (!twice.empty()) fail_datasheet(origin, short_text(json(twice)) + " is given twice");
    return all;
  } catch (const json::exception& e) {
    const std::string text = e.what();
    fail_datasheet(origin, text.substr(text.find("] ") + 2, 200));  // without the exception's name
  }
}

}  // namespace

datasheet parse_datasheet(std::string_view text, const std::string& origin) {
  const json all = parse_once(text, origin);
  if (!all.is_object()) fail_datasheet(origin, "it must be a JSON object");
  datasheet sheet;
  refuse_unknown(all, origin);
  read_texts(all, origin, sheet);
  read_numbers(all, origin, sheet);
  read_sources(all, origin, sheet);
  require_known_architecture(sheet, origin);
  if (const auto timing = all.find(timing_field); timing != all.end()) {
    const std::string wrong = read_timing(*timing, sheet.timing);
    if (!wrong.empty()) fail_datasheet(origin, wrong);
  }
  if (const auto link = all.find(link_field); link != all.end()) {
    const std::string wrong = read_link(*link, sheet.link);
    if (!wrong.empty()) fail_datasheet(origin, wrong);
  }
  if (const std::string wrong = contradiction_in(sheet); !wrong.empty()) fail_datasheet(origin, wrong);
  return sheet;
}

datasheet find_datasheet(std::string_view which) {
  constexpr std::string_view suffix = ".json";
  const bool is_path = which.size() > suffix.size() && which.substr(which.size() - suffix.size()) == suffix;
  if (is_path) return parse_datasheet(read_file(std::string(which)), std::string(which));
  std::string known;
  for (std::size_t i = 0; i < embedded_model_count; ++i) {
    if (which == embedded_models[i].name) return parse_datasheet(embedded_models[i].json, std::string(which));
    known.append(", simt:").append(embedded_models[i].name);
  }
  detail::fail(errc::no_device, "no simulated device \"simt:" + std::string(which) + "\"", "there are: simt" + known,
               "name one of those, or a datasheet of your own as simt:PATH.json");
}

std::vector<sheet_number> numbers_of_datasheets() {
  std::vector<sheet_number> all;
  for (const auto& each : number_fields) {
    all.push_back({each.name, each.needed == need::required, true, static_cast<double>(each.least),
                   static_cast<double>(each.most)});
  }
  return all;
}

}  // namespace twill::simt
