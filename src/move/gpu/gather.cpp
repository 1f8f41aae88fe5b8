// Gathering through shared memory (gather.hpp): the arguments of the kernel from its plan.

#include "gather.hpp"

#include <cstdlib>

#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::composite_tile;
using detail::gather_plan;
using detail::tile_dim;
using kernels::gather_tile;
using kernels::make_divisor;

// The entries of the tables: input segments and the units of an output segment follow the output's order, output
// segments first the dimension that ends them, then the input's order.
void fill_tables(gather_tile& m, const gather_plan& p) {
  const composite_tile& t = p.tile;
  std::int64_t segments = 1;
  for (int i = 0; i < t.rank && t.dims[i].out_segment; ++i) {
    const tile_dim& d = t.dims[i];
    const std::int64_t indices = i == t.last_out ? t.out_indices() : d.tile;
    if (d.in_segment) {
      m.unit[m.unit_rank++] = {make_divisor(indices), static_cast<int>(d.in_stride), 0};
      continue;
    }
    m.unit[m.unit_rank++] = {make_divisor(indices), static_cast<int>(segments) * p.pitch,
                             static_cast<int>(d.in_stride & 15)};
    m.in[m.in_rank++] = {make_divisor(indices), d.in_stride};
    segments *= indices;
  }
  const tile_dim& last = t.dims[t.last_out];
  const std::int64_t split = ceil_div(last.tile, t.out_indices());
  m.split = split > 1;
  if (m.split) {
    m.out[m.out_rank++] = {make_divisor(split), static_cast<int>(t.out_indices() * last.in_stride),
                           t.out_indices() * last.out_stride};
  }
  for (int k = 0; k < t.rank; ++k) {
    const tile_dim& d = t.dims[t.in_order[k]];
    if (!d.in_segment || d.out_segment) continue;
    m.out[m.out_rank++] = {make_divisor(d.tile), static_cast<int>(d.in_stride), d.out_stride};
  }
}

void fill_counts(gather_tile& m, const gather_plan& p) {
  const composite_tile& t = p.tile;
  const tile_dim &last_in = t.dims[t.last_in], &last_out = t.dims[t.last_out];
  m.in_indices = static_cast<int>(last_in.tile);
  m.out_indices = static_cast<int>(last_out.tile);
  m.segment_bytes_each = static_cast<int>(t.in_bytes / last_in.tile);
  m.in_segments = static_cast<int>(t.in_segments);
  m.in_segments_each = last_out.in_segment ? 0 : static_cast<int>(t.in_segments / last_out.tile);
  m.out_segments = static_cast<int>(t.out_segments);
  m.out_segments_each = last_in.out_segment ? 0 : static_cast<int>(t.out_segments / last_in.tile);
  m.units = p.units;
  m.out_bytes = static_cast<int>(t.out_bytes);
  m.out_bytes_each = static_cast<int>(t.out_bytes / t.out_indices());
  m.pitch = p.pitch;
  m.pad = p.pad;
  m.vectors = p.vectors;
  m.table_pitch = p.table_pitch;
  m.segment_bytes = p.segment_bytes;
  m.by_vectors = make_divisor(p.vectors);
  m.edges = p.edges;
}

// Blocks walk along the output first, then along the input: lines that two of them share stay in the cache. Input
// segments of full lines share none: blocks go on along the output.
void fill_grid(gather_tile& m, const gather_plan& p, const void* in) {
  const composite_tile& t = p.tile;
  constexpr std::int64_t line = 128;
  const bool full_lines = (address_of(in) | t.in_bits | t.in_bytes) % line == 0;
  bool placed[detail::max_tile_dims] = {};
  const auto add = [&](int i) {
    const tile_dim& d = t.dims[i];
    const std::int64_t tiles = ceil_div(d.extent, d.tile);
    if (placed[i] || tiles == 1) return;
    placed[i] = true;
    const int rest = static_cast<int>(d.extent - (tiles - 1) * d.tile);
    m.grid[m.grid_rank++] = {make_divisor(tiles),  rest, rest, i == t.last_in, i == t.last_out, d.tile * d.in_stride,
                             d.tile * d.out_stride};
  };
  const auto complete = [&](int i) { return t.dims[i].tile == t.dims[i].extent; };
  add(complete(t.last_out) && t.last_out + 1 < t.rank ? t.last_out + 1 : t.last_out);
  int place = 0;
  while (t.in_order[place] != t.last_in) ++place;
  if (!full_lines) add(complete(t.last_in) && place + 1 < t.rank ? t.in_order[place + 1] : t.last_in);
  for (int i = 0; i < t.rank; ++i) add(i);
  m.blocks = static_cast<unsigned>(p.blocks);
  for (int i = 0; i < t.rank; ++i) {
    const tile_dim& d = t.dims[i];
    (d.in_stride < 0 ? m.in_low : m.in_high) += (d.extent - 1) * d.in_stride;
    (d.in_stride < 0 ? m.tile_low : m.tile_high) += (d.tile - 1) * d.in_stride;
  }
  m.in_high += t.unit;
  m.tile_low -= 16;  // the tile begins inside of a vector
  m.tile_high += t.unit + 32;
}

}  // namespace

bool launch_gather(const launch_queue& queue, const permute_args& a, const gather_plan& p) {
  static_assert(sizeof(kernels::gather_place) == detail::gather_place_bytes);
  gather_tile m{};
  fill_tables(m, p);
  fill_counts(m, p);
  fill_grid(m, p, a.in);
  return with_unit(p.tile.unit, [&](auto one) {
    m.storing_threads = static_cast<int>(ceil_div(p.stores, kernels::vectors_at_once<sizeof(one)>));
    m.by_storing_threads = make_divisor(m.storing_threads);
    return start_kernel(queue, {p.blocks, kernels::gather_threads, p.shared_bytes},
                        &kernels::permute_gather<decltype(one)>, a, m);
  });
}

}  // namespace twill::TWILL_BACKEND
