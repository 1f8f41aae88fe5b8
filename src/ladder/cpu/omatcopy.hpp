#pragma once

#include "table.hpp"

namespace twill::cpu {

/// The reference rung of the CPU's transpose ladder: the out-of-place copy of OpenBLAS, one thread. Null where its
/// library is not found; it is looked for once a process.
const detail::transpose_rung_entry* omatcopy_rung() noexcept;

}  // namespace twill::cpu
