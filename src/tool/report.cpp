#include "report.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <type_traits>

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <twill/version.hpp>

#include "text.hpp"

namespace twill::tool {
namespace {

json known(double figure) {
  return figure == 0 ? json(nullptr) : json(figure);
}
json known(std::size_t figure) {
  return figure == 0 ? json(nullptr) : json(figure);
}

/// Six figures: more would only be noise.
double rounded(double figure) {
  return std::stod(fmt::format("{:.6g}", figure));
}

json value_of(double figure) {
  return rounded(figure);
}
json value_of(const quartiles& ms) {
  return {{"median", rounded(ms.median)}, {"p25", rounded(ms.p25)}, {"p75", rounded(ms.p75)}};
}
template <class T>
json value_of(const T& value) {
  return value;
}

bool is_empty(const std::string& text) {
  return text.empty();
}
bool is_empty(const extents& numbers) {
  return numbers.empty();
}
template <class T>
bool is_empty(const std::optional<T>& value) {
  return !value;
}
template <class T>
std::enable_if_t<std::is_arithmetic_v<T>, bool> is_empty(T value) {
  return value == T{};
}

template <class T>
json value_of(const std::optional<T>& value) {
  return value ? value_of(*value) : json(nullptr);
}

json json_of(const bench_result& result) {
  json entry;
  each_field(result, [&](const char* name, const auto& value, field_is presence) {
    const bool empty = is_empty(value);
    if (empty && presence == field_is::optional) return;
    entry[name] = empty && !std::is_arithmetic_v<std::decay_t<decltype(value)>> ? json(nullptr) : value_of(value);
  });
  return entry;
}

void read_value(const json& from, quartiles& to) {
  to = {from.at("median").get<double>(), from.at("p25").get<double>(), from.at("p75").get<double>()};
}
template <class T>
void read_value(const json& from, T& to) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (!from.is_number_integer()) throw std::invalid_argument("it must be an integer");
  }
  from.get_to(to);
}
void read_value(const json& from, extents& to) {
  if (!from.is_array()) throw std::invalid_argument("it must be a list of integers");
  for (const json& each : from) read_value(each, to.emplace_back());
}
template <class T>
void read_value(const json& from, std::optional<T>& to) {
  read_value(from, to.emplace());
}

/// Without the name of the exception, which comes first.
std::string what_of(const json::exception& problem) {
  const std::string text = problem.what();
  return text.substr(text.find("] ") + 2);
}

bench_result read_result(const json& entry, std::size_t place) {
  bench_result result;
  if (!entry.is_object()) throw std::invalid_argument(fmt::format("results[{}] is no object", place));
  each_field(result, [&](const char* name, auto& value, field_is presence) {
    const auto found = entry.find(name);
    if (found == entry.end() && presence == field_is::required) {
      throw std::invalid_argument(fmt::format("results[{}].{} is missing", place, name));
    }
    if (found == entry.end() || found->is_null()) return;
    try {
      read_value(*found, value);
    } catch (const json::exception& problem) {
      throw std::invalid_argument(fmt::format("results[{}].{}: {}", place, name, what_of(problem)));
    } catch (const std::invalid_argument& problem) {
      throw std::invalid_argument(fmt::format("results[{}].{}: {}", place, name, problem.what()));
    }
  });
  if (!entry.contains("status") && !result.valid) result.status = "wrong";
  return result;
}

json json_of(const distribution& each) {
  const auto& s = each.shares;
  return {{"kernel", each.kernel},
          {"device", each.device},
          {"element_bytes", each.element_bytes == 0 ? json(nullptr) : json(each.element_bytes)},
          {"cases", s.size()},
          {"geometric_mean", rounded(geometric_mean(s))},
          {"worst", rounded(s.front())},
          {"p5", rounded(percentile(s, 0.05))},
          {"p10", rounded(percentile(s, 0.1))},
          {"median", rounded(percentile(s, 0.5))},
          {"p90", rounded(percentile(s, 0.9))},
          {"below_0.85", rounded(each.below(0.85))},
          {"below_0.7", rounded(each.below(0.7))},
          {"below_0.5", rounded(each.below(0.5))}};
}

std::string csv_cell(const json& value) {
  if (value.is_null()) return "";
  if (value.is_array()) return csv_cell(json(order_text(value.get<extents>())));
  if (!value.is_string()) return value.dump();
  auto text = value.get<std::string>();
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

void require_schema(const json& document) {
  if (!document.is_object()) throw std::invalid_argument("it should hold one object");
  const auto schema = document.find("schema");
  if (schema == document.end() || !schema->is_number_integer()) throw std::invalid_argument("it has no schema number");
  if (schema->get<std::int64_t>() != json_schema) {
    throw std::invalid_argument(fmt::format("schema {}; this twill reads {}", schema->dump(), json_schema));
  }
}

bench_file file_of(const std::string& path, const json& document) {
  bench_file file{path, document, {}};
  require_schema(document);
  const auto results = document.find("results");
  if (results == document.end() || !results->is_array() || results->empty()) {
    throw std::invalid_argument("it has no results");
  }
  for (const json& entry : *results) file.results.push_back(read_result(entry, file.results.size()));
  return file;
}

/// The file, or the files that compare wrote as one.
std::vector<bench_file> files_of(const std::string& path, std::istream& from) {
  const json document = json::parse(from);
  const auto parts = document.find("files");
  if (parts == document.end() || !parts->is_array() || parts->empty()) return {file_of(path, document)};
  require_schema(document);
  std::vector<bench_file> files;
  for (const json& part : *parts) {
    const auto name = part.find("file");
    files.push_back(file_of(name != part.end() && name->is_string() ? name->get<std::string>() : path, part));
  }
  return files;
}

}  // namespace

