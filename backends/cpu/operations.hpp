#pragma once

#include "backends/operations.hpp"

namespace twill::cpu {

// One line an operation and a ladder; each is defined in the file of its name.
void transpose(const detail::work_queue& queue, const detail::transpose_args& args);
void transpose_in_place(const detail::work_queue& queue, const detail::transpose_in_place_args& args);
void permute(const detail::work_queue& queue, const detail::permute_args& args);
void copy(const detail::work_queue& queue, const detail::copy_args& args);
void reverse(const detail::work_queue& queue, const detail::reverse_args& args);
void scan(const detail::work_queue& queue, const detail::scan_args& args);
void sieve(const detail::work_queue& queue, const detail::sieve_args& args);
/// `sieve` on the calling thread alone, or on all.
void sieve_in_runs(const detail::work_queue& queue, const detail::sieve_args& args, bool alone);
std::size_t scan_scratch(const detail::scan_args& args);
void reduce(const detail::work_queue& queue, const detail::reduce_args& args);
detail::table_view<detail::transpose_rung_entry> transpose_ladder();
detail::table_view<detail::reduce_rung_entry> reduce_ladder();
detail::table_view<detail::array_rung_entry> array_ladder();

}  // namespace twill::cpu
