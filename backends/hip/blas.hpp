#pragma once

// Where rocBLAS has what the reference rung needs. Nothing of it is needed to build.

#include <dlfcn.h>

#include <string>
#include <string_view>
#include <vector>

#include <hip/hip_runtime_api.h>

namespace twill::hip::blas {

inline constexpr std::string_view rung_name = "rocblas-geam";
inline constexpr std::string_view source = "AMD, rocBLAS";

/// File names to try. None on HIP's NVIDIA platform, where there is no rocBLAS.
inline std::vector<std::string> libraries() {
#if defined(__HIP_PLATFORM_NVIDIA__)
  return {};
#else
  return {"librocblas.so.5", "librocblas.so.4", "librocblas.so.3", "librocblas.so.0", "librocblas.so"};
#endif
}

/// A rocBLAS of another ROCm loads a second HIP runtime, to which our streams and devices mean nothing.
inline bool has_our_runtime(void* library) {
  return dlsym(library, "hipGetDevice") == dlsym(RTLD_DEFAULT, "hipGetDevice");
}

inline constexpr const char* create = "rocblas_create_handle";
inline constexpr const char* destroy = "rocblas_destroy_handle";
inline constexpr const char* set_stream = "rocblas_set_stream";
inline constexpr const char* geam4 = "rocblas_sgeam";
inline constexpr const char* geam8 = "rocblas_dgeam";
inline constexpr const char* geam16 = "rocblas_zgeam";

inline constexpr int keep = 111, transpose = 112;  // rocblas_operation_none, rocblas_operation_transpose

}  // namespace twill::hip::blas
