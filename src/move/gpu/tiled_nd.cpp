#include "tiled_nd.hpp"

#include <algorithm>

#include "box.hpp"
#include "gpu/limits.hpp"
#include "launch.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::permute_args;
using detail::work_queue;
using kernels::strided_dims;
using kernels::tile_permutation;

constexpr std::int64_t least_run_bytes = 128;  // on both sides, or gathering is ahead

// The dimensions that are the fastest on one side each, if they are two and everything else is a multiple of 16 bytes.
struct fast_dims {
  int in = -1, out = -1;
};

fast_dims fast_dims_of(const box_plan& p, const permute_args& a) {
  fast_dims fast;
  auto bits =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.in) | reinterpret_cast<std::uintptr_t>(a.out));
  for (int i = 0; i < p.rank; ++i) {
    const box_dim& d = p.dims[i];
    const bool is_in = d.in_stride == p.unit, is_out = d.out_stride == p.unit;
    // Inputs may overlap: of two dimensions with neighbouring elements one would begin vectors misaligned.
    if (is_in && fast.in >= 0) return {};
    if (is_in) fast.in = i;
    if (is_out) fast.out = i;
    bits |= (is_in ? 0 : d.in_stride) | (is_out ? 0 : d.out_stride) | (is_in || is_out ? d.extent * p.unit : 0);
  }
  const bool fits = bits % 16 == 0 && fast.in >= 0 && fast.out >= 0 && fast.in != fast.out;
  return fits ? fast : fast_dims{};
}

// Lines and chunks, and what the grid cuts of them.
void fill(tile_permutation& m, const box_plan& p, const fast_dims& fast) {
  const std::int64_t edge = 16 / p.unit;
  m.blocks = static_cast<int>(p.blocks());
  m.lines = m.chunks = m.most_lines = m.most_chunks = 1;
  const auto add = [](strided_dims& to, std::int64_t extent, std::int64_t in_stride, std::int64_t out_stride) {
    to.dim[to.rank++] = {kernels::make_divisor(extent), in_stride, out_stride};
  };
  const auto visit = [&](int place, bool line) {
    const box_dim& d = p.dims[place];
    const std::int64_t step = place == fast.in || place == fast.out ? edge : 1;
    add(line ? m.line : m.chunk, d.tile / step, step * d.in_stride, step * d.out_stride);
    (line ? m.most_lines : m.most_chunks) *= static_cast<int>(d.tile / step);
    if (d.tile == d.extent) (line ? m.lines : m.chunks) *= static_cast<int>(d.tile / step);
  };
  const auto is_line = [&](int i) { return i == fast.out || (p.dims[i].out_run && !p.dims[i].in_run); };
  for (int i = 0; i < p.rank; ++i) {
    if (is_line(i)) visit(i, true);
  }
  for (int i = 0; i < p.rank; ++i) {
    if (p.dims[p.in_order[i]].in_run && !is_line(p.in_order[i])) visit(p.in_order[i], false);
  }
  for (int i = 0; i < p.rank; ++i) {
    const box_dim& d = p.dims[i];
    if (d.tile == d.extent) continue;
    const std::int64_t tiles = ceil_div(d.extent, d.tile), last = d.extent - (tiles - 1) * d.tile;
    const auto step = static_cast<int>(i == fast.in || i == fast.out ? edge : 1);
    m.cut[m.grid.rank] = {static_cast<int>(d.tile) / step, static_cast<int>(last) / step, is_line(i),
                          d.in_run && !is_line(i)};
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

void size_box(box_plan& p, const device_limits& limits) {
  std::int64_t in_bytes = 256, out_bytes = p.unit == 8 ? 512 : 256;
  choose_box(p, in_bytes, out_bytes);
  const std::int64_t most = p.unit == 1 ? 64 << 10 : 32 << 10;
  const auto too_large = [&] {
    return p.box_bytes() > std::min(most, limits.shared_bytes * 7 / 8) ||
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
  check(launch(queue, grid_of(m.blocks, at_least, shared_bytes(m, edge)), &kernels::permute_tile<Bytes>,
               static_cast<unsigned char*>(a.out), static_cast<const unsigned char*>(a.in), m),
        "launch of permute");
}

}  // namespace

bool permute_by_tile(const work_queue& queue, const permute_args& a, bool only_ask) {
  if (a.run_bytes != 1 && a.run_bytes != 2 && a.run_bytes != 4 && a.run_bytes != 8) return false;
  const device_limits limits = limits_of(queue.device->properties());
  box_plan p = plan_units(a, a.run_bytes);
  const fast_dims fast = fast_dims_of(p, a);
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
  switch (p.unit) {
    case 1:
      start<1>(queue, a, m);
      break;
    case 2:
      start<2>(queue, a, m);
      break;
    case 4:
      start<4>(queue, a, m);
      break;
    default:
      start<8>(queue, a, m);
  }
  return true;
}

}  // namespace twill::TWILL_BACKEND
