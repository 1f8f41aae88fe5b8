#pragma once

// The part of a reduction's tree that depends on the shape: the same on every backend.

#include <algorithm>
#include <cstdint>

namespace twill::detail {

/// How the columns of a matrix are reduced: see src/reduce/gpu/columns.hpp.
struct column_tree {
  int fold = 1;             ///< rows without gaps that count as one, so that it fills vectors: a power of two
  int lanes = 1;            ///< vectors of 16 bytes that a tile is wide, a power of two
  int batches = 1;          ///< eights of rows that a part of a chunk combines
  std::int64_t chunks = 1;  ///< of rows
  std::int64_t tiles = 1;   ///< of columns
  std::int64_t width = 1;   ///< vectors that the columns fill
  int parts() const { return 256 / lanes; }

  /// Where the rows of each part are aligned alike, lanes read aligned vectors that begin up to one before the tile,
  /// which is a vector narrower then.
  bool shiftable(int slots) const { return lanes > 1 && lanes * slots <= 256; }
  std::int64_t shifted_tiles() const { return (width + lanes - 2) / (lanes - 1); }
};

/// About how many chunks of tiles there are: at most twice as many.
inline constexpr std::int64_t usual_column_chunks = 3000;
/// Tiles that few rows are cut into, at least.
inline constexpr std::int64_t usual_tiles = 512;
/// Bytes of partial results that a thread loads at once; it combines twice as many.
inline constexpr int column_chunk_bytes = 128;

/// A matrix of `cols` elements a row, `slots` a vector.
struct column_shape {
  std::int64_t rows, cols;
  int slots;
  bool contiguous;  ///< rows follow each other without gaps
};

/// How many rows count as one: their columns have a thread each, and are combined at the end.
inline int column_fold(const column_shape& s) {
  if (!s.contiguous || s.cols > 256) return 1;
  int fold = 1;
  while (fold * s.cols % s.slots != 0) fold *= 2;
  return fold * s.cols <= 256 && s.rows >= 64 * fold ? fold : 1;
}

inline column_tree tree_of_columns(const column_shape& s, std::int64_t usual_chunks = usual_column_chunks) {
  const auto ceil_div = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  column_tree tree;
  tree.fold = column_fold(s);
  const std::int64_t rows = s.rows / tree.fold, width = ceil_div(s.cols * tree.fold, s.slots);
  const int widest = 256 / s.slots;  // a column a thread
  while (tree.lanes < widest && tree.lanes < width) tree.lanes *= 2;
  // 32 lanes read full lines; more leave fewer parts, for few rows. Folds have one tile.
  while (tree.lanes > 32 && tree.fold == 1 && std::int64_t{8} * tree.parts() < rows) tree.lanes /= 2;
  // Parts of at most 4 rows: fewer of them, as long as there are tiles for all multiprocessors.
  while (tree.parts() > 1 && rows <= std::int64_t{4} * tree.parts() && width / (2 * tree.lanes) >= usual_tiles) {
    tree.lanes *= 2;
  }
  tree.width = width;
  tree.tiles = ceil_div(width, tree.lanes);
  const std::int64_t batches = std::max<std::int64_t>(1, ceil_div(rows, std::int64_t{8} * tree.parts()));
  const std::int64_t all = std::min(tree.tiles, std::int64_t{1} << 40) * batches;
  tree.batches = static_cast<int>(std::min(batches, ceil_div(all, usual_chunks)));
  tree.chunks = ceil_div(batches, tree.batches);
  return tree;
}

/// The tree of exact operations. Their values have up to 16 bytes, so that half as many partial results fit. Two blocks
/// a multiprocessor suffice, and the fewer chunks, the less there is to combine.
inline column_tree tree_of_exact_columns(const column_shape& s, int multiprocessors) {
  constexpr std::int64_t most = usual_column_chunks / 2;
  return tree_of_columns(s, std::clamp<std::int64_t>(std::int64_t{2} * multiprocessors, 1, most));
}

/// Partial results of all levels, at most: `slots` a lane, each of `value_bytes`; none where a tile has one chunk.
inline std::int64_t column_partials(const column_tree& tree, int slots, int value_bytes) {
  const std::int64_t width = std::int64_t{tree.lanes} * slots;
  const std::int64_t group = 2 * (column_chunk_bytes / value_bytes) * (256 / width);
  std::int64_t values = 0;
  for (std::int64_t members = tree.chunks; members > 1; members = (members + group - 1) / group) {
    values += (tree.shiftable(slots) ? tree.shifted_tiles() : tree.tiles) * members * width;
  }
  return values;
}

}  // namespace twill::detail
