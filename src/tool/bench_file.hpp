#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report_file.hpp"

namespace twill::tool {

/// What a comparison needs of one entry of "results".
struct filed_result {
  std::string op, device, kernel, type, loop, block;
  std::int64_t rows = 0, cols = 0;
  std::string extents, order;  ///< "4x8x2" and "2,0,1"; "" where the entry has none
  std::optional<double> gbps, of_memcpy;
  bool valid = false;
  bool predicted = false;
};

/// A file that `twill bench --json` wrote.
struct bench_file {
  std::string path;
  json document;
  std::vector<filed_result> results;

  /// The product name of one of the file's devices; "?" when the file does not tell.
  std::string model_of(const std::string& device) const;
};

/// Refuses, naming the field, a file that is not as report_file.hpp has it.
bench_file read_bench_file(const std::string& path);

}  // namespace twill::tool
