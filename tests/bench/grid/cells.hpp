#pragma once

// What is measured: the shapes of each part, and the kernels that run on them.

#include <cstdint>
#include <string>
#include <vector>

namespace grid {

struct cell {
  std::int64_t element_bytes = 0, rows = 0, cols = 0, batch = 1;
  std::int64_t gap = 0;  ///< elements after each row of the input, and once more after each matrix; out of place only

  std::int64_t elements() const { return rows * cols * batch; }
  std::int64_t bytes() const { return elements() * element_bytes; }
  std::int64_t in_ld() const { return cols + gap; }
  std::int64_t in_stride() const { return rows * in_ld() + gap; }
  std::int64_t in_bytes() const { return batch * in_stride() * element_bytes; }  ///< gaps included
};

/// "8191x8193", "2^20x32", "2x2+1" with a gap
std::string shape_text(const cell& which);
/// The names of `twill bench --type`: "u8" to "c128", and "b3" for elements of three bytes.
std::string type_text(std::int64_t element_bytes);

/// One table.
struct part {
  std::string name, title;
  std::vector<std::string> kernels;  ///< beside memcpy; "tuned" first where it is out of place
  std::vector<cell> cells;
  int windows = 64;  ///< of 256 KiB, in which the output of a large cell is checked
};

/// The names of all parts, in the order in which they run.
std::vector<std::string> part_names();
/// Throws std::invalid_argument for an unknown name.
part make_part(const std::string& name);

}  // namespace grid
