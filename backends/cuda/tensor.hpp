#pragma once

// Where cuTENSOR 2 has what the reference rung of permutations needs. Nothing of it is needed to build.

#include <string>
#include <string_view>
#include <vector>

namespace twill::cuda::tensor {

inline constexpr std::string_view rung_name = "cutensor";
inline constexpr std::string_view source = "NVIDIA, cuTENSOR";

/// File names to try.
inline std::vector<std::string> libraries() {
  return {"libcutensor.so.2"};
}

inline constexpr const char* create = "cutensorCreate";
inline constexpr const char* create_tensor = "cutensorCreateTensorDescriptor";
inline constexpr const char* destroy_tensor = "cutensorDestroyTensorDescriptor";
inline constexpr const char* create_permutation = "cutensorCreatePermutation";
inline constexpr const char* destroy_operation = "cutensorDestroyOperationDescriptor";
inline constexpr const char* create_preference = "cutensorCreatePlanPreference";
inline constexpr const char* destroy_preference = "cutensorDestroyPlanPreference";
inline constexpr const char* create_plan = "cutensorCreatePlan";
inline constexpr const char* destroy_plan = "cutensorDestroyPlan";
inline constexpr const char* permute = "cutensorPermute";
inline constexpr const char* compute_float = "CUTENSOR_COMPUTE_DESC_32F";
inline constexpr const char* compute_double = "CUTENSOR_COMPUTE_DESC_64F";

// CUDA_R_16F, CUDA_R_32F, CUDA_R_64F, CUDA_C_64F
inline constexpr int half_type = 2, float_type = 0, double_type = 1, complex_type = 5;
inline constexpr int identity = 1;            // CUTENSOR_OP_IDENTITY
inline constexpr int default_algorithm = -1;  // CUTENSOR_ALGO_DEFAULT
inline constexpr int no_jit = 0;              // CUTENSOR_JIT_MODE_NONE

}  // namespace twill::cuda::tensor
