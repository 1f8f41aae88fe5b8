#pragma once

// The composite tile that a block moves: on either side it consists of segments of contiguous bytes, each of which may
// run over several dimensions, so that short dimensions (3 x 432) make long segments.

#include <cstdint>

#include "move/args.hpp"

namespace twill::detail {

constexpr int max_tile_dims = 9;  // with the units of a run

/// A dimension in the output's order; strides in bytes.
struct tile_dim {
  std::int64_t extent, in_stride, out_stride;
  std::int64_t tile;             // indices in a tile
  std::int64_t out_tile;         // in one output segment: of the last dimension the tile may hold several
  bool in_segment, out_segment;  // part of the contiguous segments of that side
};

/// A movement counted in units, and its tile. Every dimension of a segment but its last is complete.
struct composite_tile {
  std::int64_t unit;  // bytes
  int rank;
  tile_dim dims[max_tile_dims];  // in the output's order
  int in_order[max_tile_dims];   // places in `dims`, the smallest stride in the input first
  int last_in, last_out;         // the last dimension of the segments of each side
  std::int64_t in_bytes, in_segments, out_bytes, out_segments;
  std::int64_t in_bits, out_bits;  // distances between segments, ORed

  std::int64_t out_indices() const { return dims[last_out].out_tile; }
  std::int64_t bytes() const { return in_bytes * in_segments; }
  std::int64_t blocks() const;
};

/// The largest power of two, up to 16, that aligns all addresses, strides and runs.
std::int64_t unit_of(const permute_args& args);

/// The movement in units of `unit` bytes, without a tile.
composite_tile untiled(const permute_args& args, std::int64_t unit);

/// The dimensions that are the fastest on one side each.
struct fast_dims {
  int in = -1, out = -1;
};

/// -1 unless they are two, and everything else is a multiple of 16 bytes.
fast_dims fast_dims_of(const permute_args& args, const composite_tile& t);

/// Rows and columns of a transpose of composite dimensions, and the strides of all others ORed.
struct tile_sides {
  std::int64_t row_bytes, col_bytes, in_bits, out_bits;
};

/// Gives rows (`out_segment`) the dimensions that follow one another in the output, columns (`in_segment`) those that
/// do in the input, each to the shorter side where both want it.
tile_sides share_out(composite_tile& t);

/// Chooses what an output segment holds: about `wanted` bytes, at most `most_units`. False where no units are
/// contiguous.
bool choose_out_segments(composite_tile& t, std::int64_t wanted, std::int64_t most_units);

/// Then what an input segment holds; counts the segments. May be called again.
bool choose_in_segments(composite_tile& t, std::int64_t wanted);

}  // namespace twill::detail
