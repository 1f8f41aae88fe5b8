#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include <twill/device.hpp>

#include "result.hpp"

namespace twill::tool {

/// Version of the layout below; raised when a field changes its meaning or goes.
constexpr int json_schema = 1;

/// Keeps fields in the order in which they are written here.
using json = nlohmann::ordered_json;

/// A figure that the device does not tell is null.
json json_of(const device_properties& properties);
std::string json_text(const json& document);

/// {"schema", "twill", "device", "devices", "cache", "results"}; "device" is the first of "devices".
json json_of(const bench_report& report);

/// One line for each result, under a line of names.
std::string csv_text(const bench_report& report);

}  // namespace twill::tool
