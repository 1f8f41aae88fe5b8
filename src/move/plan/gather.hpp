#pragma once

// The composite tile that a block moves: on either side it consists of segments of contiguous bytes, each of which may
// run over several dimensions, so that short dimensions (3 x 432) make long segments; and candidates of the gathering
// kernel (move/gpu/gather.hpp), which has such tiles.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "device_model.hpp"
#include "integers.hpp"
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
  std::int64_t blocks() const {
    std::int64_t count = 1;
    for (int i = 0; i < rank; ++i) count *= ceil_divided(dims[i].extent, dims[i].tile);
    return count;
  }
};

/// Rows and columns of a transpose of composite dimensions, and the strides of all others ORed.
struct tile_sides {
  std::int64_t row_bytes, col_bytes, in_bits, out_bits;
};

struct gather_plan {
  composite_tile tile;
  std::int64_t blocks;
  int pitch;               // bytes of shared memory between input segments
  int pad;                 // bytes of shared memory that are left free after each 128
  int vectors;             // of 16 bytes that hold an input segment
  int stores;              // vectors of an output segment
  int units;               // of an output segment
  int unaligned_ends_x32;  // 32 times the share of output segments' ends that lie inside sectors
  bool edges;              // output segments have ends that are no whole vector
  int segment_bytes;       // shared memory of the input segments, pads included
  int table_pitch;         // entries of one of the tables of unit offsets
  std::int64_t shared_bytes;
  double microseconds;
};

/// Units of an output vector: of 16 bytes, but at most 8 units. `unit`: 1, 2, 4, 8 or 16 bytes.
constexpr int units_of_vector(std::int64_t unit) {
  constexpr int units[5] = {8, 8, 4, 2, 1};
  return units[place_of(unit)];
}

constexpr std::int64_t gather_place_bytes = 32;  // of shared memory, for where a block's tile lies

constexpr std::int64_t padded_bytes(std::int64_t bytes, std::int64_t pad) {
  return bytes + (bytes >> 7) * pad;
}

constexpr int max_resident_blocks = 6;  // the registers of as many fit

/// Resident blocks per multiprocessor, each with so much shared memory.
inline std::int64_t resident_blocks(std::int64_t shared_bytes, const device_model& device) {
  return std::clamp<std::int64_t>(divided(device.shared_bytes, shared_bytes + reserved_shared_bytes), 1,
                                  max_resident_blocks);
}

/// Sets pitch and pad, and the bytes of shared memory; false where the tile is too large. `vectors` and what concerns
/// the output are known.
bool lay_out(gather_plan& p, const device_model& device);

/// Widens the pitch or the pads where lanes of a warp would read different words of one bank. Accepts fewer resident
/// blocks only where that halves the degree of conflict.
void avoid_bank_conflicts(gather_plan& p, const device_model& device);

/// Sets `best`, which is empty, to the cheapest plan of the tiles tried that fit the device, if one takes less than
/// `most_us` (over the correction of gather). Tries none where none could. `untiled`: of `args`, in units of
/// unit_of(args); `bytes`: of `args`.
void plan_gather(const permute_args& args, const composite_tile& untiled, const device_model& device,
                 std::int64_t bytes, double most_us, std::optional<gather_plan>& best);

}  // namespace twill::detail
