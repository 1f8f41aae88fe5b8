// Rows that are full aligned vectors of 16 bytes (tiled.hpp).

#include "tiled.hpp"

#include <algorithm>

#include "families.hpp"
#include "move/plan/transposes.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::composite_tile;
using detail::fast_dims;
using detail::permute_args;
using detail::tile_dim;
using detail::transpose_args;
using detail::work_queue;
using kernels::tile_permutation;

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
void launch_2d(const work_queue& queue, const transpose_args& a) {
  constexpr std::int64_t edge = 16 / Bytes, depth = kernels::tile_depth<Bytes>;
  const device_limits limits = limits_of(queue);
  const tile_shape t = shape_of(a, limits);
  kernels::ordered_tile_matrices m{};
  const bool across_first =
      kernels::is_across_better(limits.cache_bytes, a.rows, t.chunks * 16 + 128, t.lines * edge, a.cols * Bytes);
  const std::int64_t tiles =
      set_tiles(m, a, ceil_div(a.rows, t.lines * edge), ceil_div(a.cols, t.chunks * edge), across_first);
  m.lines_shift = floor_log2(t.lines);
  m.chunks_shift = floor_log2(t.chunks);
  m.pad = static_cast<int>(kernels::tile_pad(t.chunks, edge * (t.lines + 1)));
  const std::int64_t distances = m.in_ld | (a.batch > 1 ? m.in_stride : 0);
  const bool around = pays_to_prefetch_l2(limits, a.in, distances, 2 * a.rows * t.chunks * 16);  // a column of tiles
  const auto kernel = around ? &kernels::transpose_tiled<Bytes, true> : &kernels::transpose_tiled<Bytes, false>;
  const auto config = grid_of(tiles, t.lines * t.chunks / depth, kernels::tile_bytes(t.lines, t.chunks, edge));
  start_kernel(queue, config, kernel, a, m);
}

static_assert(kernels::tile_4byte<1>::bytes == detail::tile_bytes_4byte);

template <int Bytes>
void launch_4byte(const work_queue& queue, const transpose_args& a) {
  using shape = kernels::tile_4byte<Bytes>;
  kernels::matrix_tiles m{};
  const std::int64_t tiles = set_tiles(m, a, ceil_div(a.rows, shape::height), ceil_div(a.cols, shape::width), false);
  start_kernel(queue, grid_of(tiles, shape::threads, shape::bytes), &kernels::transpose_tiled_4byte<Bytes>, a, m);
}

constexpr std::int64_t least_run_bytes = 128;  // on both sides, or gathering is ahead
constexpr int least_threads = kernels::permute_tiled_threads<1>;

// Lines and chunks, and what the grid cuts of them.
void fill(tile_permutation& m, const composite_tile& p, const fast_dims& fast) {
  const std::int64_t edge = 16 / p.unit;
  m.blocks = static_cast<int>(p.blocks());
  m.lines = m.chunks = m.most_lines = m.most_chunks = 1;
  const auto visit = [&](int place, bool line) {
    const tile_dim& d = p.dims[place];
    const std::int64_t step = place == fast.in || place == fast.out ? edge : 1;
    (line ? m.line : m.chunk).add(d.tile / step, step * d.in_stride, step * d.out_stride);
    (line ? m.most_lines : m.most_chunks) *= static_cast<int>(d.tile / step);
    if (d.tile == d.extent) (line ? m.lines : m.chunks) *= static_cast<int>(d.tile / step);
  };
  const auto is_line = [&](int i) { return i == fast.out || (p.dims[i].out_segment && !p.dims[i].in_segment); };
  for (int i = 0; i < p.rank; ++i) {
    if (is_line(i)) visit(i, true);
  }
  for (int i = 0; i < p.rank; ++i) {
    if (p.dims[p.in_order[i]].in_segment && !is_line(p.in_order[i])) visit(p.in_order[i], false);
  }
  for (int i = 0; i < p.rank; ++i) {
    const tile_dim& d = p.dims[i];
    if (d.tile == d.extent) continue;
    const std::int64_t tiles = ceil_div(d.extent, d.tile), last = d.extent - (tiles - 1) * d.tile;
    const auto step = static_cast<int>(i == fast.in || i == fast.out ? edge : 1);
    m.cut[m.grid.rank] = {static_cast<int>(d.tile) / step, static_cast<int>(last) / step, is_line(i),
                          d.in_segment && !is_line(i)};
    m.grid.add(tiles, d.tile * d.in_stride, d.tile * d.out_stride);
  }
}

// The eight lanes of one phase of a 16-byte shared access touch all banks: the pitch of rows is an odd number of
// vectors, that of the blocks of neighbouring vectors too; where a line has fewer than eight vectors, the pitch leaves
// room for the next lines.
void lay_out(tile_permutation& m, std::int64_t edge) {
  m.by_chunks = kernels::make_divisor(m.most_chunks);
  m.lanes = 1;
  while (m.lanes < m.most_lines) m.lanes *= 2;
  m.pitch = m.most_lines | 1;
  m.pad = static_cast<int>(kernels::tile_pad(m.most_chunks, edge * m.pitch));
}

