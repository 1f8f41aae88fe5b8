#pragma once

#include <cstddef>

#include <twill/export.hpp>
#include <twill/stream.hpp>

struct ihipStream_t;  // what hipStream_t points to on AMD
struct CUstream_st;   // and on HIP's NVIDIA platform

namespace twill::hip {

/// A stream of the application, for Twill to work in. nullptr is HIP's default stream.
/// `ordinal` is the HIP device that the stream belongs to; -1 is the calling thread's current device.
/// Memory: nothing is owned; the stream must outlive its use. Pointers from hipMalloc are used as they are.
/// Throws: no_device when this build has no hip backend or there is no such device.
TWILL_API stream_ref borrow(ihipStream_t* stream, int ordinal = -1);
/// The same on HIP's NVIDIA platform.
TWILL_API stream_ref borrow(CUstream_st* stream, int ordinal = -1);
/// The default stream.
TWILL_API stream_ref borrow(std::nullptr_t, int ordinal = -1);

}  // namespace twill::hip
