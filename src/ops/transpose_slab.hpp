#pragma once

#include "backends/operations.hpp"

namespace twill::TWILL_BACKEND {

/// Whether these are packed rows of 9 to 256 columns of 1, 2, 4 and 8 byte elements, enough of them to keep the device
/// busy. `alignment`: of all rows of both sides, in bytes, at most 16.
bool slab_serves(const detail::work_queue& queue, const detail::transpose_args& args, std::int64_t alignment);

/// Only where slab_serves().
void start_slab(const detail::work_queue& queue, const detail::transpose_args& args);

}  // namespace twill::TWILL_BACKEND
