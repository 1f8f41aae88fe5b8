#pragma once

#include <twill/global_transpose.hpp>

#include "team/plan/layout.hpp"

namespace twill::detail {

/// The layout of a shape on `size` members, everything checked that can be without the others. Throws:
/// invalid_argument.
team_layout checked_layout(int size, std::int64_t element_bytes, const global_shape& shape);

/// Elements from a member's first to its last in memory; 0 where it has none.
std::int64_t span_of(const team_layout& layout, const team_side& side, int member);

}  // namespace twill::detail
