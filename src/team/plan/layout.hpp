#pragma once

// Where the parts of a distributed array lie: plain host code, all extents checked before (src/team/layout_checks.hpp).

#include <cstdint>

namespace twill::detail {

constexpr int most_dims = 8;

/// One side of a redistribution, by global dimension but for `order` and `lds`.
struct team_side {
  std::int64_t parts[most_dims];
  std::int64_t lds[most_dims];  ///< by local dimension; 0: the part's own extent
  int order[most_dims];         ///< the global dimension that each local one is, outermost first
};

struct team_layout {
  int rank;  ///< dimensions
  int size;  ///< of the team
  std::int64_t element_bytes;
  std::int64_t extents[most_dims];
  team_side in, out;
};

/// Indices [first, first + extent) along each dimension.
struct index_box {
  std::int64_t first[most_dims], extent[most_dims];
};

/// Part `part` of `extent` indices in `parts` parts: the first extent % parts parts have one more.
constexpr std::int64_t first_of_part(std::int64_t extent, std::int64_t parts, std::int64_t part) {
  const std::int64_t more = extent % parts;
  return part * (extent / parts) + (part < more ? part : more);
}

/// The box that a member of the team holds.
index_box box_of(const team_layout& layout, const team_side& side, int member);

bool is_empty(const index_box& box, int rank);
std::int64_t elements_of(const index_box& box, int rank);
index_box intersection(const index_box& a, const index_box& b, int rank);

/// Elements from one index to the next along each global dimension of a member's memory, `box` being what it holds.
void strides_of(const team_layout& layout, const team_side& side, const index_box& box, std::int64_t* strides);

}  // namespace twill::detail
