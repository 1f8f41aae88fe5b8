#pragma once

#include "backends/operations.hpp"
#include "ops/transpose_plan.hpp"

namespace twill::TWILL_BACKEND {

/// Whether these are many small packed matrices, of elements of 1, 2, 4, 8 or 16 bytes, from and to multiples of 16.
bool small_serves(const detail::transpose_args& args, const device_limits& limits);

/// Where small_serves(): how many of the first matrices may be transposed with `out` = `in`.
std::int64_t small_in_place(const detail::transpose_args& args);

/// Only where small_serves().
void start_small(const detail::work_queue& queue, const detail::transpose_args& args);

}  // namespace twill::TWILL_BACKEND
