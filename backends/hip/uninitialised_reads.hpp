#pragma once

namespace twill::hip {

/// For the checks of simulated devices (backends/simt/uninitialised_reads.hpp); nothing on a GPU.
__device__ inline void allow_uninitialised_reads() {}

}  // namespace twill::hip
