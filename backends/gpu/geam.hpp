#pragma once

// The reference rung of the transpose ladder: the vendor's BLAS, where its library is found at run time.

#include <mutex>

#include "backends/operations.hpp"
#include "native.hpp"

namespace twill::TWILL_BACKEND {

/// The BLAS handle of one open device. Made by the rung's first run, so that opening a device stays fast; destroyed
/// with the device.
class blas_handle {
 public:
  explicit blas_handle(int ordinal) noexcept : ordinal_(ordinal) {}
  ~blas_handle();
  blas_handle(const blas_handle&) = delete;
  blas_handle& operator=(const blas_handle&) = delete;

  /// out = transposed in, `repeats` times. Throws: unsupported, launch_failed.
  void transpose(native_stream stream, const detail::transpose_rung_args& args);

 private:
  int ordinal_;
  std::mutex mutex_;  // a handle has one stream at a time
  void* native_ = nullptr;
};

/// This backend's ladders, with the BLAS rung appended where its library is found, looked for once a process, and the
/// rungs of peers.hpp where the build has them.
const detail::ladder_table& ladders_with_blas() noexcept;

}  // namespace twill::TWILL_BACKEND
