#pragma once

// Moves the tiles of a permutation: a tile is gathered from the input into a buffer that lies as the output does, and
// leaves it in long runs, past the caches where the output is large. Meanwhile the next tile is prefetched.

#include <cstdint>

#include "backends/cpu/vector.hpp"
#include "backends/host/worker_pool.hpp"
#include "composite_tile.hpp"
#include "families.hpp"
#include "walk.hpp"

namespace twill::cpu {

class tile_mover {
 public:
  /// `streamed_by`: nullptr where the output shall stay in the caches.
  tile_mover(const detail::permute_args& a, const composite_tile& tile, const vector_functions* streamed_by);

  /// Moves tiles [first, end).
  void move(std::int64_t first, std::int64_t end);

 private:
  static constexpr std::int64_t most_offsets = 4096;

  bool set_extents(const std::int64_t* index);
  void prepare();
  void prepare_vectors(std::int64_t rows, std::int64_t cols);
  void prepare_gather();
  void make_tables();
  bool have_tables() const;
  void prepare_prefetch();
  void load(const unsigned char* in);
  void store(unsigned char* out, const unsigned char* next);

  const detail::permute_args& a_;
  const composite_tile& t_;
  const vector_functions *vector_, *streamed_by_;
  int exponent_;                       // of the run's bytes, where vectors have them; else -1
  std::int64_t extent_[8] = {};        // of the present tile: what follows was made for these
  std::int64_t stride_[8];             // of the buffer
  std::int64_t table_extent_[8] = {};  // those that the tables for vectors were made for
  walk blocks_;                        // of what one call loads
  walk runs_;                          // of the output, `run_` bytes each
  walk input_runs_;                    // of the input, `input_run_` bytes each
  std::int64_t run_ = 0, input_run_ = 0;
  std::int64_t rows_ = 0, cols_ = 0;  // of a block for vectors
  std::int64_t gathered_ = 0;         // elements of a block
  gather_function gather_;
  std::int64_t offsets_[most_offsets], col_offsets_[most_side_elements];
  host::work_buffer buffer_;
};

}  // namespace twill::cpu
