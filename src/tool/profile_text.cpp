#include "profile_text.hpp"

#include <string_view>

#include <fmt/format.h>

#include "format.hpp"
#include "source_text.hpp"
#include "table.hpp"

namespace twill::tool {
namespace {

// One kind of access, as it is shown: transactions are sectors, or wavefronts.
struct shown_access {
  const char* name;
  const char* json_name;
  const char* unit;
  std::uint64_t requests, transactions, ideal;
};

std::vector<shown_access> shown(const traffic& t) {
  return {{"global load", "global_loads", "sectors", t.loads.requests, t.loads.sectors, t.loads.ideal_sectors},
          {"global store", "global_stores", "sectors", t.stores.requests, t.stores.sectors, t.stores.ideal_sectors},
          {"shared load", "shared_loads", "wavefronts", t.shared_loads.requests, t.shared_loads.wavefronts,
           t.shared_loads.ideal_wavefronts},
          {"shared store", "shared_stores", "wavefronts", t.shared_stores.requests, t.shared_stores.wavefronts,
           t.shared_stores.ideal_wavefronts}};
}

std::string ratio(std::uint64_t all, std::uint64_t of) {
  return of == 0 ? "" : fmt::format("{:.2f}", static_cast<double>(all) / static_cast<double>(of));
}

std::string counts_line(const shown_access& each) {
  return fmt::format("      {:<12} {:>10} req {:>11} {:<10} {:>5}/req {:>5}x ideal\n", each.name, each.requests,
                     each.transactions, each.unit, ratio(each.transactions, each.requests),
                     ratio(each.transactions, each.ideal));
}

std::string counts_of(const traffic& t) {
  std::string out;
  for (const auto& each : shown(t)) {
    if (each.requests > 0) out += counts_line(each);
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
  std::string out = shortened(bare_name(kernel.name), page_width) + "\n";
  out += fmt::format("{} blocks of {}x{} threads", kernel.blocks, kernel.block[0], kernel.block[1] * kernel.block[2]);
  if (kernel.recorded_blocks < kernel.blocks) {
    out += fmt::format(", of which a sample of {} is recorded (see --threads)", kernel.recorded_blocks);
  }
  return out + "\n";
}

std::string lines_text(const kernel_profile& kernel) {
  source_text source;
  std::string out, file;
  for (const auto& line : kernel.lines) {
    if (line.file != file || file.empty()) {
      file = line.file;
      out += file.empty() ? "  (no line tables in this program)\n" : "  " + short_path(file) + "\n";
    }
    out += shortened(fmt::format("{:>5} {}", line.line, source.line(line.file, line.line)), page_width) + "\n";
    out += counts_of(line);
  }
  return out;
}

json json_of(const traffic& t) {
  json all;
  for (const auto& each : shown(t)) {
    all[each.json_name] = {{"requests", each.requests}, {each.unit, each.transactions}, {"ideal", each.ideal}};
  }
  all["global_loads"]["bytes_used"] = t.loads.bytes_used;
  all["global_loads"]["bytes_moved"] = t.loads.bytes_moved;
  all["global_stores"]["bytes_used"] = t.stores.bytes_used;
  all["global_stores"]["bytes_moved"] = t.stores.bytes_moved;
  return all;
}

json json_of(const kernel_profile& kernel) {
  json lines = json::array();
  for (const auto& line : kernel.lines) {
    json one = {{"file", short_path(line.file)}, {"line", line.line}};
    one.update(json_of(static_cast<const traffic&>(line)));
    for (const auto& bank : line.banks) one["banks"].push_back({{"turns", bank.turns}, {"uses", bank.uses}});
    lines.push_back(one);
  }
  json one = {{"name", kernel.name},
              {"grid", {kernel.grid[0], kernel.grid[1], kernel.grid[2]}},
              {"block", {kernel.block[0], kernel.block[1], kernel.block[2]}},
              {"shared_bytes", kernel.shared_bytes},
              {"blocks", kernel.blocks},
              {"recorded_blocks", kernel.recorded_blocks}};
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

std::string text_of(const profile_result& result) {
  std::string out =
      fmt::format("{} {}, {} {} on {}\n", result.operation, result.kernel, result.size, result.type, result.device);
  if (result.seen.kernels.empty()) return out + "no kernel was launched\n";
  for (const auto& kernel : result.seen.kernels) {
    out += launch_text(kernel) + lines_text(kernel) + "  in all\n" + counts_of(static_cast<const traffic&>(kernel));
  }
  return out;
}

std::string summary_of(const std::vector<profile_result>& results) {
  table lines({{"kernel", table::align::left, true},
               {"size", table::align::left},
               {"type", table::align::left},
               {"ld/req"},
               {"st/req"},
               {"used"},
               {"sh.ld x"},
               {"sh.st x"}});
  for (const auto& result : results) {
    const traffic& t = result.seen;
    lines.add({result.kernel, result.size, result.type, ratio(t.loads.sectors, t.loads.requests),
               ratio(t.stores.sectors, t.stores.requests), fmt::format("{:.0f} %", 100 * t.used()),
               ratio(t.shared_loads.wavefronts, t.shared_loads.ideal_wavefronts),
               ratio(t.shared_stores.wavefronts, t.shared_stores.ideal_wavefronts)});
  }
  return lines.text() +
         "ld/req, st/req: sectors a request of global memory moves; used: the part of the\n"
         "bytes moved that threads asked for; x: wavefronts of shared memory over those\n"
         "without bank conflicts.\n";
}

json json_of(const std::vector<profile_result>& results) {
  json all = json::array();
  for (const auto& result : results) {
    json launches = json::array();
    for (const auto& kernel : result.seen.kernels) launches.push_back(json_of(kernel));
    json one = {{"op", result.operation}, {"device", result.device}, {"kernel", result.kernel},
                {"type", result.type},    {"size", result.size},     {"block", block_text(result.block)}};
    one.update(json_of(static_cast<const traffic&>(result.seen)));
    one["launches"] = launches;
    all.push_back(one);
  }
  return {{"schema", json_schema}, {"results", all}};
}

}  // namespace twill::tool
