#pragma once

#include "backends/operations.hpp"

namespace twill::TWILL_BACKEND {

/// Whether word tiles serve this matrix, and do it better than gathering. `alignment`: of all rows of both sides, in
/// bytes, at most 16.
bool words_serve(const detail::work_queue& queue, const detail::transpose_args& args, std::int64_t alignment);

/// Only where words_serve().
void start_words(const detail::work_queue& queue, const detail::transpose_args& args);

}  // namespace twill::TWILL_BACKEND