std::string bench_result::problem_text() const {
  const extents matrices = batch > 1 ? extents{batch, rows, cols} : extents{rows, cols};
  std::string text = extents_text(all_extents.empty() ? matrices : all_extents);
  if (gap > 0) text += fmt::format("+{}", gap);
  return text + permutation_text(order, in_strides, out_strides);
}

double distribution::below(double share) const {
  const auto count = std::lower_bound(shares.begin(), shares.end(), share) - shares.begin();
  return shares.empty() ? 0 : static_cast<double>(count) / static_cast<double>(shares.size());
}

json json_of(const device_properties& properties) {
  return {{"name", properties.name},
          {"backend", properties.backend},
          {"vendor", properties.vendor},
          {"model", properties.model},
          {"architecture", properties.architecture},
          {"memory_bytes", known(properties.memory_bytes)},
          {"peak_bytes_per_second", known(properties.peak_bytes_per_second)},
          {"cache_bytes", known(properties.cache_bytes)},
          {"multiprocessors", properties.multiprocessors},
          {"warp_size", properties.warp_size},
          {"max_threads_per_block", properties.max_threads_per_block},
          {"shared_bytes_per_block", properties.shared_bytes_per_block},
          {"is_gpu", properties.is_gpu}};
}

std::string json_text(const json& document) {
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

json json_of(const bench_report& report) {
  json devices = json::array(), results = json::array(), distributions = json::array(), run;
  for (const device_properties& on : report.devices) devices.push_back(json_of(on));
  for (const bench_result& result : report.results) results.push_back(json_of(result));
  for (const distribution& each : report.distributions) distributions.push_back(json_of(each));
  for (const auto& [name, text] : report.provenance) run[name] = text;
  const json first = devices.empty() ? json(nullptr) : devices.front();
  json document = {{"schema", json_schema},     {"twill", version()}, {"run", run},
                   {"device", first},           {"devices", devices}, {"cache", report.cold ? "cold" : "warm"},
                   {"partial", report.partial}, {"results", results}};
  if (!distributions.empty()) document["distributions"] = distributions;
  return document;
}

std::string csv_text(const bench_report& report) {
  std::string text;
  const auto add_line = [&](const std::vector<std::string>& cells) { text += joined(cells, ",") + "\n"; };
  std::vector<std::string> names;
  const bench_result any;
  each_field(any, [&](const std::string& name, const auto&, field_is) {
    if (name != "ms") return names.push_back(name);
    for (const char* part : {"ms_median", "ms_p25", "ms_p75"}) names.emplace_back(part);
  });
  add_line(names);
  for (const bench_result& result : report.results) {
    std::vector<std::string> cells;
    each_field(result, [&](const std::string& name, const auto& value, field_is) {
      if (name == "extents") return cells.push_back(extents_text(result.all_extents));
      if (name != "ms") return cells.push_back(csv_cell(value_of(value)));
      const json ms = value_of(result.ms);
      for (const char* part : {"median", "p25", "p75"}) cells.push_back(ms.is_null() ? "" : ms[part].dump());
    });
    add_line(cells);
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> provenance_of(int argc, const char* const* argv) {
  utsname system = {};
  uname(&system);
  std::string command = std::filesystem::path(argv[0]).filename();  // where it lies says nothing elsewhere
  for (int i = 1; i < argc; ++i) command += " " + std::string(argv[i]);
  const char* threads = std::getenv("TWILL_THREADS");
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  gmtime_r(&now, &utc);
  char date[sizeof "2026-01-31T12:00:00Z"] = "";
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return {{"date", date},
          {"host", system.nodename},
          {"system", fmt::format("{} {} {}", system.sysname, system.release, system.machine)},
          {"compiler", TWILL_COMPILER},
          {"commit", TWILL_COMMIT},
          {"threads", threads != nullptr ? threads : ""},
          {"command", command}};
}

std::string bench_file::model_of(const std::string& device) const {
  const auto devices = document.find("devices");
  if (devices == document.end() || !devices->is_array()) return "?";
  for (const json& on : *devices) {
    if (!on.is_object()) continue;
    const auto name = on.find("name"), model = on.find("model");
    if (name == on.end() || *name != device) continue;
    return model != on.end() && model->is_string() ? model->get<std::string>() : "?";
  }
  return "?";
}

std::string bench_file::cache() const {
  const auto state = document.find("cache");
  const bool is_known = state != document.end() && (*state == "cold" || *state == "warm");
  return is_known ? state->get<std::string>() : "";
}

bool bench_file::is_partial() const {
  const auto partial = document.find("partial");
  return partial != document.end() && *partial == true;
}

std::vector<bench_file> read_bench_files(const std::string& path) {
  std::string why;
  try {
    if (std::filesystem::is_directory(path)) throw std::invalid_argument("it is a folder");
    std::ifstream from(path);
    if (!from) throw std::invalid_argument(std::strerror(errno));
    return files_of(path, from);
  } catch (const json::exception& problem) {
    why = what_of(problem);
  } catch (const std::exception& problem) {
    why = problem.what();
  }
  refuse(fmt::format("cannot compare \"{}\"", path), why, "give files that twill bench --json wrote");
}

bench_file read_bench_file(const std::string& path) {
  std::vector<bench_file> files = read_bench_files(path);
  if (files.size() > 1) {
    refuse(fmt::format("cannot compare with \"{}\"", path), fmt::format("it holds {} files as one", files.size()),
           "give one that twill bench --json wrote");
  }
  return std::move(files.front());
}

}  // namespace twill::tool
