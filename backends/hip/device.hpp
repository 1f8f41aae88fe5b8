#pragma once

// What kernels are written in, for HIP. backends/cuda and backends/simt give the same names the same meaning.

#include <hip/hip_runtime.h>

#if defined(__HIP_PLATFORM_NVIDIA__)

// nvcc compiles this platform: its device language is CUDA's.
#include "backends/cuda/device.hpp"

namespace twill::hip {
using cuda::any_lane, cuda::argument_after, cuda::argument_unroll;
using cuda::atomic_add, cuda::atomic_cas, cuda::atomic_exchange, cuda::atomic_max, cuda::atomic_min, cuda::atomic_or;
using cuda::begin_copy_to_shared, cuda::copies_are_asynchronous, cuda::copy_cache, cuda::end_copy_to_shared;
using cuda::blocks_at_once;
using cuda::byte_permute, cuda::make_word16, cuda::prefetch, cuda::word, cuda::word16;
using cuda::dynamic_shared;
using cuda::float_from_half, cuda::half_from_float;
using cuda::funnel_shift;
using cuda::has_packed_min, cuda::packed_min;
using cuda::load_acquire, cuda::load_prefetch_l2, cuda::load_relaxed, cuda::load_relaxed_pair;
using cuda::prefers_index_to_ticket;
using cuda::rounded_down;
using cuda::shuffle, cuda::shuffle_down, cuda::shuffle_up, cuda::shuffle_xor;
using cuda::store_relaxed, cuda::store_relaxed_pair, cuda::store_release, cuda::take_ticket, cuda::thread_fence;
using cuda::trigger_dependent_launch, cuda::wait_for_copies, cuda::wait_for_previous_kernel;
}  // namespace twill::hip

#else

#include "amd_device.hpp"

#endif
