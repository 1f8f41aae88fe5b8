#pragma once

// The reference rungs of reduce and scan: the vendor's own templates, where the build found their headers. Measured
// beside the library, never used by it.

#include "ladder/operations.hpp"

namespace twill::TWILL_BACKEND {

detail::table_view<detail::reduce_rung_entry> peer_reductions();
detail::table_view<detail::array_rung_entry> peer_scans();

}  // namespace twill::TWILL_BACKEND
