#include "layout.hpp"

#include <algorithm>

namespace twill::detail {

index_box box_of(const team_layout& layout, const team_side& side, int member) {
  index_box box{};
  std::int64_t rest = member;
  for (int d = layout.rank - 1; d >= 0; --d) {
    const std::int64_t part = rest % side.parts[d];
    rest /= side.parts[d];
    box.first[d] = first_of_part(layout.extents[d], side.parts[d], part);
    box.extent[d] = first_of_part(layout.extents[d], side.parts[d], part + 1) - box.first[d];
  }
  return box;
}

bool is_empty(const index_box& box, int rank) {
  return std::any_of(box.extent, box.extent + rank, [](std::int64_t extent) { return extent <= 0; });
}

std::int64_t elements_of(const index_box& box, int rank) {
  if (is_empty(box, rank)) return 0;
  std::int64_t elements = 1;
  for (int d = 0; d < rank; ++d) elements *= box.extent[d];
  return elements;
}

index_box intersection(const index_box& a, const index_box& b, int rank) {
  index_box both{};
  for (int d = 0; d < rank; ++d) {
    both.first[d] = std::max(a.first[d], b.first[d]);
    both.extent[d] = std::min(a.first[d] + a.extent[d], b.first[d] + b.extent[d]) - both.first[d];
  }
  return both;
}

void strides_of(const team_layout& layout, const team_side& side, const index_box& box, std::int64_t* strides) {
  std::int64_t next = 1;
  for (int i = layout.rank - 1; i >= 0; --i) {
    const int d = side.order[i];
    strides[d] = next;
    next *= side.lds[i] != 0 ? side.lds[i] : box.extent[d];
  }
}

}  // namespace twill::detail
