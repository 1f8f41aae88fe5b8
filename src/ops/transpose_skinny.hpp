#pragma once

#include "backends/operations.hpp"

namespace twill::TWILL_BACKEND {

/// Whether this matrix has a few columns without gaps, or a few rows that become columns without gaps, and its long
/// rows begin and end at multiples of 16 bytes.
bool skinny_serves(const detail::work_queue& queue, const detail::transpose_args& args);

/// Only where skinny_serves().
void start_skinny(const detail::work_queue& queue, const detail::transpose_args& args);

}  // namespace twill::TWILL_BACKEND
