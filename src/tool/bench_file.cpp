#include "bench_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "format.hpp"
#include "refuse.hpp"

namespace twill::tool {
namespace {

/// One entry of "results", whose fields are asked for by name and type.
class entry_reader {
 public:
  entry_reader(const json& entry, std::size_t place) : entry_(entry), place_(place) {
    if (!entry.is_object()) fail("", "an object");
  }

  std::string text(const char* name) const {
    const json& value = field(name);
    return value.is_string() ? value.get<std::string>() : fail(name, "a string");
  }
  std::string text_or_null(const char* name) const { return field(name).is_null() ? "" : text(name); }
  std::int64_t integer(const char* name) const {
    const json& value = field(name);
    if (!value.is_number_integer()) fail(name, "a whole number");
    return value.get<std::int64_t>();
  }
  bool boolean(const char* name) const {
    const json& value = field(name);
    if (!value.is_boolean()) fail(name, "true or false");
    return value.get<bool>();
  }
  /// The numbers of a list that may be missing.
  std::vector<std::int64_t> integers_or_none(const char* name) const {
    std::vector<std::int64_t> numbers;
    const auto found = entry_.find(name);
    if (found == entry_.end()) return numbers;
    if (!found->is_array()) fail(name, "a list of whole numbers");
    for (const json& each : *found) {
      if (!each.is_number_integer()) fail(name, "a list of whole numbers");
      numbers.push_back(each.get<std::int64_t>());
    }
    return numbers;
  }
  std::optional<double> number_or_null(const char* name) const {
    const json& value = field(name);
    if (value.is_null()) return std::nullopt;
    if (!value.is_number()) fail(name, "a number or null");
    return value.get<double>();
  }

 private:
  const json& field(const char* name) const {
    const auto found = entry_.find(name);
    if (found == entry_.end()) fail(name, "there");
    return *found;
  }
  [[noreturn]] std::string fail(const std::string& name, const char* expected) const {
    const std::string field = name.empty() ? "" : "." + name;
    throw std::invalid_argument(fmt::format("results[{}]{} should be {}", place_, field, expected));
  }

  const json& entry_;
  std::size_t place_;
};

filed_result read_result(const entry_reader& entry) {
  filed_result result;
  result.op = entry.text("op");
  result.device = entry.text("device");
  result.kernel = entry.text("kernel");
  result.type = entry.text("type");
  result.loop = entry.text("loop");
  result.block = entry.text_or_null("block");
  result.rows = entry.integer("rows");
  result.cols = entry.integer("cols");
  result.extents = extents_text(entry.integers_or_none("extents"));
  result.order = order_text(entry.integers_or_none("order"));
  result.gbps = entry.number_or_null("gbps");
  result.of_memcpy = entry.number_or_null("of_memcpy");
  result.valid = entry.boolean("valid");
  result.predicted = entry.boolean("predicted");
  return result;
}

void read_document(bench_file& file, std::istream& from) {
  file.document = json::parse(from);
  const json& document = file.document;
  if (!document.is_object()) throw std::invalid_argument("it should hold one object");
  const auto schema = document.find("schema");
  if (schema == document.end() || !schema->is_number_integer()) throw std::invalid_argument("it has no schema number");
  if (schema->get<std::int64_t>() != json_schema) {
    throw std::invalid_argument(fmt::format("schema {}; this twill reads {}", schema->dump(), json_schema));
  }
  const auto results = document.find("results");
  if (results == document.end() || !results->is_array()) throw std::invalid_argument("it has no results");
  for (const json& entry : *results) file.results.push_back(read_result({entry, file.results.size()}));
}

}  // namespace

std::string bench_file::model_of(const std::string& device) const {
  const auto devices = document.find("devices");
  if (devices == document.end() || !devices->is_array()) return "?";
  for (const json& on : *devices) {
    if (on.is_object() && on.value("name", "") == device) return on.value("model", "?");
  }
  return "?";
}

bench_file read_bench_file(const std::string& path) {
  bench_file file;
  file.path = path;
  std::ifstream from(path);
  std::string why;
  try {
    if (!from) throw std::invalid_argument(std::strerror(errno));
    read_document(file, from);
    return file;
  } catch (const json::exception& problem) {
    why = problem.what();
  } catch (const std::invalid_argument& problem) {
    why = problem.what();
  }
  refuse(fmt::format("cannot compare \"{}\"", path), why, "give files that twill bench --json wrote");
}

}  // namespace twill::tool
