#pragma once

#include "move/operations.hpp"

namespace twill::cpu {

// One line an operation; each is defined in the file of its name.
void transpose_in_place(const detail::work_queue& queue, const detail::transpose_in_place_args& args);
void permute(const detail::work_queue& queue, const detail::permute_args& args);
void copy(const detail::work_queue& queue, const detail::pitched_rows& args);
void reverse(const detail::work_queue& queue, const detail::reverse_args& args);
void fill(const detail::work_queue& queue, const detail::fill_args& args);

}  // namespace twill::cpu
