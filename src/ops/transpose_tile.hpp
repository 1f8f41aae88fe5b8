#pragma once

#include "backends/operations.hpp"

namespace twill::TWILL_BACKEND {

/// Whether register blocks of aligned chunks serve this matrix. `alignment`: of all rows of both sides,
/// in bytes, at most 16.
bool tile_serves(const detail::transpose_args& args, std::int64_t alignment);

/// Only where tile_serves().
void start_tile(const detail::work_queue& queue, const detail::transpose_args& args);

}  // namespace twill::TWILL_BACKEND
