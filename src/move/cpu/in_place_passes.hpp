#pragma once

#include "move/operations.hpp"

namespace twill::cpu {

/// Rectangular matrices in place, by passes over rows and columns: needs scratch for the longer of a row and a column.
void transpose_by_passes(const detail::work_queue& queue, const detail::transpose_in_place_args& args);

}  // namespace twill::cpu
