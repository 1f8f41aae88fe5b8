#pragma once

#include "ladder/operations.hpp"

namespace twill::cpu {

// One line a ladder; each is defined in the file of its operation.
detail::table_view<detail::transpose_rung_entry> transpose_ladder();
detail::table_view<detail::reduce_rung_entry> reduce_ladder();
detail::table_view<detail::array_rung_entry> array_ladder();

/// The ladders of the CPU.
const detail::ladder_table& ladders();

/// The public sieve; `sieve_in_runs` on the calling thread alone, or on all.
void sieve(const detail::work_queue& queue, const detail::sieve_args& args);
void sieve_in_runs(const detail::work_queue& queue, const detail::sieve_args& args, bool alone);

}  // namespace twill::cpu
