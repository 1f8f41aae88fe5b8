#pragma once

// The part of a reduction's tree that depends on the shape: the same on every backend.

#include <algorithm>
#include <cstdint>

namespace twill::detail {

/// How the columns of a matrix are reduced: see src/reduce/gpu/columns.hpp.
struct column_tree {
  int lanes = 1;            ///< vectors of 16 bytes that a tile is wide, a power of two
  int batches = 1;          ///< eights of rows that a part of a chunk combines
  std::int64_t chunks = 1;  ///< of rows
  std::int64_t tiles = 1;   ///< of columns
  int parts() const { return 256 / lanes; }
};

/// About how many chunks of tiles there are: at most twice as many.
inline constexpr std::int64_t usual_column_chunks = 3000;
/// Bytes of partial results that a thread loads at once; it combines twice as many.
inline constexpr int column_chunk_bytes = 128;

/// `width`: lanes that the rows fill. `widest`: the most lanes of a tile.
inline column_tree tree_of_columns(std::int64_t rows, std::int64_t width, int widest,
                                   std::int64_t usual_chunks = usual_column_chunks) {
  const auto ceil_div = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  column_tree tree;
  while (tree.lanes < widest && tree.lanes < width) tree.lanes *= 2;
  // 32 lanes read full lines; more leave fewer parts, for few rows.
  while (tree.lanes > 32 && std::int64_t{8} * tree.parts() < rows) tree.lanes /= 2;
  tree.tiles = ceil_div(width, tree.lanes);
  const std::int64_t batches = std::max<std::int64_t>(1, ceil_div(rows, std::int64_t{8} * tree.parts()));
  const std::int64_t all = std::min(tree.tiles, std::int64_t{1} << 40) * batches;
  tree.batches = static_cast<int>(std::min(batches, ceil_div(all, usual_chunks)));
  tree.chunks = ceil_div(batches, tree.batches);
  return tree;
}

/// The tree of floating-point numbers of so many bytes.
inline column_tree tree_of_columns_of(std::int64_t rows, std::int64_t cols, std::int64_t element_bytes) {
  const std::int64_t a_vector = 16 / element_bytes;
  return tree_of_columns(rows, (cols + a_vector - 1) / a_vector, static_cast<int>(256 / a_vector));
}

/// The tree of exact operations, in vectors of `slots` elements or, where that is 0, in single elements. Their values
/// have up to 16 bytes, so that half as many partial results fit. In vectors two blocks a multiprocessor suffice, and
/// the fewer chunks, the less there is to combine.
inline column_tree tree_of_exact_columns(std::int64_t rows, std::int64_t cols, int slots, int multiprocessors) {
  constexpr std::int64_t most = usual_column_chunks / 2;
  if (slots == 0) return tree_of_columns(rows, cols, 128, most);
  const std::int64_t few = std::clamp<std::int64_t>(std::int64_t{2} * multiprocessors, 1, most);
  return tree_of_columns(rows, (cols + slots - 1) / slots, 256 / slots, few);
}

/// Partial results of all levels: `slots` a lane, each of `value_bytes`; none where a tile has one chunk.
inline std::int64_t column_partials(const column_tree& tree, int slots, int value_bytes) {
  const std::int64_t width = std::int64_t{tree.lanes} * slots;
  const std::int64_t group = 2 * (column_chunk_bytes / value_bytes) * (256 / width);
  std::int64_t values = 0;
  for (std::int64_t members = tree.chunks; members > 1; members = (members + group - 1) / group) {
    values += tree.tiles * members * width;
  }
  return values;
}

}  // namespace twill::detail
