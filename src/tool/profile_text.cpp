#include "profile_text.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "source_text.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

// One kind of access, as it is shown: transactions are sectors, or wavefronts.
struct shown_access {
  const char* name;
  const char* json_name;
  std::uint64_t requests, transactions, ideal;
  std::optional<std::uint64_t> bytes_used, bytes_moved;  // of global memory
};

shown_access shown(const char* name, const char* json_name, const global_traffic& t) {
  return {name, json_name, t.requests, t.sectors, t.ideal_sectors, t.bytes_used, t.bytes_moved};
}

shown_access shown(const char* name, const char* json_name, const shared_traffic& t) {
  return {name, json_name, t.requests, t.wavefronts, t.ideal_wavefronts, {}, {}};
}

std::vector<shown_access> shown(const traffic& t) {
  return {shown("global load", "global_loads", t.loads),
          shown("global store", "global_stores", t.stores),
          shown("global atomic", "global_atomics", t.atomics),
          shown("shared load", "shared_loads", t.shared_loads),
          shown("shared store", "shared_stores", t.shared_stores),
          shown("shared atomic", "shared_atomics", t.shared_atomics)};
}

std::string ratio(std::uint64_t all, std::uint64_t of) {
  return of == 0 ? "" : fmt::format("{:.2f}", static_cast<double>(all) / static_cast<double>(of));
}

std::string counts_line(const shown_access& each, const std::string& unit) {
  std::string line = fmt::format("  {:<13}{:>8} req{:>9} {:<10}{:>6}/req{:>6}x ideal", each.name, each.requests,
                                 each.transactions, each.bytes_moved ? unit.c_str() : "wavefronts",
                                 ratio(each.transactions, each.requests), ratio(each.transactions, each.ideal));
  if (each.bytes_moved.value_or(0) > 0) {
    line += fmt::format("{:>4.0f}% used",
                        100.0 * static_cast<double>(*each.bytes_used) / static_cast<double>(*each.bytes_moved));
  }
  return line + "\n";
}

std::string counts_of(const traffic& t, const std::string& unit) {
  std::string out;
  for (const auto& each : shown(t)) {
    if (each.requests > 0) out += counts_line(each, unit);
  }
  return out;
}

// The path from the folder of the sources on: where the library was built says nothing to its user.
std::string short_path(const std::string& path) {
  for (const char* folder : {"/src/", "/backends/", "/tests/"}) {
    const auto at = path.rfind(folder);
    if (at != std::string::npos) return path.substr(at + 1);
  }
  return path;
}

std::string launch_text(const kernel_profile& kernel) {
  const std::string full = bare_name(kernel.name);
  std::string out = wrapped(full.size() <= page_width ? full : name_without_arguments(kernel.name)) + "\n";
  out += fmt::format("{} blocks of {}x{} threads", kernel.blocks, kernel.block[0], kernel.block[1] * kernel.block[2]);
  if (kernel.recorded_blocks < kernel.blocks) {
    out += fmt::format(", of which a sample of {} is recorded (see --threads)", kernel.recorded_blocks);
  }
  out += "\n";
  if (kernel.waits) {
    out +=
        "Its blocks wait for one another: a look at what another is to write counts once,\n"
        "and which block finds what to do is up to the CPU here.\n";
  }
  return out;
}

// How the bytes of blocks that run together lie on the partitions of memory; nothing where no partition says more than
// another.
std::string partitions_text(const kernel_profile& kernel) {
  double sum = 0, most = 0;
  std::size_t windows = 0;
  for (const auto& row : kernel.partitions) {
    const double all = static_cast<double>(std::accumulate(row.begin(), row.end(), std::uint64_t{0}));
    if (all == 0) continue;  // none of its blocks was recorded
    const double busiest = static_cast<double>(*std::max_element(row.begin(), row.end()));
    const double share = busiest * static_cast<double>(row.size()) / all;
    sum += share;
    most = std::max(most, share);
    ++windows;
  }
  if (windows == 0 || kernel.partitions.front().size() < 2) return "";
  return fmt::format("  partitions: of {}, the busiest gets {:.2f} times the mean (at worst {:.2f})\n",
                     kernel.partitions.front().size(), sum / static_cast<double>(windows), most);
}

std::string lines_text(const kernel_profile& kernel, const std::string& unit) {
  source_text source;
  std::string out, file;
  for (const auto& line : kernel.lines) {
    if (line.file != file || file.empty()) {
      file = line.file;
      out += "  " + source_heading(source, file) + "\n";
    }
    out += shortened(fmt::format("{:>5} {}", line.line, source.line(line.file, line.line)), page_width) + "\n";
    out += counts_of(line, unit);
  }
  return out;
}

