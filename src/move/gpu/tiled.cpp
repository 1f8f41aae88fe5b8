// Matrices of elements of 1, 2, 4, 8 and 16 bytes, through register blocks (tiled.hpp).

#include "families.hpp"

#include <algorithm>

#include "tiled.hpp"

#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_args;
using detail::work_queue;

// The shape of the tile: `lines` x `chunks` pieces of 16 bytes by as many rows. 256 bytes each way, and 1 KiB of output
// rows for 16-byte elements, as long as the matrix is; a narrow matrix gets a long tile.
struct tile_shape {
  std::int64_t lines, chunks;
};

std::int64_t ceil_power(std::int64_t value) {
  std::int64_t power = 1;
  while (power < value) power *= 2;
  return power;
}

// Chunks of padding after each R = `edge` tile rows. Eight neighbouring lanes hold 8 / chunks lines of each of `chunks`
// blocks: the distance from one of those blocks to the next is 8 / chunks, mod 8.
std::int64_t pad_of(const tile_shape& t, std::int64_t edge) {
  const std::int64_t offset = t.chunks >= 8 ? 1 : 8 / t.chunks;
  return ((offset - edge * (t.lines + 1)) % 8 + 8) % 8;
}

std::int64_t tile_bytes(const tile_shape& t, std::int64_t edge) {
  return t.chunks * (edge * (t.lines + 1) + pad_of(t, edge)) * 16;
}

// Shared memory for a tile. Where blocks have 64 KiB, those are all that a multiprocessor has (AMD, sm_75): two blocks
// fit, so that one loads while the other stores.
std::int64_t most_bytes(const device_limits& limits) {
  constexpr std::int64_t little = 65536;
  return limits.shared_bytes == little ? little / 2 : limits.shared_bytes;
}

tile_shape shape_of(const transpose_args& a, const device_limits& limits) {
  const std::int64_t bytes = a.element_bytes, blocks = bytes == 16 ? 1024 : bytes == 8 ? 512 : 256;
  tile_shape t{bytes == 16 ? 64 : 16, 16};
  const std::int64_t across = ceil_power(ceil_div(a.cols * bytes, 16)), down = ceil_power(ceil_div(a.rows * bytes, 16));
  if (across < t.chunks) t = {std::min(blocks / across, down), across};
  if (down < t.lines) t = {down, std::min((down <= 2 ? 64 : blocks) / down, across)};
  const auto tiles = [&] {
    return ceil_div(a.rows * bytes, t.lines * 16) * ceil_div(a.cols * bytes, t.chunks * 16) * a.batch;
  };
  // The tiles of 1 and 2 bytes are large: of few, more and smaller ones come out even on the multiprocessors, where
  // output rows do not straddle lines of 128 bytes.
  const bool square = t.lines == 16 && t.chunks == 16;
  if (bytes <= 2 && square && a.out_ld * bytes % 128 == 0 && tiles() < 16 * limits.multiprocessors) t.lines = 8;
  const auto too_large = [&] { return t.lines * t.chunks > 8 && tile_bytes(t, 16 / bytes) > most_bytes(limits); };
  while (too_large() || (t.lines * t.chunks > 64 && tiles() < 2 * limits.multiprocessors)) {
    (t.lines > t.chunks ? t.lines : t.chunks) /= 2;
  }
  return t;
}

template <int Bytes>
void launch_tiled_of(const work_queue& queue, const transpose_args& a) {
  constexpr std::int64_t edge = 16 / Bytes, depth = kernels::tile_depth<Bytes>;
  const device_limits limits = limits_of(queue.device->properties());
  const tile_shape t = shape_of(a, limits);
  const std::int64_t tiles_r = ceil_div(a.rows, t.lines * edge), tiles_c = ceil_div(a.cols, t.chunks * edge);
  const std::int64_t tiles = tiles_r * tiles_c * a.batch;
  const auto config = grid_of(tiles, static_cast<int>(t.lines * t.chunks / depth), tile_bytes(t, edge));
  kernels::tile_matrices m{};
  set_matrices(m, a);
  m.tiles_r = static_cast<unsigned>(tiles_r);
  m.tiles_c = static_cast<unsigned>(tiles_c);
  m.tiles = static_cast<unsigned>(tiles);
  m.lines_shift = floor_log2(t.lines);
  m.chunks_shift = floor_log2(t.chunks);
  m.pad = static_cast<int>(pad_of(t, edge));
  const std::int64_t distances = m.in_ld | (a.batch > 1 ? m.in_stride : 0);
  const bool around = pays_to_prefetch_l2(limits, a.in, distances, 2 * a.rows * t.chunks * 16);  // a column of tiles
  const auto kernel = around ? &kernels::transpose_tiled<Bytes, true> : &kernels::transpose_tiled<Bytes, false>;
  start_kernel(queue, config, kernel, a, m);
}

}  // namespace

void launch_tiled(const work_queue& queue, const transpose_args& a) {
  with_unit(a.element_bytes, [&](auto one) { launch_tiled_of<sizeof(one)>(queue, a); });
}

}  // namespace twill::TWILL_BACKEND
