#pragma once

#include "ladder/operations.hpp"

namespace twill::TWILL_BACKEND {

// One line a ladder; each is defined in the file of its operation.
detail::table_view<detail::transpose_rung_entry> transpose_ladder();
detail::table_view<detail::reduce_rung_entry> reduce_ladder();
detail::table_view<detail::array_rung_entry> array_ladder();

/// The rungs of this backend's kernels.
const detail::ladder_table& kernel_ladders();

/// The same, and the rungs of the vendor's libraries (geam.hpp, peers.hpp): on GPUs.
const detail::ladder_table& ladders();

/// The public sieve.
void sieve(const detail::work_queue& queue, const detail::sieve_args& args);

}  // namespace twill::TWILL_BACKEND
