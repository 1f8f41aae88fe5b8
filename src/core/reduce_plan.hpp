#pragma once

// The part of a reduction's tree that depends on the shape: the same on every backend.

#include <algorithm>
#include <cstdint>

namespace twill::detail {

/// How the columns of a matrix are reduced: see src/kernels/reduce_columns.hpp.
struct column_tree {
  int lanes = 1;            ///< vectors of 16 bytes that a tile is wide, a power of two up to 32
  int batches = 1;          ///< eights of rows that a part of a chunk combines
  std::int64_t chunks = 1;  ///< of rows
  std::int64_t tiles = 1;   ///< of columns
  int parts() const { return 256 / lanes; }
};

/// About how many chunks of tiles there are at most: their partial results fit the scratch.
inline constexpr std::int64_t most_column_chunks = 1000;

inline column_tree tree_of_columns(std::int64_t rows, std::int64_t row_bytes) {
  const auto ceil_div = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  column_tree tree;
  const std::int64_t vectors = ceil_div(row_bytes, 16);
  while (tree.lanes < 32 && tree.lanes < vectors) tree.lanes *= 2;
  tree.tiles = ceil_div(vectors, tree.lanes);
  const std::int64_t at_once = std::int64_t{8} * tree.parts();
  const std::int64_t wanted = std::max<std::int64_t>(1, most_column_chunks / tree.tiles);
  tree.batches = static_cast<int>(std::max<std::int64_t>(1, ceil_div(rows, at_once * wanted)));
  tree.chunks = std::max<std::int64_t>(1, ceil_div(rows, at_once * tree.batches));
  return tree;
}

}  // namespace twill::detail
