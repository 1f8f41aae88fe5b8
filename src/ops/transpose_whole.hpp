#pragma once

#include "backends/operations.hpp"

namespace twill::TWILL_BACKEND {

/// Whether these are packed matrices of elements of 1, 2, 4, 8 and 16 bytes that fit in shared memory, enough to keep
/// the device busy. `alignment`: of all rows of both sides, in bytes, at most 16.
bool whole_serves(const detail::work_queue& queue, const detail::transpose_args& args, std::int64_t alignment);

/// Only where whole_serves().
void start_whole(const detail::work_queue& queue, const detail::transpose_args& args);

}  // namespace twill::TWILL_BACKEND
