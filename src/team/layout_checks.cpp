#include "layout_checks.hpp"

#include <algorithm>
#include <string>

#include "backends/error.hpp"
#include "core/arguments.hpp"
#include "core/call.hpp"

namespace twill {
namespace detail {
namespace {

std::string text_of(const dims& list) {
  std::string text = "{";
  for (const std::int64_t value : list) text.append(text.size() > 1 ? ", " : "").append(std::to_string(value));
  return text + "}";
}

void require_one_each(const dims& list, int rank, const std::string& what) {
  if (list.size() == rank) return;
  fail(errc::invalid_argument, what + " must have one entry per dimension",
       std::to_string(list.size()) + " for " + std::to_string(rank) + " extents", "give as many as there are extents");
}

void take_order(team_side& side, const dims& order, int rank, const std::string& which) {
  for (int i = 0; i < rank; ++i) side.order[i] = i;
  if (order.size() == 0) return;
  require_one_each(order, rank, which + ".order");
  bool seen[most_dims] = {};
  for (int i = 0; i < rank; ++i) {
    const std::int64_t d = order[i];
    if (d < 0 || d >= rank || seen[d]) {
      fail(errc::invalid_argument, which + ".order is not a permutation of the dimensions", text_of(order),
           "give each of 0 to " + std::to_string(rank - 1) + " once");
    }
    seen[d] = true;
    side.order[i] = static_cast<int>(d);
  }
}

void take_parts(team_side& side, const dims& parts, int rank, int size, const std::string& which) {
  require_one_each(parts, rank, which + ".parts");
  std::int64_t product = 1;
  for (int d = 0; d < rank; ++d) {
    side.parts[d] = parts[d];
    require(parts[d] >= 1, which + ".parts has a number below 1", "a dimension that is not cut has one part", "give 1");
    product = std::min<std::int64_t>(checked_product(product, parts[d], which + ".parts"), std::int64_t{1} << 40);
  }
  if (product != size) {
    fail(errc::invalid_argument, which + ".parts does not multiply to the team's size",
         text_of(parts) + " on " + std::to_string(size) + " ranks", "give parts whose product is the size");
  }
}

void take_lds(team_side& side, const team_layout& layout, const dims& lds, const std::string& which) {
  if (lds.size() == 0) return;
  require_one_each(lds, layout.rank, which + ".lds");
  for (int i = 1; i < layout.rank; ++i) {
    const int d = side.order[i];
    const std::int64_t most = first_of_part(layout.extents[d], side.parts[d], 1);
    side.lds[i] = lds[i];
    if (lds[i] == 0 || lds[i] >= most) continue;
    fail(errc::invalid_argument, which + ".lds is too small",
         std::to_string(lds[i]) + ", but the largest part has " + std::to_string(most) + " indices along dimension " +
             std::to_string(d),
         "enlarge it");
  }
}

team_side checked_side(const team_layout& layout, const distribution& lies, const std::string& which) {
  team_side side{};
  take_parts(side, lies.parts, layout.rank, layout.size, which);
  take_order(side, lies.order, layout.rank, which);
  take_lds(side, layout, lies.lds, which);
  return side;
}

// The largest member's memory fits 63 bits, and so do all offsets into it.
void require_memory_fits(const team_layout& layout, const team_side& side, const std::string& which) {
  std::int64_t bytes = layout.element_bytes;
  for (int i = 0; i < layout.rank; ++i) {
    const int d = side.order[i];
    const std::int64_t own = first_of_part(layout.extents[d], side.parts[d], 1);
    bytes = checked_product(bytes, std::max({std::int64_t{1}, own, side.lds[i]}), which + ": a part's size in bytes");
  }
}

}  // namespace

team_layout checked_layout(int size, std::int64_t element_bytes, const global_shape& shape) {
  require_element_bytes(element_bytes, largest_element_bytes);
  team_layout layout{};
  layout.rank = shape.extents.size();
  layout.size = size;
  layout.element_bytes = element_bytes;
  require(layout.rank >= 1, "no extents", "the array has no dimension", "give 1 to 8 of them");
  std::copy(shape.extents.begin(), shape.extents.end(), layout.extents);
  for (const std::int64_t extent : shape.extents) require_extent(extent, "an extent");
  layout.in = checked_side(layout, shape.in, "in");
  layout.out = checked_side(layout, shape.out, "out");
  require_memory_fits(layout, layout.in, "in");
  require_memory_fits(layout, layout.out, "out");
  return layout;
}

std::int64_t span_of(const team_layout& layout, const team_side& side, int member) {
  const index_box box = box_of(layout, side, member);
  if (is_empty(box, layout.rank)) return 0;
  std::int64_t strides[most_dims], last = 0;
  strides_of(layout, side, box, strides);
  for (int d = 0; d < layout.rank; ++d) last += (box.extent[d] - 1) * strides[d];
  return last + 1;
}

}  // namespace detail

local_part part_of(const dims& extents, const distribution& lies, int rank) {
  return detail::in_call("part_of", [&] {
    std::int64_t size = 1;
    for (const std::int64_t parts : lies.parts) size = detail::checked_product(size, parts, "parts");
    detail::require(size >= 1 && size <= INT32_MAX, "no such team", "a team has 1 to 2^31 - 1 ranks",
                    "give other parts");
    detail::require(rank >= 0 && rank < size, "no such rank", "parts has fewer", "give one from 0 on");
    const detail::team_layout layout = detail::checked_layout(static_cast<int>(size), 1, {extents, lies, lies});
    const detail::index_box box = box_of(layout, layout.in, rank);
    std::int64_t strides[detail::most_dims] = {};
    strides_of(layout, layout.in, box, strides);
    const auto count = static_cast<std::size_t>(layout.rank);
    return local_part{{box.first, count}, {box.extent, count}, {strides, count}, span_of(layout, layout.in, rank)};
  });
}

}  // namespace twill
