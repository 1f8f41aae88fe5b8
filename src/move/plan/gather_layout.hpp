#pragma once

// Where a gathering block's tile lies in shared memory.

#include <cstdint>

#include "gather.hpp"

namespace twill::detail {

/// Bytes of shared memory that input segments and tables take; false where the tile is too large. `vectors` is known.
bool lay_out(gather_plan& p, std::int64_t most_shared);

/// Moves segments and pads apart where the lanes of a warp would read different words of one bank.
void avoid_bank_conflicts(gather_plan& p, std::int64_t most_shared);

}  // namespace twill::detail
