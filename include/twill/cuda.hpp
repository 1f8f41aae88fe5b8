#pragma once

#include <twill/export.hpp>
#include <twill/stream.hpp>

struct CUstream_st;  // what cudaStream_t points to; declared here so that no vendor header is needed

namespace twill::cuda {

/// A stream of the application, for Twill to work in. nullptr is CUDA's legacy default stream.
/// `ordinal` is the CUDA device that the stream belongs to; -1 is the calling thread's current device.
/// Memory: nothing is owned; the stream must outlive its use. Pointers from cudaMalloc are used as they are.
/// Throws: no_device when this build has no cuda backend or there is no such device.
TWILL_API stream_ref borrow(CUstream_st* stream, int ordinal = -1);

}  // namespace twill::cuda
