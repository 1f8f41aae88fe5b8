#pragma once

// The files that the tool writes and reads; docs: presets/schemas.

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <twill/device.hpp>

#include "result.hpp"

namespace twill::tool {

/// Version of the layouts below; raised when a field changes its meaning or goes.
constexpr int json_schema = 1;

/// Keeps fields in the order in which they are written here.
using json = nlohmann::ordered_json;

/// A figure that the device does not report is null.
json json_of(const device_properties& properties);
std::string json_text(const json& document);

/// presets/schemas/bench.json; "device" is the first of "devices".
json json_of(const bench_report& report);

/// One line for each result, under a line of names.
std::string csv_text(const bench_report& report);

/// Where and how a run was made: date, host, threads, compiler, commit, command line.
std::vector<std::pair<std::string, std::string>> provenance_of(int argc, const char* const* argv);

/// A file that `twill bench --json` wrote, or one of those that `twill compare --json` wrote as one.
struct bench_file {
  std::string path;
  json document;
  std::vector<bench_result> results;

  /// The product name of one of the file's devices; "?" when the file has none.
  std::string model_of(const std::string& device) const;
  /// "cold", "warm", or "" where the file does not say, as published figures.
  std::string cache() const;
  /// Whether the run was interrupted.
  bool is_partial() const;
};

/// One file, or the several that `twill compare --json` wrote as one. Refuses, naming the field, a file that is not as
/// described, or that has no results.
std::vector<bench_file> read_bench_files(const std::string& path);

/// Refuses several written as one, too.
bench_file read_bench_file(const std::string& path);

}  // namespace twill::tool
