#pragma once

#include <cstdint>

#include <twill/device.hpp>

namespace twill::detail {

/// Checks the offsets of segments where the host can read device memory ("cpu", "simt"); kernels on a GPU take them as
/// they are. Throws: invalid_argument where the first is negative or one is less than the one before it.
void require_ascending_offsets(const device& on, const std::int64_t* offsets, std::int64_t count);

}  // namespace twill::detail
