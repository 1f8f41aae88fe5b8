#pragma once

// Copies that are checked: what other calls that move data fall back to.

#include "core/call.hpp"

namespace twill::detail {

/// Copies at least one row, by the driver's copy or by a kernel, whichever is faster.
void copy_rows(stream_ref stream, const pitched_rows& rows, copy_direction direction);

}  // namespace twill::detail
