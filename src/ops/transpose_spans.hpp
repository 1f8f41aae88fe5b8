#pragma once

#include "backends/operations.hpp"

namespace twill::TWILL_BACKEND {

/// Transposes many small matrices with gaps that lie close together, of elements of 1, 2, 4, 8 or 16 bytes aligned at
/// their size. False, and nothing is done, where they are too few, too large or too far apart.
bool transpose_by_spans(const detail::work_queue& queue, const detail::transpose_args& args, std::int64_t alignment);

/// The same for short rows that are copied.
bool copy_by_spans(const detail::work_queue& queue, const detail::copy_args& args);

}  // namespace twill::TWILL_BACKEND
