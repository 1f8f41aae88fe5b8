#pragma once

// What the CPU's vector unit does for the operations, for the widest vectors that this CPU has.

#include <cstddef>
#include <cstdint>

#include "vector_reduce.hpp"

namespace twill::cpu {

/// A line of the cache: what a streamed row must be made of to reach memory without being read first.
inline constexpr std::int64_t line_bytes = 64;

/// Outputs below this are left in the caches, for whoever reads them next.
inline constexpr std::int64_t least_streamed = std::int64_t{4} << 20;

/// Rows of input, and bytes of each, that are streamed as one tile: of more rows the processor's own prefetchers lose
/// track. Where the stride of rows is no larger than the bytes, there may be more.
inline constexpr std::int64_t streamed_tile_rows = 64, streamed_tile_width = 256;

/// A rectangle of elements on both sides; distances in bytes.
struct vector_tile {
  const unsigned char* in;
  unsigned char* out;
  std::int64_t in_ld, out_ld;
  std::int64_t rows, cols;
};

/// Elements of `rows` whose places in the input are a table, and which are contiguous in the output; and of `cols` for
/// which it is the other way round. Offsets in bytes.
struct vector_block {
  const unsigned char* in;
  unsigned char* out;
  const std::int64_t *row_offsets, *col_offsets;
  std::int64_t rows, cols;
};

struct vector_functions {
  const char* name;  ///< of the instruction set
  /// Copies past the caches; any alignment.
  void (*stream)(unsigned char* to, const unsigned char* from, std::size_t bytes);
  /// Reverses elements of 1, 2, 4, 8, 16 bytes (by the exponent) past the caches: the `bytes` before `end`, to `to`;
  /// `bytes` and `to` are multiples of a line.
  void (*reverse_streamed[5])(const unsigned char* end, unsigned char* to, std::int64_t bytes);
  /// Transposes elements of 1, 2, 4, 8, 16 bytes (by the exponent): at least as many rows and columns as fit 16 bytes.
  void (*transpose[5])(const vector_tile& tile);
  /// The same, streamed, of a tile that streamed_tile_rows and streamed_tile_width bound: `out` and `out_ld` are
  /// multiples of a line, `rows` of the elements in one, `cols` of those in 16 bytes. Meanwhile as large a tile at
  /// `next`, unless that is null, is prefetched.
  void (*transpose_streamed[5])(const vector_tile& tile, const unsigned char* next);
  /// Transposes elements of 1, 2, 4, 8, 16 bytes (by the exponent): of either side at least as many as fit 16 bytes.
  void (*transpose_block[5])(const vector_block& block);
  /// Transposes elements of 1, 2, 4, 8 bytes from packed rows of 2, 3 or 4 columns.
  void (*split[4])(const vector_tile& tile);
  /// Transposes elements of 1, 2, 4, 8 bytes to packed rows of 2, 3 or 4.
  void (*join[4])(const vector_tile& tile);
  /// The sum of packed u8, u16, u32, u64, f32 or f64 (in this order), to `total`: of all full lines; returns how many
  /// elements these have.
  std::int64_t (*sum[6])(const void* in, std::int64_t count, void* total);
  /// Scans the same, after `before`, which moves on. `out` may be `in`; streamed, it is a multiple of a line. Meanwhile
  /// as many elements at `next`, unless that is null, are summed up to `next_sum`: so they come into the caches.
  std::int64_t (*scan[6])(const void* in, void* out, std::int64_t count, void* before, bool exclusive, bool streamed,
                          const void* next, void* next_sum);
  /// Streamed stores come before whatever this thread stores later.
  void (*fence)();
  reduce_functions reduce;
};

/// nullptr where this CPU has no vectors that Twill knows.
const vector_functions* vectors();

}  // namespace twill::cpu
