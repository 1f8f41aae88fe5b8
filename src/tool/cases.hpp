#pragma once

// Sets of cases that are measured one by one and shown together: from a file, the fixed grid, sweeps, random ones.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "problem.hpp"

namespace twill::tool {

/// How the results of a set are shown.
enum class case_layout {
  tables,  ///< not a set: --size and --type, a table of all rungs each
  list,    ///< a line a case
  grid,    ///< a table with a row a shape and a column a type
  sweep,   ///< figures, and a picture
  random   ///< a distribution
};

struct case_set {
  case_layout layout = case_layout::tables;
  std::vector<bench_case> cases;
  std::string title;                          ///< of random cases
  std::int64_t most_bytes = 0;                ///< that the element bytes of a case may come to
  std::map<std::string, int> too_large = {};  ///< how many cases that leaves out, by part
  std::string roof = "memcpy";                ///< of the operation
};

/// --size, --type, --order, --in-strides and --out-strides as they were written.
struct named_cases {
  std::vector<std::string> sizes, types;
  std::string order, in_strides, out_strides;
};
/// A case for each size and type; `default_size`, `default_type`: where none is named.
std::vector<bench_case> parse_cases(const named_cases& named, const std::string& default_size,
                                    const std::string& default_type);

/// Reads a file of cases, a line each: TYPE SIZE[+GAP] [ORDER [IN_STRIDES [OUT_STRIDES]]], such as
/// "f32 64x3x224x224 0,2,3,1" or "u8 1080x1920 0,1 1920,-1"; "-" for packed strides. Empty lines and what follows a #
/// are skipped. Refuses, naming the line, what is anything else.
case_set read_cases(const std::string& path);

/// The parts of the grid of an operation, or one of its sweeps; cases above `most_bytes` are left out (0: none is).
/// Refuses unknown names, and operations that have none.
case_set grid_cases(const std::string& operation, const std::vector<std::string>& parts, std::int64_t most_bytes);
case_set sweep_cases(const std::string& operation, const std::string& name, std::int64_t most_bytes);
/// "5 element sizes x 12 shapes", "small matrices, 256 MiB in all"
std::string part_title(const std::string& part, std::int64_t most_bytes);

/// `count` cases drawn from a seed: bytes 1, 2, 4, 8, 16 with probabilities .15, .2, .35, .2, .1, most_bytes / 128 to
/// most_bytes (0: 512 MiB) in all. Refuses operations without random cases.
case_set random_cases(const std::string& operation, std::int64_t count, std::uint64_t seed, std::int64_t most_bytes);

/// The type that elements of a size are shown as: "u8" to "c128", "b3".
element_type type_of_bytes(std::int64_t bytes);

}  // namespace twill::tool
