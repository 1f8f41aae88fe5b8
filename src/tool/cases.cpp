#include "cases.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "text.hpp"

namespace twill::tool {
namespace {

constexpr std::int64_t mega = std::int64_t{1} << 20;

using shapes = std::vector<std::pair<std::int64_t, std::int64_t>>;

const std::vector<std::int64_t> power_sizes = {1, 2, 4, 8, 16};
const std::vector<std::int64_t> odd_sizes = {3, 5, 6, 7, 12, 24};
const shapes grid_shapes = {{1024, 1024},  {2048, 2048}, {4096, 4096}, {8192, 8192},  {16384, 16384}, {8191, 8193},
                            {10000, 7000}, {mega, 32},   {32, mega},   {4 * mega, 3}, {3, 4 * mega},  {16 * mega, 8}};
const shapes small_matrices = {{2, 2}, {3, 3}, {4, 4}, {5, 7}, {8, 8}, {16, 16}, {32, 32}, {33, 31}, {64, 64}};
const shapes in_place_shapes = {{1024, 1024},   {4096, 4096},   {8192, 8192},   {8191, 8191},
                                {10000, 10000}, {16384, 16384}, {10000, 7000},  {8191, 8193},
                                {4096, 16384},  {16384, 4096},  {mega, 32},     {32, mega},
                                {4 * mega, 3},  {3, 4 * mega},  {16 * mega, 8}, {1000003, 31}};
const shapes up_to_a_mega = {{32, 32},   {64, 64},     {128, 128}, {256, 256},
                             {512, 512}, {1024, 1024}, {500, 300}, {4096, 16}};

constexpr std::int64_t any_bytes = std::int64_t{1} << 60;

/// Adds cases of up to `most` bytes, and counts those of more.
struct case_adder {
  case_set& to;
  std::string part;
  std::int64_t most;

