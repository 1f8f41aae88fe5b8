#pragma once

// The HIP runtime in Twill's words: a typed name for every call that backends/gpu makes. backends/cuda has the same.

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

#include <hip/hip_runtime_api.h>

#include <twill/error.hpp>

#include "backends/backend.hpp"
#include "backends/launch_config.hpp"

namespace twill::hip {

inline constexpr char backend_name[] = "hip";
#if defined(__HIP_PLATFORM_NVIDIA__)
inline constexpr char vendor_name[] = "NVIDIA";
#else
inline constexpr char vendor_name[] = "AMD";
#endif

using native_stream = hipStream_t;
using native_event = hipEvent_t;
using native_error = hipError_t;
using native_attribute = hipDeviceAttribute_t;

inline constexpr native_error native_success = hipSuccess;
inline constexpr native_error native_invalid_configuration = hipErrorInvalidConfiguration;
inline constexpr native_error native_invalid_value = hipErrorInvalidValue;

namespace attributes {
inline constexpr native_attribute max_threads_per_block = hipDeviceAttributeMaxThreadsPerBlock;
inline constexpr native_attribute multiprocessors = hipDeviceAttributeMultiprocessorCount;
inline constexpr native_attribute warp_size = hipDeviceAttributeWarpSize;
inline constexpr native_attribute cache_bytes = hipDeviceAttributeL2CacheSize;
inline constexpr native_attribute memory_clock_khz = hipDeviceAttributeMemoryClockRate;
inline constexpr native_attribute bus_bits = hipDeviceAttributeMemoryBusWidth;
}  // namespace attributes

// Errors

inline const char* error_name(native_error error) {
  return hipGetErrorName(error);
}
inline const char* error_text(native_error error) {
  return hipGetErrorString(error);
}

/// The calling thread's last error; clears it, unless it broke the context.
inline native_error last_error() {
  return hipGetLastError();
}

/// The device cannot run the code that this build holds.
inline bool means_no_code(native_error error) {
  return error == hipErrorNoBinaryForGpu || error == hipErrorInvalidDeviceFunction || error == hipErrorInvalidImage;
}

/// What an error is to a user of Twill. What is not listed went wrong on the device.
inline errc kind_of(native_error error) {
  switch (error) {
    case hipErrorOutOfMemory:
      return errc::out_of_memory;
    case hipErrorNoDevice:
    case hipErrorInvalidDevice:
    case hipErrorInsufficientDriver:
    case hipErrorNotInitialized:
      return errc::no_device;
    case hipErrorInvalidConfiguration:
    case hipErrorMissingConfiguration:
    case hipErrorInvalidDeviceFunction:
    case hipErrorInvalidImage:
    case hipErrorNoBinaryForGpu:
    case hipErrorInvalidKernelFile:
    case hipErrorSharedObjectInitFailed:
    case hipErrorLaunchOutOfResources:
      return errc::launch_failed;
    case hipErrorInvalidValue:
    case hipErrorInvalidPitchValue:
    case hipErrorInvalidMemcpyDirection:
    case hipErrorInvalidDevicePointer:
    case hipErrorInvalidHandle:
      return errc::invalid_argument;
    case hipErrorNotSupported:
    case hipErrorStreamCaptureUnsupported:
      return errc::unsupported;
    default:
      return errc::device_fault;
  }
}

// Devices

inline native_error device_count(int* count) {
  return hipGetDeviceCount(count);
}
inline native_error current_device(int* ordinal) {
  return hipGetDevice(ordinal);
}
inline native_error set_device(int ordinal) {
  return hipSetDevice(ordinal);
}
inline native_error memory(std::size_t* free_bytes, std::size_t* total_bytes) {
  return hipMemGetInfo(free_bytes, total_bytes);
}
inline native_error attribute(int* value, native_attribute which, int ordinal) {
  return hipDeviceGetAttribute(value, which, ordinal);
}

/// The shared memory (LDS) that a block may have when its kernel asks for it.
inline native_error shared_bytes_per_block(int* bytes, int ordinal) {
  const native_error error = attribute(bytes, hipDeviceAttributeMaxSharedMemoryPerBlock, ordinal);
#if defined(__HIP_PLATFORM_NVIDIA__)
  // HIP's headers of 5.x have no name for what an NVIDIA kernel gets on request.
  int on_request = 0;
  if (cudaDeviceGetAttribute(&on_request, cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal) == cudaSuccess) {
    *bytes = std::max(*bytes, on_request);
  }
#endif
  return error;
}

/// What only the runtime's property structure reports.
struct native_identity {
  std::string model, architecture;
  std::size_t memory_bytes = 0;
};

inline native_error identify(native_identity* identity, int ordinal) {
  hipDeviceProp_t all{};
  const native_error error = hipGetDeviceProperties(&all, ordinal);
  if (error != native_success) return error;
#if defined(__HIP_PLATFORM_NVIDIA__)
  const std::string architecture = "sm_" + std::to_string(all.major * 10 + all.minor);
#else
  const std::string full(all.gcnArchName);  // "gfx90a:sramecc+:xnack-"
  const std::string architecture = full.substr(0, full.find(':'));
#endif
  *identity = {all.name, architecture, all.totalGlobalMem};
  return error;
}

/// Transfers in a cycle of the clock that the driver reports. AMD's is the memory controller's: half the data rate of
/// HBM2, a quarter of HBM3's, a sixteenth of GDDR6's. 0 for architectures whose memory it does not settle.
inline int transfers_per_clock(const std::string& architecture) {
#if defined(__HIP_PLATFORM_NVIDIA__)
  return architecture.empty() ? 0 : 2;
#else
  constexpr std::string_view hbm2[] = {"gfx900", "gfx906", "gfx908", "gfx90a"};
  constexpr std::string_view hbm3[] = {"gfx940", "gfx941", "gfx942"};
  constexpr std::string_view gddr6[] = {"gfx1010", "gfx1012", "gfx1030", "gfx1031", "gfx1032", "gfx1034",
                                        "gfx1100", "gfx1101", "gfx1102", "gfx1200", "gfx1201"};
  const auto is_in = [&](const auto& list) {
    return std::find(std::begin(list), std::end(list), architecture) != std::end(list);
  };
  return is_in(hbm2) ? 2 : is_in(hbm3) ? 4 : is_in(gddr6) ? 16 : 0;
#endif
}

// Memory

inline native_error allocate(void** memory, std::size_t bytes) {
  return hipMalloc(memory, bytes);
}
inline native_error release(void* memory) {
  return hipFree(memory);
}

inline hipMemcpyKind native_direction(detail::copy_direction direction) {
  switch (direction) {
    case detail::copy_direction::host_to_device:
      return hipMemcpyHostToDevice;
    case detail::copy_direction::device_to_host:
      return hipMemcpyDeviceToHost;
    case detail::copy_direction::device_to_device:
      break;
  }
  return hipMemcpyDeviceToDevice;
}

inline native_error copy_async(void* to, const void* from, std::size_t bytes, detail::copy_direction direction,
                               native_stream stream) {
  return hipMemcpyAsync(to, from, bytes, native_direction(direction), stream);
}

/// `rows` rows of `row_bytes` bytes, each side with its own pitch in bytes.
inline native_error copy_pitched_async(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                       std::size_t row_bytes, std::size_t rows, detail::copy_direction direction,
                                       native_stream stream) {
  return hipMemcpy2DAsync(to, to_pitch, from, from_pitch, row_bytes, rows, native_direction(direction), stream);
}

inline native_error fill_async(void* to, unsigned char value, std::size_t bytes, native_stream stream) {
  return hipMemsetAsync(to, value, bytes, stream);
}

// Streams and events

/// A stream that does not wait for the default stream.
inline native_error create_stream(native_stream* stream) {
  return hipStreamCreateWithFlags(stream, hipStreamNonBlocking);
}
inline native_error destroy(native_stream stream) {
  return hipStreamDestroy(stream);
}
inline native_error synchronize(native_stream stream) {
  return hipStreamSynchronize(stream);
}

inline native_error create_event(native_event* event) {
  return hipEventCreate(event);
}
inline native_error destroy(native_event event) {
  return hipEventDestroy(event);
}
inline native_error synchronize(native_event event) {
  return hipEventSynchronize(event);
}
inline native_error record(native_event event, native_stream stream) {
  return hipEventRecord(event, stream);
}
inline native_error elapsed(float* milliseconds, native_event start, native_event end) {
  return hipEventElapsedTime(milliseconds, start, end);
}
/// Later work of `stream` starts after `event`.
inline native_error wait_event(native_stream stream, native_event event) {
  return hipStreamWaitEvent(stream, event, 0);
}

/// Whether work given to `stream` is captured in a graph instead of run.
inline native_error is_capturing(bool* capturing, native_stream stream) {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
#if defined(__HIP_PLATFORM_NVIDIA__)
  // HIP's headers of 5.x have no name for it.
  const native_error error = hipCUDAErrorTohipError(cudaStreamIsCapturing(stream, &status));
#else
  const native_error error = hipStreamIsCapturing(stream, &status);
#endif
  *capturing = status != hipStreamCaptureStatusNone;
  return error;
}

// Kernels

/// The call behind a triple-chevron launch. Unlike that, it returns this launch's own error.
inline native_error launch_kernel(const void* kernel, const detail::launch_config& config, void** arguments,
                                  native_stream stream) {
  const dim3 grid(config.grid.x, config.grid.y, config.grid.z), block(config.block.x, config.block.y, config.block.z);
  return hipLaunchKernel(kernel, grid, block, arguments, config.shared_bytes, stream);
}

/// HIP has no programmatic dependent launch.
inline native_error supports_dependent_launch(bool* supported, const void*) {
  *supported = false;
  return native_success;
}

/// Sets how much dynamic shared memory a launch of `kernel` may ask for on the current device.
inline native_error allow_dynamic_shared(const void* kernel, int bytes) {
  return hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

/// The shared memory that `kernel` declares itself.
inline native_error static_shared(std::size_t* bytes, const void* kernel) {
  hipFuncAttributes all{};
  const native_error error = hipFuncGetAttributes(&all, kernel);
  *bytes = all.sharedSizeBytes;
  return error;
}

}  // namespace twill::hip
