#pragma once

// Where cuBLAS has what the reference rung needs. Nothing of it is needed to build.

#include <string>
#include <string_view>
#include <vector>

#include <cuda_runtime_api.h>

namespace twill::cuda::blas {

inline constexpr std::string_view rung_name = "cublas-geam";
inline constexpr std::string_view source = "NVIDIA, cuBLAS";

/// File names to try, the one that belongs to this build's runtime first.
inline std::vector<std::string> libraries() {
  return {"libcublas.so." + std::to_string(CUDART_VERSION / 1000), "libcublas.so.13", "libcublas.so.12",
          "libcublas.so.11"};
}

/// cuBLAS has its own copy of the runtime; both use the driver's one context of a device.
inline bool has_our_runtime(void*) {
  return true;
}

inline constexpr const char* create = "cublasCreate_v2";
inline constexpr const char* destroy = "cublasDestroy_v2";
inline constexpr const char* set_stream = "cublasSetStream_v2";
inline constexpr const char* geam4 = "cublasSgeam";
inline constexpr const char* geam8 = "cublasDgeam";
inline constexpr const char* geam16 = "cublasZgeam";

inline constexpr int keep = 0, transpose = 1;  // CUBLAS_OP_N, CUBLAS_OP_T

}  // namespace twill::cuda::blas
