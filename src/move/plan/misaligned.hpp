#pragma once

// Tiles of misaligned-2d (move/gpu/misaligned.hpp), and what they cost.

#include <cstdint>

#include "device_model.hpp"
#include "integers.hpp"
#include "matrices.hpp"
#include "move/args.hpp"

namespace twill::detail {

/// Sizes of tiles, ahead on an H200 or H100 (docs/decisions.md) for: many tiles; columns that tiles of an alternate
/// height fill better; columns that only a tall tile holds whole; rows that wide tiles nearly fill; and few tiles,
/// where the time is that of one block.
enum class misaligned_tile { large, alternate, tall, wide, small };

/// Bytes of an output row that a tile holds, by its size and that of an element (1, 2, 4, 8 bytes). Where there is no
/// alternate, tall or wide tile, it is the large one. All tiles but the last down a column leave `misaligned_overlap`
/// bytes to the next one.
constexpr std::int64_t misaligned_lengths[5][4] = {
    {256, 288, 256, 256}, {128, 320, 256, 320}, {256, 384, 256, 256}, {256, 256, 256, 256}, {128, 128, 256, 256}};
constexpr std::int64_t misaligned_overlap = 32;

/// Tiles of `length` bytes down a column of `down` bytes.
constexpr std::int64_t misaligned_tiles_down(std::int64_t down, std::int64_t length) {
  return down <= length ? 1 : 1 + ceil_divided(down - length, length - misaligned_overlap);
}

constexpr std::int64_t misaligned_length(misaligned_tile tile, std::int64_t element_bytes) {
  return misaligned_lengths[static_cast<int>(tile)][place_of(element_bytes)];
}

/// The same of tiles of several dimensions. Aligned: input rows begin at multiples of 4 bytes.
constexpr std::int64_t misaligned_nd_length(std::int64_t element_bytes, bool is_aligned) {
  return element_bytes == 8 || (element_bytes == 2 && is_aligned) ? 512 : 256;
}

/// Bytes of an input row that a lane of a warp loads: a word, or two of wide tiles.
constexpr std::int64_t misaligned_lane_bytes(misaligned_tile tile, std::int64_t element_bytes) {
  const bool two = tile == misaligned_tile::wide && (element_bytes == 2 || element_bytes == 4);
  return two ? 8 : element_bytes < 4 ? 4 : element_bytes;
}

/// Columns of a tile. Of rows that begin inside of what a lane loads, the last lane loads for its neighbour alone.
constexpr std::int64_t misaligned_columns(misaligned_tile tile, std::int64_t element_bytes, bool is_aligned) {
  const std::int64_t bytes = misaligned_lane_bytes(tile, element_bytes);
  return (is_aligned || bytes == element_bytes ? 32 : 31) * bytes / element_bytes;
}

/// Shared memory of a tile: for each column that is loaded 16 bytes more than its length.
constexpr std::int64_t misaligned_shared_bytes(misaligned_tile tile, std::int64_t element_bytes) {
  return misaligned_columns(tile, element_bytes, true) * (misaligned_length(tile, element_bytes) + 16) + 16;
}

/// The tiles that move these matrices. `shared_bytes`: of a block.
misaligned_tile misaligned_tile_of(const transpose_args& args, std::int64_t shared_bytes, int multiprocessors);

cost_of_launch cost_of_misaligned_2d(const matrices& m, misaligned_tile tile);

}  // namespace twill::detail
