#pragma once

// Candidates of the kernels that transpose matrices: all that apply to a shape, each with its cost.

#include <cstdint>
#include <optional>

#include "candidates.hpp"

namespace twill::detail {

/// A launch, and a little more of a copy's time than matrices of full vectors take: no other tile is cheaper.
cost_of_launch least_of_tiles(std::int64_t element_bytes);

/// The short and the long side of a matrix; tall ones have few columns, wide ones few rows.
struct narrow_sides {
  bool tall;
  std::int64_t short_side, long_side;
};
inline narrow_sides narrow_sides_of(const transpose_args& a) {
  return a.cols <= a.rows ? narrow_sides{true, a.cols, a.rows} : narrow_sides{false, a.rows, a.cols};
}

/// Whether staged applies: batches of small packed matrices of 1-byte elements, 16-byte aligned. `out` may be `in`.
bool is_staged(const transpose_args& args, const device_model& device);

/// Whether staged_misaligned applies: batches of packed matrices of 1, 2, 4, 8 or 16 bytes. `out` may be `in`.
bool is_staged_misaligned(const transpose_args& args, const device_model& device);

/// The fewest rows at which staged_misaligned may gather the words of 1-byte elements in different orders: the elements
/// of a 16-byte vector.
constexpr int least_reordered_rows = 16;

/// How many matrices a block of staged_misaligned takes.
std::int64_t staged_at_once(const transpose_args& args, const device_model& device);

/// Whether staged_rows transposes blocks in registers: packed rows of up to four full aligned vectors.
bool has_staged_blocks(const transpose_args& args, std::int64_t shared_bytes);

// Shared memory of blocks, which the kernels check against their own sizes.
constexpr std::int64_t tile_bytes_4byte = 8320;     // tiled_4byte, of 1 byte
constexpr std::int64_t most_staged_blocks = 16896;  // staged_rows, in registers
constexpr std::int64_t staged_window_bytes = 4096;  // staged

// staged_cols: the minimum of rows; bytes of a row of a band of so many vectors. In shared memory there is padding
// behind each row, and a pad behind each 16 / size rows: the vectors that lanes gather begin so many rows from each
// other, which would lie in few banks.
constexpr int least_band_rows = 9, band_pad = 16;
constexpr int band_bytes(int vectors) {
  return (vectors - 1) * 16;
}
constexpr std::int64_t bytes_of_band(std::int64_t rows, std::int64_t size, int vectors) {
  return rows * (vectors + 1) * 16 + rows * size / 16 * band_pad;
}

/// Resident threads of staged_cols on a multiprocessor, limited by registers (with asynchronous copies).
constexpr int resident_band_threads(std::int64_t size) {
  return size == 1 ? 1024 : size == 2 ? 1536 : 2048;
}

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

struct band_shape {
  int vectors, threads;
  double factor;  ///< of a copy's time (staged_cols_costs)
};

/// The fewest threads of a block: all bands of 32 vectors have these.
constexpr int least_band_threads(std::int64_t size) {
  return size == 1 ? 128 : 256;
}

/// A tile of staged-rows writes 16 << this many bytes of each output row: more bytes where there are few output rows,
/// fewer where there are many.
constexpr int staged_rows_shift(std::int64_t cols) {
  return cols <= 8 ? 7 : cols <= 64 ? 5 : 4;
}

/// Requires that a band of 8 vectors fits in a third of shared memory. The first blocks that a band fits in, and the
/// width (32, 16 or 8 vectors) that copies the fewest vectors in total while there are enough bands.
band_shape shape_of_bands(const transpose_args& args, const device_model& device);

}  // namespace twill::detail
