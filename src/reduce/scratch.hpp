#pragma once

// How much scratch a reduction of rows needs: blocks that share a row leave a partial result for each chunk of it.

#include <algorithm>
#include <cstddef>
#include <cstdint>

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

}  // namespace twill::detail
