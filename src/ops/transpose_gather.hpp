#pragma once

#include "backends/operations.hpp"

namespace twill::TWILL_BACKEND {

/// Serves every matrix. `alignment`: of all rows of both sides, in bytes, at most 16.
void start_gather(const detail::work_queue& queue, const detail::transpose_args& args, std::int64_t alignment);

}  // namespace twill::TWILL_BACKEND
