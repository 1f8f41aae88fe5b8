#pragma once

// The CUDA runtime in Twill's words: a typed name for every call that backends/gpu makes. backends/hip has the same.

#include <cstddef>
#include <string>

#include <cuda_runtime_api.h>

#include <twill/error.hpp>

#include "backends/backend.hpp"
#include "backends/launch_config.hpp"

namespace twill::cuda {

inline constexpr char backend_name[] = "cuda";
inline constexpr char vendor_name[] = "NVIDIA";

using native_stream = cudaStream_t;
using native_event = cudaEvent_t;
using native_error = cudaError_t;
using native_attribute = cudaDeviceAttr;

inline constexpr native_error native_success = cudaSuccess;
inline constexpr native_error native_invalid_configuration = cudaErrorInvalidConfiguration;
inline constexpr native_error native_invalid_value = cudaErrorInvalidValue;

namespace attributes {
inline constexpr native_attribute max_threads_per_block = cudaDevAttrMaxThreadsPerBlock;
inline constexpr native_attribute multiprocessors = cudaDevAttrMultiProcessorCount;
inline constexpr native_attribute warp_size = cudaDevAttrWarpSize;
inline constexpr native_attribute cache_bytes = cudaDevAttrL2CacheSize;
inline constexpr native_attribute memory_clock_khz = cudaDevAttrMemoryClockRate;
inline constexpr native_attribute bus_bits = cudaDevAttrGlobalMemoryBusWidth;
}  // namespace attributes

// Errors

inline const char* error_name(native_error error) {
  return cudaGetErrorName(error);
}
inline const char* error_text(native_error error) {
  return cudaGetErrorString(error);
}

/// The calling thread's last error; clears it, unless it broke the context.
inline native_error last_error() {
  return cudaGetLastError();
}

/// The device cannot run the code that this build holds.
inline bool means_no_code(native_error error) {
  return error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction ||
         error == cudaErrorInvalidKernelImage || error == cudaErrorUnsupportedPtxVersion;
}

/// What an error is to a user of Twill. What is not listed went wrong on the device.
inline errc kind_of(native_error error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return errc::out_of_memory;
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
    case cudaErrorStubLibrary:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
      return errc::no_device;
    case cudaErrorInvalidConfiguration:
    case cudaErrorMissingConfiguration:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidKernelImage:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidPtx:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorJitCompilerNotFound:
    case cudaErrorSharedObjectInitFailed:
    case cudaErrorLaunchOutOfResources:
      return errc::launch_failed;
    case cudaErrorInvalidValue:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidResourceHandle:
      return errc::invalid_argument;
    case cudaErrorNotSupported:
    case cudaErrorStreamCaptureUnsupported:
      return errc::unsupported;
    default:
      return errc::device_fault;
  }
}

// Devices

inline native_error device_count(int* count) {
  return cudaGetDeviceCount(count);
}
inline native_error current_device(int* ordinal) {
  return cudaGetDevice(ordinal);
}
inline native_error set_device(int ordinal) {
  return cudaSetDevice(ordinal);
}
inline native_error memory(std::size_t* free_bytes, std::size_t* total_bytes) {
  return cudaMemGetInfo(free_bytes, total_bytes);
}
inline native_error attribute(int* value, native_attribute which, int ordinal) {
  return cudaDeviceGetAttribute(value, which, ordinal);
}

/// The shared memory that a block may have when its kernel asks for it.
inline native_error shared_bytes_per_block(int* bytes, int ordinal) {
  int plain = 0, on_request = 0;
  native_error error = attribute(&plain, cudaDevAttrMaxSharedMemoryPerBlock, ordinal);
  if (error == native_success) error = attribute(&on_request, cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal);
  *bytes = on_request > plain ? on_request : plain;
  return error;
}

/// What only the runtime's property structure reports.
struct native_identity {
  std::string model, architecture;
  std::size_t memory_bytes = 0;
};

inline native_error identify(native_identity* identity, int ordinal) {
  cudaDeviceProp all{};
  const native_error error = cudaGetDeviceProperties(&all, ordinal);
  if (error != native_success) return error;
  *identity = {all.name, "sm_" + std::to_string(all.major * 10 + all.minor), all.totalGlobalMem};
  return error;
}

/// Transfers in a cycle of the clock that the driver reports: two, double data rate.
inline int transfers_per_clock(const std::string&) {
  return 2;
}

// Memory