  /// The part has those of up to `up_to` bytes.
  void matrices(const shapes& all, const std::vector<std::int64_t>& sizes, std::int64_t up_to = any_bytes) const {
    for (const auto& [rows, cols] : all) {
      for (const std::int64_t bytes : sizes) {
        const std::int64_t in_all = rows * cols * bytes;
        if (in_all > up_to) continue;
        if (in_all > most) {
          ++to.too_large[part];
        } else {
          to.cases.push_back({type_of_bytes(bytes), {rows, cols}, {}, 0, part});
        }
      }
    }
  }
  /// As many as make `bytes_in_all`.
  void batches(const shapes& all, const std::vector<std::int64_t>& sizes, std::int64_t bytes_in_all,
               std::int64_t gap = 0) const {
    for (const auto& [rows, cols] : all) {
      for (const std::int64_t bytes : sizes) {
        const std::int64_t count = std::min(bytes_in_all, most) / (rows * cols * bytes);
        if (count > 0) {
          to.cases.push_back({type_of_bytes(bytes), {count, rows, cols}, {}, gap, part});
        } else {
          ++to.too_large[part];
        }
      }
    }
  }
};

struct grid_part {
  const char* operation;
  const char* name;
  const char* title;   // {}: the bytes that its cases come to, or are bounded by
  std::int64_t bytes;  // of these
  void (*add)(const case_adder& to);
};

/// 1 to 300, finer where it is small and around multiples of 32.
shapes sweep_shapes() {
  std::vector<std::int64_t> list;
  for (std::int64_t n = 1; n <= 300; ++n) {
    const bool edge = n % 32 <= 1 || n % 32 == 31;
    if (n <= 17 || (n <= 68 && edge) || (n > 68 && n % 64 <= 1) || n % 50 == 0 || n % 29 == 0) list.push_back(n);
  }
  shapes all;
  for (const std::int64_t rows : list) {
    for (const std::int64_t cols : list) all.emplace_back(rows, cols);
  }
  return all;
}

void add_squares(const case_adder& to) {
  shapes all;
  for (std::int64_t n = 4000; n <= 4200; ++n) all.emplace_back(n, n);
  to.matrices(all, power_sizes);
}

const grid_part grid_parts[] = {
    {"transpose", "main", "5 element sizes x 12 shapes", 0,
     [](const case_adder& to) { to.matrices(grid_shapes, power_sizes); }},
    {"transpose", "odd", "odd element sizes, up to {}", 2048 * mega,
     [](const case_adder& to) { to.matrices(grid_shapes, odd_sizes, 2048 * mega); }},
    {"transpose", "batched", "small matrices, {} in all", 256 * mega,
     [](const case_adder& to) { to.batches(small_matrices, power_sizes, 256 * mega); }},
    {"transpose", "strided", "small matrices with gaps, {} in all", 128 * mega,
     [](const case_adder& to) { to.batches(small_matrices, power_sizes, 128 * mega, 1); }},
    {"transpose", "small", "up to {}", mega,
     [](const case_adder& to) { to.matrices(up_to_a_mega, power_sizes, mega); }},
    {"transpose-in-place", "in-place", "in place, with the least and with fast scratch, up to {}", 2048 * mega,
     [](const case_adder& to) {
       to.matrices(in_place_shapes, power_sizes, 2048 * mega);
       to.batches(small_matrices, power_sizes, 256 * mega);
     }},
};

const grid_part sweeps[] = {
    {"transpose", "batched", "batches of rows x cols, about {} in all", 64 * mega,
     [](const case_adder& to) { to.batches(sweep_shapes(), {4}, 64 * mega); }},
    {"transpose", "square", "squares of 4000 to 4200", 0, add_squares},
};

/// Adds the parts of a name, or all of the operation's.
template <std::size_t Count>
void add_parts(case_set& to, const grid_part (&parts)[Count], const std::string& option, const std::string& operation,
               const std::string& name, const std::string& prefix) {
  std::vector<std::string> known;
  bool found = false;
  for (const grid_part& each : parts) {
    if (each.operation != operation) continue;
    known.emplace_back(each.name);
    if (each.name != name && name != "all") continue;
    found = true;
    const auto is_there = [&](const bench_case& one) { return one.part == prefix + each.name; };
    if (std::any_of(to.cases.begin(), to.cases.end(), is_there)) continue;  // it was named before
    each.add({to, prefix + each.name, to.most_bytes > 0 ? to.most_bytes : any_bytes});
  }
  if (found) return;
  refuse(fmt::format("no {} \"{}\" of {}", option, name, operation),
         known.empty() ? "it is for transposes" : "known: " + joined(known) + ", all",
         known.empty() ? "use --random, --list or --size" : "choose one of these");
}

bench_case parse_line(const std::string& line) {
  std::istringstream words(line);
  std::string type, size, order, in_strides, out_strides, more;
  words >> type >> size >> order >> in_strides >> out_strides >> more;
  if (size.empty() || !more.empty()) {
    refuse("a case has two to five words", fmt::format("\"{}\"", line),
           "write TYPE SIZE, TYPE SIZE ORDER, or these and the strides of input and output");
  }
  const auto plus = size.find('+');
  const std::int64_t gap = plus == std::string::npos ? 0 : parse_count("a gap", size.substr(plus + 1), 0);
  return {parse_type(type),
          parse_size(size.substr(0, plus)),
          order.empty() ? extents{} : parse_order(order),
          gap,
          "",
          parse_strides("in strides", in_strides),
          parse_strides("out strides", out_strides)};
}

}  // namespace

element_type type_of_bytes(std::int64_t bytes) {
  return parse_type(bytes == 1    ? "u8"
                    : bytes == 2  ? "u16"
                    : bytes == 4  ? "u32"
                    : bytes == 8  ? "u64"
                    : bytes == 16 ? "c128"
                                  : fmt::format("b{}", bytes));
}

std::vector<bench_case> parse_cases(const named_cases& named, const std::string& default_size,
                                    const std::string& default_type) {
  const auto or_default = [](const std::vector<std::string>& given, const std::string& standard) {
    return given.empty() ? std::vector<std::string>{standard} : given;
  };
  const extents order = named.order.empty() ? extents{} : parse_order(named.order);
  const extents in_strides = parse_strides("--in-strides", named.in_strides),
                out_strides = parse_strides("--out-strides", named.out_strides);
  std::vector<bench_case> cases;
  for (const std::string& size : or_default(named.sizes, default_size)) {
    for (const std::string& type : or_default(named.types, default_type)) {
      cases.push_back({parse_type(type), parse_size(size), order, 0, "", in_strides, out_strides});
    }
  }
  return cases;
}

case_set read_cases(const std::string& path) {
  std::error_code problem;
  if (std::filesystem::is_directory(path, problem)) {
    refuse(fmt::format("cannot read \"{}\"", path), "it is a folder", "give a file of cases");
  }
  std::ifstream from(path);
  if (!from) refuse(fmt::format("cannot read \"{}\"", path), std::strerror(errno), "give a file of cases");
  case_set set{case_layout::list, {}, "", 0, {}};
  int number = 0;
  for (std::string line; std::getline(from, line);) {
    ++number;
    const auto is_unprintable = [](unsigned char c) { return std::iscntrl(c) != 0 && std::isspace(c) == 0; };
    std::replace_if(line.begin(), line.end(), is_unprintable, '?');  // a message would end at a 0
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      set.cases.push_back(parse_line(line));
    } catch (const error& problem) {
      throw error(problem.code(), fmt::format("{}:{}: {}", path, number, problem.what()));
    }
  }
  if (set.cases.empty()) refuse(fmt::format("no cases in \"{}\"", path), "every line is empty", "write one a line");
  return set;
}

case_set grid_cases(const std::string& operation, const std::vector<std::string>& parts, std::int64_t most_bytes) {
  case_set set{case_layout::grid, {}, "", most_bytes, {}};
  for (const std::string& each : parts) add_parts(set, grid_parts, "--grid", operation, each, "");
  return set;
}

case_set sweep_cases(const std::string& operation, const std::string& name, std::int64_t most_bytes) {
  case_set set{case_layout::sweep, {}, "", most_bytes, {}};
  add_parts(set, sweeps, "--sweep", operation, name, "sweep-");
  return set;
}

std::string part_title(const std::string& part, std::int64_t most_bytes) {
  const auto title = [&](const grid_part& of) {
    const std::int64_t bytes = most_bytes > 0 ? std::min(of.bytes, most_bytes) : of.bytes;
    const std::string in_all = bytes_text(static_cast<double>(bytes), 0);
    return fmt::vformat(of.title, fmt::make_format_args(in_all));
  };
  for (const grid_part& each : grid_parts) {
    if (each.name == part) return title(each);
  }
  for (const grid_part& each : sweeps) {
    if (std::string("sweep-") + each.name == part) return title(each);
  }
  return part;
}

}  // namespace twill::tool
