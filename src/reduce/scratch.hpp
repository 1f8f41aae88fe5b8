#pragma once

// How much scratch a reduction needs: blocks that share a row, or a tile of columns, leave a partial result for each
// chunk of it.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "reduce/column_tree.hpp"
#include "reduce/operations.hpp"

namespace twill::detail {

/// Bytes of a row that one block reduces at once; shorter rows need no scratch.
inline constexpr std::int64_t reduce_chunk_bytes = std::int64_t{1} << 15;
/// Of the largest partial result: a complex number of doubles, or a key and its index.
inline constexpr std::int64_t reduce_partial_bytes = 16;

/// Scratch for rows of so many bytes; at least one row.
inline std::size_t reduce_rows_scratch(std::int64_t rows, std::int64_t row_bytes) {
  if (row_bytes <= reduce_chunk_bytes) return 0;
  const std::int64_t limit = reduce_scratch_limit - reduce_ticket_bytes;
  const std::int64_t chunks = (row_bytes - 1) / reduce_chunk_bytes + 1, most = limit / reduce_partial_bytes;
  const std::int64_t partials = chunks > most / rows ? most : rows * chunks;
  return reduce_ticket_bytes + static_cast<std::size_t>(partials * reduce_partial_bytes);
}

/// Scratch for at least one column.
inline std::size_t reduce_columns_scratch(reduce_op op, element_type type, const column_shape& shape,
                                          int multiprocessors) {
  const auto bytes = static_cast<int>(element_bytes(type));
  std::int64_t partials = 0;
  if (op <= reduce_op::product && type > element_type::u64) {
    const int value_bytes = std::max(4, bytes);
    partials = value_bytes * column_partials(tree_of_columns(shape), shape.slots, value_bytes);
  } else {
    const bool indexed = op == reduce_op::argmin || op == reduce_op::argmax;
    const int value_bytes = indexed && bytes >= 4 ? 16 : 8;
    const auto tree = tree_of_exact_columns(shape, multiprocessors);
    partials = value_bytes * column_partials(tree, shape.slots, value_bytes);
  }
  return partials == 0 ? 0 : reduce_ticket_bytes + static_cast<std::size_t>(partials);
}

}  // namespace twill::detail
