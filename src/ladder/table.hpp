#pragma once

#include "backends/operations.hpp"

namespace twill::TWILL_BACKEND {

// One line a ladder; each is defined in the file of its operation.
detail::table_view<detail::transpose_rung_entry> transpose_ladder();
detail::table_view<detail::reduce_rung_entry> reduce_ladder();
detail::table_view<detail::array_rung_entry> array_ladder();

/// The ladders of this backend.
const detail::ladder_table& ladders();

}  // namespace twill::TWILL_BACKEND