inline native_error allocate(void** memory, std::size_t bytes) {
  return cudaMalloc(memory, bytes);
}
inline native_error release(void* memory) {
  return cudaFree(memory);
}

inline cudaMemcpyKind native_direction(detail::copy_direction direction) {
  switch (direction) {
    case detail::copy_direction::host_to_device:
      return cudaMemcpyHostToDevice;
    case detail::copy_direction::device_to_host:
      return cudaMemcpyDeviceToHost;
    case detail::copy_direction::device_to_device:
      break;
  }
  return cudaMemcpyDeviceToDevice;
}

inline native_error copy_async(void* to, const void* from, std::size_t bytes, detail::copy_direction direction,
                               native_stream stream) {
  return cudaMemcpyAsync(to, from, bytes, native_direction(direction), stream);
}

/// `rows` rows of `row_bytes` bytes, each side with its own pitch in bytes.
inline native_error copy_pitched_async(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                       std::size_t row_bytes, std::size_t rows, detail::copy_direction direction,
                                       native_stream stream) {
  return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, row_bytes, rows, native_direction(direction), stream);
}

inline native_error fill_async(void* to, unsigned char value, std::size_t bytes, native_stream stream) {
  return cudaMemsetAsync(to, value, bytes, stream);
}

// Streams and events

/// A stream that does not wait for the default stream.
inline native_error create_stream(native_stream* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
}
inline native_error destroy(native_stream stream) {
  return cudaStreamDestroy(stream);
}
inline native_error synchronize(native_stream stream) {
  return cudaStreamSynchronize(stream);
}

inline native_error create_event(native_event* event) {
  return cudaEventCreate(event);
}
inline native_error destroy(native_event event) {
  return cudaEventDestroy(event);
}
inline native_error synchronize(native_event event) {
  return cudaEventSynchronize(event);
}
inline native_error record(native_event event, native_stream stream) {
  return cudaEventRecord(event, stream);
}
inline native_error elapsed(float* milliseconds, native_event start, native_event end) {
  return cudaEventElapsedTime(milliseconds, start, end);
}
/// Later work of `stream` starts after `event`.
inline native_error wait_event(native_stream stream, native_event event) {
  return cudaStreamWaitEvent(stream, event, 0);
}

/// Whether work given to `stream` is captured in a graph instead of run.
inline native_error is_capturing(bool* capturing, native_stream stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const native_error error = cudaStreamIsCapturing(stream, &status);
  *capturing = status != cudaStreamCaptureStatusNone;
  return error;
}

// Kernels

/// The call behind a triple-chevron launch. Unlike that, it returns this launch's own error.
inline native_error launch_kernel(const void* kernel, const detail::launch_config& config, void** arguments,
                                  native_stream stream) {
  const dim3 grid(config.grid.x, config.grid.y, config.grid.z), block(config.block.x, config.block.y, config.block.z);
#if CUDART_VERSION >= 12030
  if (config.dependent) {
    cudaLaunchAttribute programmatic{};
    programmatic.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    programmatic.val.programmaticStreamSerializationAllowed = 1;
    const cudaLaunchConfig_t all{grid, block, config.shared_bytes, stream, &programmatic, 1};
    return cudaLaunchKernelExC(&all, kernel, arguments);
  }
#endif
  return cudaLaunchKernel(kernel, grid, block, arguments, config.shared_bytes, stream);
}

/// Whether `kernel` may be launched as a programmatic dependent, in stream capture too (CUDA 12.3): its code must be
/// compiled for sm_90 or newer. That of an older architecture, compiled again by the driver, does not wait.
inline native_error supports_dependent_launch(bool* supported, const void* kernel) {
  *supported = false;
#if CUDART_VERSION >= 12030
  int driver = 0;
  cudaFuncAttributes all{};
  native_error error = cudaDriverGetVersion(&driver);
  if (error == native_success) error = cudaFuncGetAttributes(&all, kernel);
  *supported = error == native_success && driver >= 12030 && all.ptxVersion >= 90;
  return error;
#else
  static_cast<void>(kernel);
  return native_success;
#endif
}

/// Sets how much dynamic shared memory a launch of `kernel` may ask for on the current device.
inline native_error allow_dynamic_shared(const void* kernel, int bytes) {
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

/// The shared memory that `kernel` declares itself.
inline native_error static_shared(std::size_t* bytes, const void* kernel) {
  cudaFuncAttributes all{};
  const native_error error = cudaFuncGetAttributes(&all, kernel);
  *bytes = all.sharedSizeBytes;
  return error;
}

}  // namespace twill::cuda
