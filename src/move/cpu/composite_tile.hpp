#pragma once

// Tiles of a permutation on the CPU: as many dimensions of either side as make long runs of bytes there.

#include <cstdint>

#include "move/args.hpp"

namespace twill::cpu {

/// A tile has an extent in each dimension. Its two sides are composite dimensions: `rows`, the first ones of the
/// output, which follow each other in the tile's buffer; and `cols`, the first ones of the input, where they are
/// contiguous. A dimension is on at most one side; the others are walked.
struct composite_tile {
  std::int64_t extent[8];  ///< of each dimension, in the output's order
  std::int64_t count[8];   ///< tiles along it
  std::int64_t tiles, bytes;
  int input_order[8];  ///< dimensions by their distance in the input
  int row_dims;        ///< [0, row_dims) are the rows
  int col_dims;        ///< input_order[0, col_dims) are the columns
};

/// What a tile may have, so that tables of its rows and columns fit a task's memory.
inline constexpr std::int64_t most_tile_bytes = std::int64_t{64} << 10, most_side_elements = 1024;

composite_tile choose_tile(const detail::permute_args& a);

}  // namespace twill::cpu
