#pragma once

// The reference rung of the transpose ladder: the vendor's BLAS, where its library is found at run time.

#include <mutex>

#include "ladder/operations.hpp"
#include "native.hpp"

namespace twill::TWILL_BACKEND {

/// The BLAS handle of one device.
class blas_handle {
 public:
  explicit blas_handle(int ordinal) noexcept : ordinal_(ordinal) {}
  blas_handle(const blas_handle&) = delete;
  blas_handle& operator=(const blas_handle&) = delete;

  /// out = transposed in, `repeats` times. Throws: unsupported, launch_failed.
  void transpose(native_stream stream, const detail::transpose_rung_args& args);

 private:
  int ordinal_;
  std::mutex mutex_;  // a handle has one stream at a time
  void* native_ = nullptr;
};

}  // namespace twill::TWILL_BACKEND
