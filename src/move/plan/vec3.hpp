#pragma once

// The tiles of vec3 (move/gpu/vec3.hpp), which its launch and its cost share.

#include <cstdint>

#include "integers.hpp"
#include "matrices.hpp"

namespace twill::detail {

/// The element sizes of vec3.
template <int... Bytes>
struct element_sizes {
  static constexpr bool has(std::int64_t size) { return ((size == Bytes) || ...); }
};
using vec3_sizes = element_sizes<3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 20, 24>;

/// What depends on the element size alone.
struct vec3_block {
  int threads;
  int group;    // elements that are full vectors together
  int part;     // elements of a group that a thread packs
  int columns;  // of a tile, as a rule
};

constexpr vec3_block vec3_block_of(int bytes) {
  const int alignment = static_cast<int>(lowest_bit(bytes)), threads = alignment == 1 ? 256 : 128;
  const int group = 16 / alignment, part = alignment == 1 && bytes >= 7 ? group / 2 : group;
  return {threads, group, part, bytes == 24 ? 16 : part < group ? 32 : threads / 4};
}

struct vec3_tiling {
  bool wraps;                    // each column ends within a vector, but all of them are one run
  std::int64_t height, columns;  // rows without the lead; a multiple of the group unless it wraps
  std::int64_t groups;           // of a column
  std::int64_t lead;             // rows above the tile that columns may begin with
  std::int64_t rows_in_run;      // an input run is a row of the tile, or a part's rows without gaps
  std::int64_t run_bytes;        // that the tile has of it
  bool in_aligned, out_aligned;  // whether runs, and output columns, begin and end at multiples of 16 bytes
  std::int64_t run_vectors() const { return (run_bytes + (in_aligned ? 0 : 30)) / 16; }
};

vec3_tiling vec3_tiling_of(const transpose_args& args);

/// Time of a copy that vec3 takes beside its launch.
double vec3_factor(const matrices& m);
constexpr double vec3_launch = 3.5;  // us

}  // namespace twill::detail
