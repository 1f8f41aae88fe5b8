#pragma once

// The reference rung of permutations: the vendor's tensor library, where the build and the machine have it.

#include "ladder/operations.hpp"

namespace twill::TWILL_BACKEND {

/// Empty where the library is not found.
detail::table_view<detail::permute_rung_entry> tensor_library_rungs();

}  // namespace twill::TWILL_BACKEND
