#include "tiled_nd.hpp"

#include <algorithm>

#include "families.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::composite_tile;
using detail::fast_dims;
using detail::permute_args;
using detail::tile_dim;
using detail::work_queue;
using kernels::strided_dims;
using kernels::tile_permutation;

constexpr std::int64_t least_run_bytes = 128;  // on both sides, or gathering is ahead

// Lines and chunks, and what the grid cuts of them.
void fill(tile_permutation& m, const composite_tile& p, const fast_dims& fast) {
  const std::int64_t edge = 16 / p.unit;
  m.blocks = static_cast<int>(p.blocks());
  m.lines = m.chunks = m.most_lines = m.most_chunks = 1;
  const auto add = [](strided_dims& to, std::int64_t extent, std::int64_t in_stride, std::int64_t out_stride) {
    to.dim[to.rank++] = {kernels::make_divisor(extent), in_stride, out_stride};
  };
  const auto visit = [&](int place, bool line) {
    const tile_dim& d = p.dims[place];
    const std::int64_t step = place == fast.in || place == fast.out ? edge : 1;
    add(line ? m.line : m.chunk, d.tile / step, step * d.in_stride, step * d.out_stride);
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
    add(m.grid, tiles, d.tile * d.in_stride, d.tile * d.out_stride);
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
  const std::int64_t offset = m.most_chunks >= 8 ? 1 : 8 / m.most_chunks;
  m.pad = static_cast<int>(((offset - edge * m.pitch) % 8 + 8) % 8);
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
  constexpr int edge = 16 / Bytes, depth = Bytes == 8 ? 2 : 1;
  const std::int64_t pieces = ceil_div(std::int64_t{m.most_lines} * m.most_chunks, depth);
  const std::int64_t threads = ceil_div(ceil_div(pieces, ceil_div(pieces, 256)), 32) * 32;
  const auto at_least = std::max<std::int64_t>(threads, m.lanes);
  start_kernel(queue, grid_of(m.blocks, at_least, shared_bytes(m, edge)), &kernels::permute_tile<Bytes>, a, m);
}

}  // namespace

bool permute_by_tile(const work_queue& queue, const permute_args& a, bool only_ask) {
  if (a.run_bytes != 1 && a.run_bytes != 2 && a.run_bytes != 4 && a.run_bytes != 8) return false;
  const device_limits limits = limits_of(queue.device->properties());
  composite_tile p = detail::untiled(a, a.run_bytes);
  const fast_dims fast = fast_dims_of(a, p);
  if (fast.in < 0) return false;
  size_box(p, limits);
  // The box of the other side may have cut through register blocks.
  for (const int i : {fast.in, fast.out}) p.dims[i].tile = ceil_div(p.dims[i].tile * p.unit, 16) * 16 / p.unit;
  if (p.blocks() > INT32_MAX) return false;
  tile_permutation m{};
  fill(m, p, fast);
  lay_out(m, 16 / p.unit);
  const bool long_runs = m.most_lines * 16 >= least_run_bytes && m.most_chunks * 16 >= least_run_bytes;
  if (!long_runs || m.lanes > 256 || shared_bytes(m, 16 / p.unit) > limits.shared_bytes) return false;
  if (only_ask) return true;
  m.row_step = p.dims[fast.out].in_stride;
  m.col_step = p.dims[fast.in].out_stride;
  with_unit<8>(p.unit, [&](auto one) { start<sizeof(one)>(queue, a, m); });
  return true;
}

}  // namespace twill::TWILL_BACKEND