json json_of(const traffic& t) {
  json all;
  for (const auto& each : shown(t)) {
    json& one = all[each.json_name];
    one = {{"requests", each.requests},
           {each.bytes_moved ? "sectors" : "wavefronts", each.transactions},
           {"ideal", each.ideal}};
    if (each.bytes_used) one["bytes_used"] = *each.bytes_used;
    if (each.bytes_moved) one["bytes_moved"] = *each.bytes_moved;
  }
  return all;
}

json json_of(const kernel_profile& kernel) {
  json lines = json::array();
  for (const auto& line : kernel.lines) {
    json one = {{"file", short_path(line.file)}, {"line", line.line}};
    one.update(json_of(static_cast<const traffic&>(line)));
    for (const auto& bank : line.banks)
      one["banks"].push_back({{"wavefronts", bank.wavefronts}, {"ideal", bank.ideal_wavefronts}});
    lines.push_back(one);
  }
  json one = {{"name", kernel.name},
              {"grid", {kernel.grid[0], kernel.grid[1], kernel.grid[2]}},
              {"block", {kernel.block[0], kernel.block[1], kernel.block[2]}},
              {"shared_bytes", kernel.shared_bytes},
              {"blocks", kernel.blocks},
              {"recorded_blocks", kernel.recorded_blocks},
              {"waits", kernel.waits}};
  one.update(json_of(static_cast<const traffic&>(kernel)));
  one["lines"] = lines;
  one["partition_bytes"] = kernel.partitions;
  return one;
}

}  // namespace

std::string bare_name(const std::string& kernel) {
  const auto arguments = kernel.find('<');
  const auto colons = kernel.rfind("::", arguments);
  return colons == std::string::npos ? kernel : kernel.substr(colons + 2);
}

std::string name_without_arguments(const std::string& kernel) {
  const std::string name = bare_name(kernel);
  const auto arguments = name.find('<');
  return arguments == std::string::npos ? name : name.substr(0, arguments) + "<..>";
}

std::string source_heading(source_text& source, const std::string& file) {
  if (file.empty()) return "(no line tables in this program)";
  switch (source.of(file)) {
    case source_text::state::as_built:
      break;
    case source_text::state::changed:
      return short_path(file) + " (changed since this program was built: its lines are left out)";
    case source_text::state::missing:
      return short_path(file) + " (not found here: its lines are left out)";
  }
  return short_path(file);
}

std::string text_of(const profile_result& result) {
  std::string out =
      fmt::format("{} {}, {} {} on {}\n", result.operation, result.kernel, result.size, result.type, result.device);
  const std::string& unit = result.seen.sectors_are;
  for (const auto& kernel : result.seen.kernels) {
    out += launch_text(kernel) + lines_text(kernel, unit) + "in all\n";
    out += counts_of(static_cast<const traffic&>(kernel), unit) + partitions_text(kernel);
  }
  return out;
}

std::string summary_of(const std::vector<profile_result>& results) {
  bool one_device = true;
  for (const auto& result : results) one_device = one_device && result.device == results.front().device;
  table lines({{"device", table::align::left},
               {"kernel", table::align::left, true},
               {"size", table::align::left, true},
               {"type", table::align::left},
               {"ld/req"},
               {"st/req"},
               {"used"},
               {"sh.ld x"},
               {"sh.st x"}});
  for (const auto& result : results) {
    const traffic& t = result.seen;
    lines.add({one_device ? "" : result.device, result.kernel, result.size, result.type,
               ratio(t.loads.sectors, t.loads.requests), ratio(t.stores.sectors, t.stores.requests),
               fmt::format("{:.0f} %", 100 * t.used()),
               ratio(t.shared_loads.wavefronts, t.shared_loads.ideal_wavefronts),
               ratio(t.shared_stores.wavefronts, t.shared_stores.ideal_wavefronts)});
  }
  return lines.text() +
         "ld/req, st/req: sectors (segments, lines) a request of global memory moves;\n"
         "used: the part of the bytes moved that threads asked for; x: wavefronts of\n"
         "shared memory over those without bank conflicts.\n";
}

std::string comparisons_of(const std::vector<profile_result>& results) {
  std::string out, last;
  for (const auto& result : results) {
    if (result.compared_with != last) out += wrapped(result.compared_with) + "\n";
    last = result.compared_with;
  }
  return out;
}

json json_of(const std::vector<profile_result>& results) {
  json all = json::array();
  for (const auto& result : results) {
    json launches = json::array();
    for (const auto& kernel : result.seen.kernels) launches.push_back(json_of(kernel));
    json one = {{"op", result.operation},           {"device", result.device}, {"compared_with", result.compared_with},
                {"kernel", result.kernel},          {"type", result.type},     {"size", result.size},
                {"block", block_text(result.block)}};
    one.update(json_of(static_cast<const traffic&>(result.seen)));
    one["launches"] = launches;
    all.push_back(one);
  }
  return {{"schema", json_schema}, {"results", all}};
}

}  // namespace twill::tool
