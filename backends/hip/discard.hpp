#pragma once

namespace twill::hip {

/// For the checks of simulated devices (backends/simt/discard.hpp); nothing on a GPU.
__device__ inline void discards_unwritten() {}

}  // namespace twill::hip
