#pragma once

#include "backends/operations.hpp"

namespace twill::TWILL_BACKEND {

// One line an operation; each is defined in the file of its name.
void transpose(const detail::work_queue& queue, const detail::transpose_args& args);
void transpose_in_place(const detail::work_queue& queue, const detail::transpose_in_place_args& args);
void permute(const detail::work_queue& queue, const detail::permute_args& args);
void copy(const detail::work_queue& queue, const detail::copy_args& args);
void reverse(const detail::work_queue& queue, const detail::reverse_args& args);
void scan(const detail::work_queue& queue, const detail::scan_args& args);
void sieve(const detail::work_queue& queue, const detail::sieve_args& args);
std::size_t scan_scratch(const detail::scan_args& args);
void reduce(const detail::work_queue& queue, const detail::reduce_args& args);

/// The operations of this backend.
const detail::operation_table& operations();

}  // namespace twill::TWILL_BACKEND
