#pragma once

// Which channel (partition) of memory an address lies in.

#include <cstdint>

#include "machine.hpp"

namespace twill::simt::timing {

unsigned channel_of(const machine& on, std::uint64_t address);

}  // namespace twill::simt::timing
