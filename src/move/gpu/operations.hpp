#pragma once

#include "move/operations.hpp"

namespace twill::TWILL_BACKEND {

// One line an operation; each is defined in the file of its name.
void transpose_in_place(const detail::work_queue& queue, const detail::transpose_in_place_args& args);
void permute(const detail::work_queue& queue, const detail::permute_args& args);
bool permute_with(const detail::work_queue& queue, const detail::permute_args& args, detail::family kind, bool dry_run);
void copy(const detail::work_queue& queue, const detail::pitched_rows& args);
void reverse(const detail::work_queue& queue, const detail::reverse_args& args);
void fill(const detail::work_queue& queue, const detail::fill_args& args);

}  // namespace twill::TWILL_BACKEND
