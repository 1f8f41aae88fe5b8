// presets/devices/schema.json says of datasheets what their reader does.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "backends/simt/access_rules.hpp"
#include "models.hpp"
#include "support/simt_launch.hpp"

using namespace twill;
using nlohmann::json;
using support::contains;
using support::error_of;

extern const char datasheet_schema[];  // the file, as CMake built it in

namespace {

const json schema = json::parse(datasheet_schema);
const json& fields = schema["properties"];
const json& timing_fields = fields["timing"]["properties"];
const json& link_fields = fields["link"]["properties"];

bool has_type(const json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "number") return value.is_number();
  REQUIRE(type == "integer");
  return value.is_number_integer();
}

// Where `value` does not fit `rule`, in the keywords that the schema uses; "" when it does.
std::string misfit(const json& value, const json& rule, const std::string& at) {
  if (rule.contains("type") && !has_type(value, rule["type"])) return at + ": type";
  if (rule.contains("enum") && std::count(rule["enum"].begin(), rule["enum"].end(), value) == 0) return at + ": enum";
  if (value.is_number() && (value < rule["minimum"] || value > rule["maximum"])) return at + ": range";
  if (value.is_string() && rule.contains("minLength") && value.get<std::string>().empty()) return at + ": empty";
  if (value.is_array()) {
    if (value.size() < rule["minItems"]) return at + ": items";
    for (const auto& one : value) {
      if (const auto found = misfit(one, rule["items"], at); !found.empty()) return found;
    }
  }
  if (!value.is_object()) return {};
  for (const std::string name : rule.value("required", json::array())) {
    if (!value.contains(name)) return std::string(at).append(": no ").append(name);
  }
  for (const auto& [name, one] : value.items()) {
    if (!rule["properties"].contains(name)) return std::string(at).append(": unknown ").append(name);
    const auto found = misfit(one, rule["properties"][name], std::string(at).append(".").append(name));
    if (!found.empty()) return found;
  }
  return {};
}

void compare_numbers(const std::vector<simt::sheet_number>& read, const json& listed) {
  std::size_t numbers = 0;
  for (const auto& [name, rule] : listed.items()) {
    const std::string type = rule.value("type", "");
    numbers += type == "integer" || type == "number" ? 1 : 0;
  }
  CHECK(read.size() == numbers);
  for (const auto& each : read) {
    CAPTURE(each.name);
    REQUIRE(listed.contains(each.name));
    const json& rule = listed[each.name];
    CHECK(rule["type"] == (each.whole ? "integer" : "number"));
    CHECK(rule["minimum"] == each.least);
    CHECK(rule["maximum"] == each.most);
  }
}

json a_sheet() {
  return json::parse(simt::embedded_models[0].json);
}

std::string complaint(const json& sheet) {
  return error_of([&] { simt::parse_datasheet(sheet.dump(), "mine.json"); });
}

}  // namespace

TEST_SUITE_BEGIN("simt schema");

TEST_CASE("its fields are those that are read") {
  compare_numbers(simt::numbers_of_datasheets(), fields);
  compare_numbers(simt::numbers_of_timing(), timing_fields);
  compare_numbers(simt::numbers_of_link(), link_fields);
  for (const auto& each : simt::numbers_of_datasheets()) {
    CAPTURE(each.name);
    CHECK((std::count(schema["required"].begin(), schema["required"].end(), each.name) == 1) == each.required);
  }
  // Beside numbers: vendor, model, architecture, memory_type, compared_with, timing, link, sources; channel_hash; name.
  CHECK(fields.size() == simt::numbers_of_datasheets().size() + 8);
  CHECK(link_fields.size() == simt::numbers_of_link().size() + 1);
  CHECK(timing_fields.size() == simt::numbers_of_timing().size() + 1);
  CHECK(fields["architecture"]["enum"] == json(simt::known_architectures()));
}

TEST_CASE("every datasheet fits it") {
  for (std::size_t i = 0; i < simt::embedded_model_count; ++i) {
    CHECK(misfit(json::parse(simt::embedded_models[i].json), schema, simt::embedded_models[i].name) == "");
  }
  auto sheet = a_sheet();
  sheet["timing"]["channels"] = 6.5;
  CHECK(misfit(sheet, schema, "it") == "it.timing.channels: type");
}

TEST_CASE("what it asks for, the reader misses; what it does not know, the reader refuses") {
  REQUIRE(complaint(a_sheet()).empty());
  for (const std::string name : schema["required"]) {
    auto sheet = a_sheet();
    sheet.erase(name);
    CHECK(contains(complaint(sheet), "(" + name + " is missing"));
  }
  for (const auto& [name, rule] : fields.items()) {
    auto sheet = a_sheet();
    const bool is_part = name == "timing" || name == "link";
    sheet[name] = is_part ? json(3) : json::object();
    CHECK(contains(complaint(sheet),
                   "(" + name + (is_part || name == "sources" ? " must be" : " is an object; it must be")));
  }
  for (const std::string hash : timing_fields["channel_hash"]["enum"]) {
    auto sheet = a_sheet();
    sheet["timing"]["channel_hash"] = hash;
    CHECK_FALSE(contains(complaint(sheet), "must be one of"));
  }
}

TEST_CASE("its ranges are the reader's") {
  for (const std::string part : {"", "timing", "link"}) {
    for (const auto& each : (part.empty() ? fields : fields[part]["properties"]).items()) {
      const std::string& name = each.key();
      const json& rule = each.value();
      if (!rule.contains("minimum")) continue;
      CAPTURE(name);
      const std::string shown = "(" + part + (part.empty() ? "" : ".") + name + " is ";
      const auto refused = [&](const json& value) {
        auto sheet = a_sheet();
        (part.empty() ? sheet : sheet[part])[name] = value;
        const std::string given = shown + value.dump() + "; it must be ", found = complaint(sheet);
        return contains(found, given + "an integer from") || contains(found, given + "a number from");
      };
      CHECK_FALSE(refused(rule["minimum"]));
      CHECK_FALSE(refused(rule["maximum"]));
      CHECK(refused(rule["minimum"].get<double>() * 0.99 - 0.01));
      CHECK(refused(rule["maximum"].get<double>() * 1.01));
      CHECK(refused(rule["minimum"].get<double>() + 0.5) == (rule["type"] == "integer"));
    }
  }
}

TEST_CASE("a link needs a name and a rate, and no part of it is faster than all") {
  const auto with = [](const char* link) {
    auto sheet = a_sheet();
    sheet["link"] = json::parse(link);
    return complaint(sheet);
  };
  CHECK(with(R"({"name": "a", "bytes_per_second": 1e9, "peer_bytes_per_second": 1e9})").empty());
  CHECK(contains(with(R"({"bytes_per_second": 1e9})"), "link.name is missing"));
  CHECK(contains(with(R"({"name": "a"})"), "link.bytes_per_second is missing"));
  CHECK(contains(with(R"({"name": 3, "bytes_per_second": 1e9})"), "link.name is 3"));
  CHECK(contains(with(R"({"name": "a", "bytes_per_second": 1e9, "lanes": 3})"), "no field is called \"link.lanes\""));
  CHECK(contains(with(R"({"name": "a", "bytes_per_second": 1e9, "peer_bytes_per_second": 2e9})"),
                 "link.peer_bytes_per_second is more than"));
}

TEST_SUITE_END();
