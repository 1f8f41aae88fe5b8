#pragma once

#include "move/operations.hpp"

namespace twill::cpu {

/// Whether matrices go from the input to the output without a composite tile: narrow ones, those whose output rows are
/// whole lines, and those that stay in the caches.
bool transposes_directly(const detail::transpose_args& args);
void transpose_directly(const detail::work_queue& queue, const detail::transpose_args& args);

}  // namespace twill::cpu
