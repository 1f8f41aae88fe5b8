#pragma once

// What the calls of reduce ask of a backend.

#include <cstdint>

#include <twill/reduce.hpp>

#include "backends/backend.hpp"

namespace twill::detail {

/// What a reduction makes one result of.
enum class reduce_over { rows, columns, segments };

/// A reduction with at least one result; types and operation fit together.
struct reduce_args {
  reduce_over over;
  reduce_op op;
  element_type in_type, out_type;
  const void* in;
  void* out;
  std::int64_t rows, cols, ld;  ///< segments: rows alone
  const std::int64_t* offsets;
  void* scratch;  ///< tickets of reduce_ticket_bytes, then partial results (reduce/scratch.hpp)
  std::int64_t scratch_bytes;
  bool cleared_scratch;  ///< the tickets are zero; a reduction leaves them so
};
inline constexpr std::size_t reduce_ticket_bytes = 16384;
/// Enough for any shape on any device.
inline constexpr std::size_t reduce_scratch_limit = std::size_t{8} << 20;

/// The reduction of one backend (src/operations).
struct reduce_operations {
  void (*reduce)(const work_queue&, const reduce_args&);
};

}  // namespace twill::detail
