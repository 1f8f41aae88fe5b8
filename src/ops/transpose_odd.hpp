#pragma once

#include "backends/operations.hpp"
#include "ops/transpose_plan.hpp"

namespace twill::TWILL_BACKEND {

/// Starts the transpose of elements of 3, 5, 6, 7, 12 or 24 bytes. False, and nothing is started, where gathering
/// serves better: other sizes, elements off their natural alignment, batches of small matrices.
bool start_odd(const detail::work_queue& queue, const detail::transpose_args& args);

}  // namespace twill::TWILL_BACKEND
