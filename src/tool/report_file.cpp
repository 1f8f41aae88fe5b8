#include "report_file.hpp"

#include <fmt/format.h>

#include <twill/version.hpp>

#include "format.hpp"

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

json maybe(const std::optional<double>& figure, double scale = 1.0) {
  return figure ? json(rounded(*figure * scale)) : json(nullptr);
}

json json_of(const bench_result& result) {
  json ms = nullptr;
  if (result.seconds) {
    ms = {{"median", rounded(result.seconds->median * 1e3)},
          {"p25", rounded(result.seconds->p25 * 1e3)},
          {"p75", rounded(result.seconds->p75 * 1e3)}};
  }
  const std::string block = block_text(result.block);
  json entry = {{"op", result.op},
                {"device", result.device},
                {"kernel", result.kernel},
                {"type", result.type},
                {"rows", result.rows},
                {"cols", result.cols},
                {"batch", result.batch},
                {"loop", loop_name(result.loop)},
                {"block", block.empty() ? json(nullptr) : json(block)},
                {"ms", ms},
                {"reps", result.reps},
                {"gbps", maybe(result.bytes_per_second, 1e-9)},
                {"roof", result.roof},
                {"of_roof", maybe(result.of_roof)},
                {"of_memcpy", result.roof == "memcpy" ? maybe(result.of_roof) : json(nullptr)},
                {"of_peak", maybe(result.of_peak)},
                {"step_speedup", maybe(result.step_speedup)},
                {"cumulative_speedup", maybe(result.cumulative_speedup)},
                {"cpu_speedup", maybe(result.cpu_speedup)},
                {"valid", result.valid},
                {"predicted", result.predicted}};
  if (!result.all_extents.empty()) entry["extents"] = result.all_extents;
  if (!result.order.empty()) entry["order"] = result.order;
  if (!result.valid) entry["fault"] = result.fault;
  if (result.waits) entry["waits"] = true;
  if (result.predicted) entry["sampled"] = result.sampled;
  if (result.busiest_channel) entry["busiest_channel"] = rounded(*result.busiest_channel);
  return entry;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_cell(const json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? csv_cell(value.get<std::string>()) : value.dump();
}

}  // namespace

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
  json devices = json::array();
  for (const device_properties& on : report.devices) devices.push_back(json_of(on));
  json results = json::array();
  for (const bench_result& result : report.results) results.push_back(json_of(result));
  const json first = devices.empty() ? json(nullptr) : devices.front();
  return {{"schema", json_schema},
          {"twill", version()},
          {"device", first},
          {"devices", devices},
          {"cache", report.cold ? "cold" : "warm"},
          {"results", results}};
}

std::string csv_text(const bench_report& report) {
  std::string text =
      "op,device,kernel,type,rows,cols,batch,loop,block,ms_median,ms_p25,ms_p75,reps,gbps,roof,of_roof,of_memcpy,"
      "of_peak,step_speedup,cumulative_speedup,cpu_speedup,valid,predicted,extents,order\n";
  for (const bench_result& result : report.results) {
    const json entry = json_of(result);
    std::vector<std::string> cells;
    for (const auto& [name, value] : entry.items()) {
      if (name == "fault" || name == "extents" || name == "order") continue;
      if (name == "waits" || name == "sampled" || name == "busiest_channel") continue;
      if (name == "ms") {
        for (const char* part : {"median", "p25", "p75"}) cells.push_back(value.is_null() ? "" : value[part].dump());
      } else {
        cells.push_back(csv_cell(value));
      }
    }
    cells.push_back(extents_text(result.all_extents));
    cells.push_back(csv_cell(order_text(result.order)));
    text += joined(cells, ",") + "\n";
  }
  return text;
}

}  // namespace twill::tool
