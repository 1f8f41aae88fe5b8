#pragma once

#include "backends/operations.hpp"

namespace twill::TWILL_BACKEND {

/// Whether the rows of this matrix are 1, 2 or 4 chunks of 16 bytes without gaps. `alignment`: of all rows of both
/// sides, in bytes, at most 16.
bool strip_serves(const detail::work_queue& queue, const detail::transpose_args& args, std::int64_t alignment);

/// Only where strip_serves().
void start_strip(const detail::work_queue& queue, const detail::transpose_args& args);

}  // namespace twill::TWILL_BACKEND
