#pragma once

// Tiles of misaligned-2d (move/gpu/misaligned.hpp), and what they cost.

#include <cstdint>

#include "device_model.hpp"
#include "integers.hpp"
#include "matrices.hpp"
#include "move/args.hpp"
#include "transpose_costs.hpp"

namespace twill::detail {

/// Sizes of tiles, ahead on an H200 or H100 (docs/decisions.md) for: many tiles; columns that tiles of an alternate
/// height fill better; rows that wide tiles fill nearly; and few tiles, where the time is that of one block.
enum class misaligned_tile { large, alternate, wide, small };

/// Bytes of an output row that a tile holds, by its size and that of an element (1, 2, 4, 8 bytes). Where there is no
/// alternate or wide tile, it is the large one. All tiles but the last down a column leave `misaligned_overlap` bytes
/// to the next one.
constexpr std::int64_t misaligned_lengths[4][4] = {
    {256, 288, 256, 256}, {128, 320, 256, 320}, {256, 256, 256, 256}, {128, 128, 256, 256}};
constexpr std::int64_t misaligned_overlap = 32;

constexpr std::int64_t misaligned_length(misaligned_tile tile, std::int64_t element_bytes) {
  return misaligned_lengths[static_cast<int>(tile)][place_of(element_bytes)];
}

/// Bytes of an input row that a lane of a warp loads: a word, or two of wide tiles.
constexpr std::int64_t misaligned_lane_bytes(misaligned_tile tile, std::int64_t element_bytes) {
  const bool two = tile == misaligned_tile::wide && (element_bytes == 2 || element_bytes == 4);
  return two ? 8 : element_bytes < 4 ? 4 : element_bytes;
}

/// Shared memory of a tile: for each column 16 bytes more than its length.
constexpr std::int64_t misaligned_bytes(misaligned_tile tile, std::int64_t element_bytes) {
  const std::int64_t columns = 32 * misaligned_lane_bytes(tile, element_bytes) / element_bytes;
  return columns * (misaligned_length(tile, element_bytes) + 16) + 16;
}

/// Whether all rows of the input begin at multiples of so many bytes, a power of two.
bool rows_begin_at(const transpose_args& args, std::int64_t multiple);

/// The tiles that move these matrices. `shared_bytes`: of a block.
misaligned_tile misaligned_tile_of(const transpose_args& args, std::int64_t shared_bytes, int multiprocessors);

/// Whether misaligned-2d applies: elements of 1, 2, 4 and 8 bytes, rows of at least 64 bytes on both sides.
bool is_misaligned_2d(const matrices& m, const device_model& device);

cost_of_launch cost_of_misaligned_2d(const matrices& m, const device_model& device);

}  // namespace twill::detail
