#include "bench_list.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "format.hpp"
#include "refuse.hpp"
#include "table.hpp"

namespace twill::tool {
namespace {

listed_case parse_line(const std::string& line) {
  std::istringstream words(line);
  std::string type, size, order, more;
  words >> type >> size >> order >> more;
  if (size.empty() || !more.empty()) {
    refuse("a case has two or three words", fmt::format("\"{}\"", line), "write TYPE SIZE or TYPE SIZE ORDER");
  }
  return {parse_type(type), parse_size(size), order.empty() ? extents{} : parse_order(order)};
}

std::string case_text(const bench_result& result) {
  const std::string order = result.order.empty() ? "" : " " + order_text(result.order);
  return fmt::format("{} {}{}", result.type, extents_text(result.all_extents), order);
}

}  // namespace

std::vector<listed_case> read_bench_list(const std::string& path) {
  std::ifstream from(path);
  if (!from) refuse(fmt::format("cannot read \"{}\"", path), std::strerror(errno), "give a file of cases");
  std::vector<listed_case> cases;
  int number = 0;
  for (std::string line; std::getline(from, line);) {
    ++number;
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      cases.push_back(parse_line(line));
    } catch (const error& problem) {
      throw error(problem.code(), fmt::format("{}:{}: {}", path, number, problem.what()));
    }
  }
  if (cases.empty()) refuse(fmt::format("no cases in \"{}\"", path), "every line is empty", "write one a line");
  return cases;
}

std::string list_text(const std::vector<bench_result>& results) {
  using side = table::align;
  table lines({{"case", side::left}, {"kernel", side::left}, {"time ms"}, {"GB/s"}, {"% roof"}});
  std::map<std::string, std::vector<double>> shares;
  for (const bench_result& each : results) {
    if (each.kernel == each.roof) continue;
    const std::string time = !each.valid    ? "WRONG"
                             : each.seconds ? fmt::format("{:.4f}", each.seconds->median * 1e3)
                                            : "";
    const std::string rate = each.bytes_per_second ? fmt::format("{:.1f}", *each.bytes_per_second * 1e-9) : "";
    const std::string share = each.of_roof ? fmt::format("{:.1f}", *each.of_roof * 100) : "";
    lines.add({case_text(each), each.kernel, time, rate, share});
    if (each.of_roof) shares[fmt::format("{} on {}", each.kernel, each.device)].push_back(*each.of_roof);
  }
  std::string text = lines.text();
  for (auto& [what, values] : shares) {
    std::sort(values.begin(), values.end());
    const double median = (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
    text += fmt::format("{}: {} cases, median {:.1f} %, worst {:.1f} % of the roof\n", what, values.size(),
                        median * 100, values.front() * 100);
  }
  return text;
}

}  // namespace twill::tool
