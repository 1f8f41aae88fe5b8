#pragma once

// The data of arrays that lie over a team: an element is a function of its index in the whole array, so that what a
// redistribution leaves can be checked on each rank by itself.

#include <cstdint>
#include <string>

#include <twill/device.hpp>
#include <twill/global_transpose.hpp>

namespace twill::tool {

/// Writes a rank's part of the array to its device memory, which has no gaps, from several threads. Waits for the end.
void write_part(const device& on, const dims& extents, const twill::distribution& lies, int rank,
                std::int64_t element_bytes, void* memory);

/// Where the memory first differs from what `write_part` writes there; "" when nowhere.
std::string part_fault(const device& on, const dims& extents, const twill::distribution& lies, int rank,
                       std::int64_t element_bytes, const void* memory);

}  // namespace twill::tool
