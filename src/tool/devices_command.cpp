#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <twill/device.hpp>

#include "commands.hpp"
#include "output_file.hpp"
#include "report.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

std::string text_of(const std::vector<device_properties>& devices) {
  using side = table::align;
  table lines({{"name", side::left},
               {"model", side::left, true},
               {"arch", side::left},
               {"memory"},
               {"peak GB/s"},
               {"warp"},
               {"shared"}});
  for (const device_properties& on : devices) {
    lines.add({on.name, on.model, on.architecture,
               on.memory_bytes > 0 ? bytes_text(static_cast<double>(on.memory_bytes), 0) : "",
               on.peak_bytes_per_second > 0 ? fmt::format("{:.1f}", on.peak_bytes_per_second * 1e-9) : "",
               on.warp_size > 1 ? fmt::format("{}", on.warp_size) : "",
               on.shared_bytes_per_block > 0
                   ? fmt::format("{:.0f} KiB", static_cast<double>(on.shared_bytes_per_block) / 1024.0)
                   : ""});
  }
  return lines.text();
}

void run(const std::string& json_path) {
  const output_file file(json_path);
  std::vector<device_properties> devices;
  json list = json::array();
  for (const std::string& name : device::list()) {
    devices.push_back(device::open(name).properties());
    list.push_back(json_of(devices.back()));
  }
  const std::string standard = device::default_name();
  file.write(json_text({{"schema", json_schema}, {"default", standard}, {"devices", list}}));
  if (!file.is_stdout()) fmt::print("{}Default: {}\n", text_of(devices), standard);
}

}  // namespace

void add_devices_command(command_line& line) {
  command devices = line.add("devices", "List the devices there are, real and simulated");
  const auto path = std::make_shared<std::string>();
  devices.path("--json", *path, "Write the list here; - is standard output, and no table");
  devices.run([path] { run(*path); });
}

}  // namespace twill::tool
