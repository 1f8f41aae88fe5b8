#include "kernel_code.hpp"

#include <algorithm>
#include <iterator>

namespace twill::simt::timing {
namespace {

// Written by scripts/kernel-instructions from the code that nvcc 13.0 makes for sm_90.
constexpr kernel_code codes[] = {
    {"coarse_grained<unsigned char, 32, 8>", 16, 141, 173},
    {"coarse_grained<unsigned int, 32, 8>", 16, 75, 114},
    {"coarse_grained<unsigned long, 32, 8>", 16, 76, 116},
    {"coarse_grained<unsigned short, 32, 8>", 16, 75, 114},
    {"copy<unsigned char, 32, 8>", 8, 54, 102},
    {"copy<unsigned int, 32, 8>", 8, 52, 115},
    {"copy<unsigned long, 32, 8>", 8, 49, 114},
    {"copy<unsigned short, 32, 8>", 8, 52, 115},
    {"copy_shared<unsigned char, 32, 8>", 16, 82, 112},
    {"copy_shared<unsigned int, 32, 8>", 16, 61, 103},
    {"copy_shared<unsigned long, 32, 8>", 16, 61, 103},
    {"copy_shared<unsigned short, 32, 8>", 16, 62, 104},
    {"fine_grained<unsigned char, 32, 8>", 16, 136, 170},
    {"fine_grained<unsigned int, 32, 8>", 16, 56, 108},
    {"fine_grained<unsigned long, 32, 8>", 16, 54, 107},
    {"fine_grained<unsigned short, 32, 8>", 16, 56, 108},
    {"naive_col<unsigned int, 32, 8>", 8, 37, 87},
    {"naive_col<unsigned long, 32, 8>", 8, 37, 87},
    {"naive_col<unsigned short, 32, 8>", 8, 37, 87},
    {"naive_row<unsigned char, 32, 8>", 8, 37, 99},
    {"naive_row<unsigned int, 32, 8>", 8, 38, 111},
    {"naive_row<unsigned long, 32, 8>", 8, 38, 111},
    {"naive_row<unsigned short, 32, 8>", 8, 38, 111},
    {"tiled<unsigned char, 32, 8, 0, false>", 16, 117, 159},
    {"tiled<unsigned char, 32, 8, 1, false>", 16, 121, 155},
    {"tiled<unsigned char, 32, 8, 1, true>", 16, 188, 221},
    {"tiled<unsigned int, 32, 8, 0, false>", 16, 77, 126},
    {"tiled<unsigned int, 32, 8, 1, false>", 16, 67, 123},
    {"tiled<unsigned int, 32, 8, 1, true>", 16, 182, 237},
    {"tiled<unsigned long, 32, 8, 0, false>", 16, 76, 124},
    {"tiled<unsigned long, 32, 8, 1, false>", 16, 69, 127},
    {"tiled<unsigned long, 32, 8, 1, true>", 16, 187, 236},
    {"tiled<unsigned short, 32, 8, 0, false>", 16, 77, 126},
    {"tiled<unsigned short, 32, 8, 1, false>", 16, 67, 123},
    {"tiled<unsigned short, 32, 8, 1, true>", 16, 185, 235},
    {"unrolled<unsigned char, 32, 8>", 16, 110, 148},
    {"unrolled<unsigned int, 32, 8>", 16, 57, 113},
    {"unrolled<unsigned long, 32, 8>", 16, 57, 114},
    {"unrolled<unsigned short, 32, 8>", 16, 57, 117},
};

// Written by scripts/kernel-instructions --steps --architecture SM from the code that nvcc 11.8 makes.
constexpr step_code steps_sm_90[] = {
    {"first_add", 5, 0, 2},           {"interleaved_divergent", 23, 5, 2},
    {"interleaved_strided", 7, 1, 4}, {"multiple_per_thread", 2, 0, 1},
    {"sequential", 5, 0, 2},          {"unroll_complete", 1, 0, 1},
    {"unroll_last_warp", 6, 0, 2},
};
constexpr step_code steps_sm_35[] = {
    {"first_add", 5, 0, 2},           {"interleaved_divergent", 21, 5, 2},
    {"interleaved_strided", 7, 1, 4}, {"multiple_per_thread", 2, 0, 1},
    {"sequential", 5, 0, 2},          {"unroll_complete", 1, 0, 1},
    {"unroll_last_warp", 7, 0, 2},
};
constexpr double accesses_of_step = 3;

// Code for sm_90 is close to that of the architectures since sm_70: 64-bit addresses, and the same instructions.
bool is_like_sm_90(std::string_view architecture) {
  if (architecture == "sm_100") return true;
  return architecture.substr(0, 3) == "sm_" && architecture.size() == 5 && architecture[3] >= '7';
}

// sm_35 is the oldest code that a compiler at hand makes, and taken for compute capability 1.x too: these loops compute
// with 32-bit integers, and even the code for sm_90 has the same instructions but for one or two.
bool is_like_sm_35(std::string_view architecture) {
  return architecture.size() == 5 && (architecture.substr(0, 4) == "sm_3" || architecture.substr(0, 4) == "sm_1");
}

template <class Table>
auto find(const Table& table, std::string_view kernel) {
  const auto* const found =
      std::find_if(std::begin(table), std::end(table), [&](const auto& each) { return each.kernel == kernel; });
  return found == std::end(table) ? nullptr : found;
}

}  // namespace

void count_instructions(std::string_view kernel, std::string_view architecture, machine& on) {
  const auto arguments = kernel.find('<');
  const auto colons = kernel.rfind("::", arguments);
  const auto first = colons == kernel.npos ? 0 : colons + 2;
  if (const auto* code = find(codes, kernel.substr(first)); code != nullptr && is_like_sm_90(architecture)) {
    on.startup_instructions = code->before_first;
    const double rest = code->in_all - code->before_first - code->accesses;
    on.address_instructions = on.shared_instructions = rest / (code->accesses - 1);
    on.barrier_instructions = 0;  // they are among the rest
  }
  const std::string_view name = kernel.substr(first, arguments - first);
  const step_code* const step = is_like_sm_90(architecture)   ? find(steps_sm_90, name)
                                : is_like_sm_35(architecture) ? find(steps_sm_35, name)
                                                              : nullptr;
  if (step != nullptr) {
    on.barrier_instructions = step->of_every_warp + step->slow * (on.slow_instructions - 1);
    on.shared_instructions = step->of_adding_warps / accesses_of_step;
  }
}

}  // namespace twill::simt::timing
