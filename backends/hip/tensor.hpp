#pragma once

// hipTensor is not used: its functions differ between releases. The names are those of backends/cuda/tensor.hpp.

#include <string>
#include <string_view>
#include <vector>

namespace twill::hip::tensor {

inline constexpr std::string_view rung_name = "hiptensor";
inline constexpr std::string_view source = "AMD, hipTensor";

/// None: the rung is not there.
inline std::vector<std::string> libraries() {
  return {};
}

inline constexpr const char* create = "";
inline constexpr const char* create_tensor = "";
inline constexpr const char* destroy_tensor = "";
inline constexpr const char* create_permutation = "";
inline constexpr const char* destroy_operation = "";
inline constexpr const char* create_preference = "";
inline constexpr const char* destroy_preference = "";
inline constexpr const char* create_plan = "";
inline constexpr const char* destroy_plan = "";
inline constexpr const char* permute = "";
inline constexpr const char* compute_float = "";
inline constexpr const char* compute_double = "";

inline constexpr int half_type = 2, float_type = 0, double_type = 1, complex_type = 5;
inline constexpr int identity = 1;
inline constexpr int default_algorithm = -1;
inline constexpr int no_jit = 0;

}  // namespace twill::hip::tensor
