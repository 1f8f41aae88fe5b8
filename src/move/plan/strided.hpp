#pragma once

// How blocks of staged-strided share small matrices with gaps.

#include <algorithm>
#include <cstdint>

#include "device_model.hpp"
#include "matrices.hpp"
#include "move/args.hpp"

namespace twill::detail {

/// Matrices of units. `out_ld` is 0 where they have one column: rows that are copied.
struct strided_shape : transpose_args {
  std::int64_t in_span() const { return ((rows - 1) * in_ld + cols) * element_bytes; }
  /// Gaps between matrices are loaded with them where they are small, or where matrices are interleaved.
  bool together() const { return in_stride * element_bytes - in_span() < 48; }
  bool out_packed() const { return (cols == 1 || out_ld == rows) && out_stride == rows * cols; }
  /// Of the rows of the output, at most 16.
  std::int64_t out_alignment() const {
    return lowest_bit(address_of(out) | 16 | (out_ld | out_stride) * element_bytes);
  }
  /// Bytes that a thread writes at once.
  int word() const {
    const bool in_vectors = out_packed() || (out_alignment() == 16 && rows * element_bytes % 16 == 0);
    return in_vectors ? 16 : std::max(4, static_cast<int>(element_bytes));
  }
};

/// A window: some matrices that a block stages at once.
struct strided_window {
  std::int64_t out_window;         // bytes from a window to the next
  int in_window;                   // bytes from a window to the next
  int matrices;                    // of a window
  int chunks, span_chunks;         // of 16 bytes, of a window and of a span in it
  int span_step, span_bytes;       // from a span to the next; of it
  int matrix_step, skew_step;      // from a matrix to the next in shared memory, and how far it is shifted
  int runs, run_units, run_words;  // of the output in a window; units and words of each
  bool packed;                     // the output has no gaps, and a window is one run
};

constexpr int strided_threads = 288;
/// Chunks of all windows of a block, where it has several, and shared memory for a chunk, with padding.
constexpr int strided_block_chunks = strided_threads * 8, strided_chunk_bytes = 18;

/// Shared memory of a window where a block has up to so many.
constexpr int strided_region(int windows) {
  return strided_block_chunks / windows * strided_chunk_bytes;
}

struct strided_blocks {
  strided_window window;
  int most_windows, windows;     // of a block: at most, by the size of a window; then as many as it has
  std::int64_t blocks, threads;  // in all; of a block
};

/// `most_shared`: bytes of shared memory that a block may take.
strided_blocks strided_blocks_of(const strided_shape& shape, std::int64_t most_shared, int multiprocessors);

cost_of_launch cost_of_strided(const matrices& m, const device_model& device);

}  // namespace twill::detail
