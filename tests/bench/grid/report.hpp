#pragma once

#include <string>
#include <vector>

#include <twill/device.hpp>

#include "measure.hpp"

namespace grid {

struct part_result {
  part of;
  std::vector<outcome> outcomes;
};

/// Geometric mean and worst cell of a kernel, as fractions of memcpy.
struct figure {
  double mean = 0, worst = 0;
  cell where;
  int cells = 0, wrong = 0;
};
figure figure_of(const part_result& result, const std::string& kernel);

/// Tables with a row a shape and a column an element size, for parts; a line for sweeps.
std::string text_of(const part_result& result);

/// As `twill bench --json` writes it, with "part" in each result.
std::string json_of(const twill::device_properties& on, const std::vector<part_result>& results);

/// A sweep as a picture: batched shapes as a map, squares as lines. Empty for parts that are none.
std::string svg_of(const part_result& result);

}  // namespace grid
