// Rows that are full aligned vectors of 16 bytes (tiled.hpp).

#include "tiled.hpp"

#include <algorithm>

#include "move/plan/transposes.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

// The shape of the tile: `lines` x `chunks` pieces of 16 bytes by as many rows. 256 bytes each way, and 1 KiB of output
// rows for 16-byte elements, as long as the matrix is; a narrow matrix gets a long tile.
struct tile_shape {
  std::int64_t lines, chunks;
};

std::int64_t ceil_power(std::int64_t value) {
  return std::int64_t{1} << floor_log2(2 * value - 1);
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
  const auto too_large = [&] {
    return t.lines * t.chunks > 8 && kernels::tile_bytes(t.lines, t.chunks, 16 / bytes) > most_bytes(limits);
  };
  while (too_large() || (t.lines * t.chunks > 64 && tiles() < 2 * limits.multiprocessors)) {
    (t.lines > t.chunks ? t.lines : t.chunks) /= 2;
  }
  return t;
}

template <int Bytes>
bool launch_2d(const launch_queue& queue, const transpose_args& a) {
  constexpr std::int64_t edge = 16 / Bytes, depth = kernels::tile_depth<Bytes>;
  const device_limits limits = limits_of(queue);
  const tile_shape t = shape_of(a, limits);
  kernels::ordered_tile_matrices m{};
  const bool across_first =
      kernels::is_across_better(limits.cache_bytes, a.rows, t.chunks * 16 + 128, t.lines * edge, a.cols * Bytes);
  const std::int64_t tiles =
      set_tiles(queue, m, a, ceil_div(a.rows, t.lines * edge), ceil_div(a.cols, t.chunks * edge), across_first);
  m.lines_shift = floor_log2(t.lines);
  m.chunks_shift = floor_log2(t.chunks);
  m.pad = static_cast<int>(kernels::tile_pad(t.chunks, edge * (t.lines + 1)));
  const std::int64_t distances = m.in_ld | (a.batch > 1 ? m.in_stride : 0);
  const bool around = pays_to_prefetch_l2(limits, a.in, distances, 2 * a.rows * t.chunks * 16);  // a column of tiles
  const auto kernel = around ? &kernels::transpose_tiled<Bytes, true> : &kernels::transpose_tiled<Bytes, false>;
  const std::int64_t shared = kernels::tile_bytes(t.lines, t.chunks, edge);
  return start_kernel(queue, {tiles, t.lines * t.chunks / depth, shared}, kernel, a, m);
}

static_assert(kernels::tile_4byte<1>::bytes == detail::tile_bytes_4byte);

template <int Bytes>
bool launch_4byte(const launch_queue& queue, const transpose_args& a) {
  using shape = kernels::tile_4byte<Bytes>;
  kernels::matrix_tiles m{};
  const std::int64_t tiles =
      set_tiles(queue, m, a, ceil_div(a.rows, shape::height), ceil_div(a.cols, shape::width), false);
  return start_kernel(queue, {tiles, shape::threads, shape::bytes}, &kernels::transpose_tiled_4byte<Bytes>, a, m);
}

}  // namespace

bool launch_tiled_2d(const launch_queue& queue, const transpose_args& a) {
  return with_unit(a.element_bytes, [&](auto one) { return launch_2d<sizeof(one)>(queue, a); });
}

bool launch_tiled_4byte(const launch_queue& queue, const transpose_args& a) {
  return with_unit<4>(a.element_bytes, [&](auto one) { return launch_4byte<sizeof(one)>(queue, a); });
}

}  // namespace twill::TWILL_BACKEND
