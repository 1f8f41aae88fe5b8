#include "link_sheet.hpp"

#include <nlohmann/json.hpp>

namespace twill::simt {
namespace {

using nlohmann::json;

struct link_figure {
  const char* name;
  double link_sheet::* value;
  bool required;
};
constexpr link_figure link_figures[] = {
    {"bytes_per_second", &link_sheet::bytes_per_second, true},
    {"peer_bytes_per_second", &link_sheet::peer_bytes_per_second, false},
    {"copy_bytes_per_second", &link_sheet::copy_bytes_per_second, false},
};
constexpr double least = 1e6, most = 1e18;
constexpr char name_field[] = "name";

std::string read_figure(const std::string& name, const json& value, link_sheet& sheet) {
  for (const auto& each : link_figures) {
    if (name != each.name) continue;
    std::string wrong = wrong_number({"link." + name, each.required, false, least, most}, value);
    if (wrong.empty()) sheet.*each.value = value.get<double>();
    return wrong;
  }
  return "no field is called " + short_text(json("link." + name));
}

std::string read_name(const json& value, link_sheet& sheet) {
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
    return "link.name is " + short_text(value) + "; it must be a text that is not empty";
  }
  sheet.name = value.get<std::string>();
  return {};
}

}  // namespace

std::string read_link(const json& link, link_sheet& sheet) {
  if (!link.is_object()) return "link must be an object";
  for (const auto& [name, value] : link.items()) {
    std::string wrong = name == name_field ? read_name(value, sheet) : read_figure(name, value, sheet);
    if (!wrong.empty()) return wrong;
  }
  if (sheet.name.empty()) return "link.name is missing; it is a text";
  if (sheet.bytes_per_second == 0) return "link.bytes_per_second is missing; it is a number";
  for (const auto& each : link_figures) {
    if (sheet.*each.value <= sheet.bytes_per_second) continue;
    return std::string("link.") + each.name + " is more than link.bytes_per_second, the rate of all links of a device";
  }
  return {};
}

std::vector<sheet_number> numbers_of_link() {
  std::vector<sheet_number> all;
  for (const auto& each : link_figures) all.push_back({each.name, each.required, false, least, most});
  return all;
}

}  // namespace twill::simt