std::int64_t shared_bytes(const tile_permutation& m, std::int64_t edge) {
  return 16 * (m.most_lines + m.most_chunks + 2 + m.most_chunks * (edge * m.pitch + m.pad));
}

// Grows the box along the dimensions that lie one after another on one side, until their runs have `wanted` bytes.
template <class Stride, class Place>
void grow(composite_tile& p, std::int64_t wanted, Place place, Stride stride, bool tile_dim::* run) {
  std::int64_t bytes = p.unit;
  for (int i = 0; i < p.rank; ++i) {
    tile_dim& d = p.dims[place(i)];
    if (stride(d) != bytes || bytes >= wanted) return;
    const std::int64_t needed = ceil_div(wanted, bytes);
    d.*run = true;
    if (d.tile < d.extent && needed < d.extent) {
      const std::int64_t tiles = std::max<std::int64_t>(1, d.extent / std::max(needed, d.tile));
      const std::int64_t even = ceil_div(d.extent, tiles), step = std::max<std::int64_t>(1, 16 / bytes);
      d.tile = std::max(d.tile, std::min(d.extent, ceil_div(d.extent % tiles == 0 ? even : needed, step) * step));
    } else {
      d.tile = d.extent;
    }
    if (d.tile < d.extent) return;
    bytes *= d.extent;
  }
}

/// Makes the box one whose runs have about `in_bytes` and `out_bytes`, or as many as lie one after another.
void choose_box(composite_tile& p, std::int64_t in_bytes, std::int64_t out_bytes) {
  for (int i = 0; i < p.rank; ++i) {
    p.dims[i].tile = 1;
    p.dims[i].in_segment = p.dims[i].out_segment = false;
  }
  grow(p, out_bytes, [](int i) { return i; }, [](const tile_dim& d) { return d.out_stride; }, &tile_dim::out_segment);
  grow(
      p, in_bytes, [&](int i) { return p.in_order[i]; }, [](const tile_dim& d) { return d.in_stride; },
      &tile_dim::in_segment);
}

std::int64_t box_bytes(const composite_tile& p) {
  std::int64_t bytes = p.unit;
  for (int i = 0; i < p.rank; ++i) bytes *= p.dims[i].tile;
  return bytes;
}

void size_box(composite_tile& p, const device_limits& limits) {
  std::int64_t in_bytes = 256, out_bytes = p.unit == 8 ? 512 : 256;
  choose_box(p, in_bytes, out_bytes);
  const std::int64_t most = p.unit == 1 ? 64 << 10 : 32 << 10;
  const auto too_large = [&] {
    return box_bytes(p) > std::min(most, limits.shared_bytes * 7 / 8) ||
           (p.blocks() < 2 * limits.multiprocessors && in_bytes + out_bytes > 256);
  };
  while (too_large() && in_bytes + out_bytes > 64) {
    (in_bytes >= out_bytes ? in_bytes : out_bytes) /= 2;
    choose_box(p, in_bytes, out_bytes);
  }
}

template <int Bytes>
void start(const work_queue& queue, const permute_args& a, const tile_permutation& m) {
  constexpr int edge = 16 / Bytes, depth = Bytes == 8 ? 2 : 1, most = kernels::permute_tiled_threads<Bytes>;
  const std::int64_t pieces = ceil_div(std::int64_t{m.most_lines} * m.most_chunks, depth);
  const std::int64_t threads = ceil_div(ceil_div(pieces, ceil_div(pieces, most)), 32) * 32;
  const auto at_least = std::max<std::int64_t>(threads, m.lanes);
  start_kernel(queue, grid_of(m.blocks, at_least, shared_bytes(m, edge)), &kernels::permute_tiled<Bytes>, a, m);
}

}  // namespace

void launch_tiled_2d(const work_queue& queue, const transpose_args& a) {
  with_unit(a.element_bytes, [&](auto one) { launch_2d<sizeof(one)>(queue, a); });
}

void launch_tiled_4byte(const work_queue& queue, const transpose_args& a) {
  with_unit<4>(a.element_bytes, [&](auto one) { launch_4byte<sizeof(one)>(queue, a); });
}

bool launch_tiled(const work_queue& queue, const permute_args& a, const detail::candidates& planned, bool dry_run) {
  const device_limits limits = limits_of(queue);
  const fast_dims fast = planned.fast;
  composite_tile p = planned.untiled;
  size_box(p, limits);
  // The box of the other side may have cut through register blocks.
  for (const int i : {fast.in, fast.out}) p.dims[i].tile = ceil_div(p.dims[i].tile * p.unit, 16) * 16 / p.unit;
  if (p.blocks() > INT32_MAX) return false;
  tile_permutation m{};
  fill(m, p, fast);
  lay_out(m, 16 / p.unit);
  const bool long_runs = m.most_lines * 16 >= least_run_bytes && m.most_chunks * 16 >= least_run_bytes;
  if (!long_runs || m.lanes > least_threads || shared_bytes(m, 16 / p.unit) > limits.shared_bytes) return false;
  if (dry_run) return true;
  m.row_step = p.dims[fast.out].in_stride;
  m.col_step = p.dims[fast.in].out_stride;
  with_unit<8>(p.unit, [&](auto one) { start<sizeof(one)>(queue, a, m); });
  return true;
}

}  // namespace twill::TWILL_BACKEND
