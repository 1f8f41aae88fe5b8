#pragma once

// The constants of what kernels of transposed matrices cost (transposes.cpp).

namespace twill::detail {

/// Microseconds of a launch; `factor`: its time in copies if memory is busy for one; `memory`: for how many it is busy.
struct cost_of_launch {
  double launch, factor, memory = 1;
};

/// Microseconds of a launch behind another one, and factors of a copy's time, for elements of 1, 2, 4, 8 and 16 bytes.
/// Fitted to the times of 4,900 random transposes and permutations by every kernel that can move them, on an H200
/// (docs/planner.md); what depends on the shape is in the function of the kernel, its own factors for
/// each size last. Where few cases were drawn (16 bytes) neighbours give them, but for staged_misaligned.
struct kernel_cost {
  double launch[5], factor[5], more[5];
  double small[5] = {};  // launch of the smallest arrays; 0: the same
};
inline constexpr kernel_cost narrow_cost{{1.64, 1.7, 1.7, 1.65, 1.65}, {1.04, 1.03, 1.035, 1.05, 1.04}, {}};
inline constexpr kernel_cost tiled_2d_cost{{2.25, 2.05, 1.89, 1.82, 2.25}, {1.108, 1.074, 1.064, 1.082, 1.065}, {}};
inline constexpr kernel_cost tiled_4byte_cost{
    {1.57, 1.74, 1.45, 1.56, 1.56}, {1.06, 0.962, 1.124, 1, 1}, {}, {1.93, 1.8, 1.7}};
inline constexpr kernel_cost staged_cost{{3.1}, {1.11}, {}, {2.9}};
/// From 2 bytes on, refitted to 117 batches (docs/planner.md).
inline constexpr kernel_cost staged_misaligned_cost{{5.2, 2.7, 2.46, 2.13, 2.2},
                                                    {1.185, 1.026, 1.033, 1.021, 1.013},
                                                    {1.5, 0.49, 0.22, 0.78, 0.41},
                                                    {2.4, 2.1, 2.1, 2.1, 2.1}};
/// Of 1 byte, from least_reordered_rows on.
inline constexpr kernel_cost staged_many_rows_cost{{3.9}, {1.045}, {0.61}, {2.4}};
inline constexpr kernel_cost staged_rows_cost{
    {3.48, 2.9, 2.24, 2.12, 2.1}, {1.098, 1.036, 1.059, 1.061, 1}, {0.28, 0.29, 0.2, 0.16, 0}};

/// Blocks of staged-cols: threads, the share of shared memory that a band may take, and factors of bands of 32, 16 and
/// 8 vectors; 0: this width is not taken with these blocks. `small`: added for a band of 1000 bytes, falls with the
/// square of its bytes.
struct band_blocks {
  int threads;
  double share, factor[3];
};
struct band_cost {
  double launch;
  band_blocks blocks[4];  // the first that a band fits in
  double crowded, small;
};
/// Of 1, 2 and 4 bytes. Registers limit a multiprocessor to 1024, 1536 and 2048 threads: together their bands take at
/// most half of shared memory by blocks of 128 threads, 8/13 and 8/11 by those of 256 (1 byte), 6/10 and 9/11 by 256
/// and 512 (2 bytes), 8/10 by 256 (4 bytes). The rest is L1. The last blocks of a size have no such limit: a band takes
/// up to a third (is_staged_cols).
inline constexpr band_cost staged_cols_costs[3] = {
    {3.65,
     {{128, 1.0 / 16, {0.993, 0.983, 1.014}},
      {256, 2.0 / 13, {0, 1.083, 1.158}},
      {256, 2.0 / 11, {0, 0, 1.158}},
      {512, 1, {0, 0, 1.261}}},
     0.51,
     8.1},
    {2.68,
     {{256, 1.0 / 10, {1.028, 1.062, 1.085}}, {512, 3.0 / 11, {0, 1.093, 1.193}}, {512, 1, {0, 0, 1.193}}},
     0.49,
     8.6},
    {2.43, {{256, 1.0 / 10, {1.03, 1.032, 1.071}}, {512, 1, {0, 0, 1.123}}}, 0.36, 4.6}};

/// Factors of misaligned-2d for what it issues and moves. `partial`: tiles that are filled in part; `narrow`: rows
/// shorter than what a warp loads, which are loaded element by element.
struct misaligned_cost {
  double small, launch, issued, moved, around, partial, narrow;
};
inline constexpr misaligned_cost misaligned_2d_costs[5] = {{2.5, 3.62, 0.464, 0.927, 0.157, 1, 2.49},
                                                           {2.3, 2.66, 0.454, 0.942, 0.19, 0.38, 1.76},
                                                           {2.2, 2.05, 0.382, 0.983, 0.1, 0.242, 2.36},
                                                           {2, 1.79, 0.466, 0.851, 0.115, 0.043, 1.16},
                                                           {2, 2, 1, 0.65, 0.15, 0, 1}};

}  // namespace twill::detail
