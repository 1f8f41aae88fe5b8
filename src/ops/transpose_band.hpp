#pragma once

#include "backends/operations.hpp"

namespace twill::TWILL_BACKEND {

/// Whether these are 9 to 96 rows of 1, 2 and 4 byte elements that become packed columns, long enough to keep the
/// device busy. `alignment`: of all rows of both sides, in bytes, at most 16.
bool band_serves(const detail::work_queue& queue, const detail::transpose_args& args, std::int64_t alignment);

/// Only where band_serves().
void start_band(const detail::work_queue& queue, const detail::transpose_args& args);

}  // namespace twill::TWILL_BACKEND
