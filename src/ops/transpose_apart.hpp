#pragma once

#include "backends/operations.hpp"

namespace twill::TWILL_BACKEND {

/// Whether these are several tiny matrices with gaps, of which a block takes more than one. `alignment`: of all rows of
/// both sides, in bytes, at most 16.
bool apart_serves(const detail::transpose_args& args, std::int64_t alignment);
void start_apart(const detail::work_queue& queue, const detail::transpose_args& args, std::int64_t alignment);

/// The same of square matrices in place.
bool apart_serves(const detail::transpose_in_place_args& args, std::int64_t alignment);
void swap_apart(const detail::work_queue& queue, const detail::transpose_in_place_args& args, std::int64_t alignment);

}  // namespace twill::TWILL_BACKEND
