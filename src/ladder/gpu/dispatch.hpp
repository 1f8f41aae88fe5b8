#pragma once

// From run-time element sizes and blocks to template arguments.

#include <algorithm>
#include <cstdint>

#include "backends/error.hpp"
#include "backends/launch_config.hpp"
#include "device.hpp"
#include "ladder/operations.hpp"

namespace twill::TWILL_BACKEND {

/// Calls f with a value of the type that moves elements of `bytes`: 1, 2, 8 or 16.
template <class F>
void with_element_but_4(std::int64_t bytes, F&& f) {
  switch (bytes) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 8:
      return f(std::uint64_t{});
    default:
      return f(word16{});
  }
}

/// Calls f with a value of the type that moves elements of `bytes`: 1, 2, 4, 8 or 16.
template <class F>
void with_element(std::int64_t bytes, F&& f) {
  if (bytes == 4) return f(std::uint32_t{});
  with_element_but_4(bytes, f);
}

/// A block shape as a type.
template <int X, int Y>
struct block_of {
  static constexpr int x = X, y = Y;
};

/// The blocks of tiled rungs: a square tile of X x X that the block divides. Ended by {0, 0}.
inline constexpr block_shape tiled_blocks[] = {{32, 32}, {32, 16}, {32, 8}, {16, 16}, {0, 0}};
/// The blocks of rungs without a shared tile.
inline constexpr block_shape untiled_blocks[] = {{32, 32}, {32, 16}, {32, 8}, {16, 16}, {8, 32}, {0, 0}};

/// Calls f with the `block_of` for one of `tiled_blocks`.
template <class F>
void with_tiled_block(block_shape block, F&& f) {
  if (block.x == 16) return f(block_of<16, 16>{});
  if (block.y == 32) return f(block_of<32, 32>{});
  if (block.y == 16) return f(block_of<32, 16>{});
  return f(block_of<32, 8>{});
}

/// Calls f with the `block_of` for one of `untiled_blocks`.
template <class F>
void with_untiled_block(block_shape block, F&& f) {
  if (block.x == 8) return f(block_of<8, 32>{});
  return with_tiled_block(block, f);
}

/// What transpose rungs are compiled for: blocks are compared with elements of 4 bytes, elements with blocks of 32 x 8.
inline bool is_compiled(std::int64_t element_bytes, block_shape block) {
  return element_bytes == 4 || (block.x == 32 && block.y == 8);
}

/// Calls f with an element and a `block_of` for which is_compiled holds; `with_block` is one of the two above.
template <class WithBlock, class F>
void with_compiled(std::int64_t element_bytes, block_shape block, WithBlock&& with_block, F&& f) {
  if (element_bytes == 4) {
    with_block(block, [&](auto of) { f(std::uint32_t{}, of); });
  } else {
    with_element_but_4(element_bytes, [&](auto element) { f(element, block_of<32, 8>{}); });
  }
}

/// Blocks of `block` threads over tiles of tile_x x tile_y, `width` along x. Rows of tiles beyond grid y's 65,535 go
/// to z. Throws unsupported beyond the grid x of all devices (2^32 threads on AMD).
inline detail::launch_config tile_grid(std::int64_t width, std::int64_t height, int tile_x, int tile_y,
                                       block_shape block) {
  const std::int64_t x = (width + tile_x - 1) / tile_x, rows = (height + tile_y - 1) / tile_y;
  const std::int64_t y = std::min<std::int64_t>(rows, 65535), z = (rows + y - 1) / y;
  if (x >= (std::int64_t{1} << 32) / block.x || x >= (std::int64_t{1} << 31) || z > 65535) {
    detail::fail(errc::unsupported, "the matrix exceeds the maximum grid size",
                 std::to_string(x) + " x " + std::to_string(rows) + " tiles", "use twill::transpose");
  }
  return {{static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)},
          {static_cast<unsigned>(block.x), static_cast<unsigned>(block.y), 1},
          0};
}

}  // namespace twill::TWILL_BACKEND
