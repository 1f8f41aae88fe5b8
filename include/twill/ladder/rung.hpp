#pragma once

#include <string_view>

namespace twill {

/// Threads of a block: x along the row, y down the rows. {0, 0} is the rung's own default.
struct block_shape {
  int x = 0;
  int y = 0;
};

/// What a rung leaves in the output, given an in of `rows` x `cols`, and tiles of `block.x` x `block.x` elements.
enum class rung_promise {
  copy,              ///< out = in
  transpose,         ///< out[c][r] = in[r][c]
  tiles_transposed,  ///< each tile transposed where it is; what leaves the matrix stays as in `in`
  tiles_moved,       ///< each tile moved to its transposed place, not transposed inside (edges: see the rung)
  result,            ///< what the operation's own result is, in full: the sum, the scan, the primes
  nothing,           ///< not to be looked at: a rung that shows a roof, such as `read`
};

/// One step of a teaching ladder: a kernel with a name and a reason.
struct rung {
  std::string_view op;      ///< "transpose"
  std::string_view name;    ///< "conflict-free"
  std::string_view lesson;  ///< one line: why it is faster, or slower, than the step before
  std::string_view source;  ///< author, year, title
  rung_promise promise = rung_promise::transpose;
  block_shape block;    ///< default block; {0, 0} where a block means nothing (memcpy, CPU rungs)
  bool is_step = true;  ///< false for references such as memcpy: no step speedup is counted over them
};

/// How to run a rung.
struct rung_options {
  block_shape block;  ///< threads a block
  int repeats = 1;    ///< times the kernel does its work, inside the kernel ("loop in kernel" of the seeds)
};

}  // namespace twill
