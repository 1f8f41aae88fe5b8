#pragma once

// The order in which blocks take the tiles of a batch of matrices. Down the input, tiles one after another complete the
// lines of output rows; across, those of input rows. Lines that two tiles share are read once if they are still in the
// cache: across is better for tall matrices, whose columns of tiles exceed it.

#include <cstdint>

#include "device.hpp"
#include "gpu/divider.hpp"

namespace twill::TWILL_BACKEND::kernels {

struct tile_order {
  divider inner, outer;  // tiles of a column, tiles of a row; across: the other way round
  unsigned swapped;      // all bits set: across
};

struct tile_index {
  unsigned down, across, matrix;
};

__device__ inline tile_index tile_at(const tile_order& order, unsigned place) {
  const unsigned line = divide(place, order.inner), matrix = divide(line, order.outer);
  const unsigned inner = place - line * order.inner.divisor, outer = line - matrix * order.outer.divisor;
  const unsigned swap = (inner ^ outer) & order.swapped;  // a branch would put the indices into vector registers on AMD
  return {inner ^ swap, outer ^ swap, matrix};
}

/// Whether a column of tiles exceeds the cache by what it fetches, `row_bytes` of each row, while a row of tiles fits.
inline bool is_across_better(std::int64_t cache_bytes, std::int64_t rows, std::int64_t row_bytes,
                             std::int64_t tile_rows, std::int64_t matrix_row_bytes) {
  // The rest holds what blocks write meanwhile, and second copies of lines: the L2 of an H200, on which the sixth was
  // measured, keeps them in both of its partitions. Blocks in flight span two rows of tiles.
  const std::int64_t held = cache_bytes / 6;
  return rows * row_bytes > held && 2 * tile_rows * matrix_row_bytes < held;
}

inline tile_order make_order(std::int64_t down, std::int64_t across, bool across_first) {
  return {make_divider(across_first ? across : down), make_divider(across_first ? down : across),
          across_first ? ~0u : 0u};
}

}  // namespace twill::TWILL_BACKEND::kernels
