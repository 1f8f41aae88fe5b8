#pragma once

#include "backends/operations.hpp"

namespace twill::TWILL_BACKEND {

/// Whether the rows of these matrices are whole chunks, and a multiprocessor gets little of them. `alignment`: of all
/// rows of both sides, in bytes, at most 16.
bool quads_serve(const detail::work_queue& queue, const detail::transpose_args& args, std::int64_t alignment);

/// Only where quads_serve().
void start_quads(const detail::work_queue& queue, const detail::transpose_args& args);

}  // namespace twill::TWILL_BACKEND
