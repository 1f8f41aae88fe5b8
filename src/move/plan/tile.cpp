#include "tile.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "integers.hpp"

namespace twill::detail {
namespace {

// A segment is long enough at this share of the bytes wanted: another dimension would make it far longer.
bool is_enough(std::int64_t bytes, std::int64_t wanted) {
  return bytes * 8 >= wanted * 5;
}

// About `wanted` indices, in multiples of `step`, such that all tiles are nearly equal.
std::int64_t even_tile(std::int64_t extent, std::int64_t wanted, std::int64_t step) {
  if (wanted >= extent) return extent;
  const std::int64_t even = ceil_divided(extent, ceil_divided(extent, wanted));
  return std::min(extent, ceil_divided(even, step) * step);
}

// Indices after which a segment of `bytes` for each ends at a sector of 32 bytes.
std::int64_t sector_step(std::int64_t bytes) {
  return bytes < 32 ? divided(32, bytes) : 1;
}

}  // namespace

std::int64_t composite_tile::blocks() const {
  std::int64_t count = 1;
  for (int i = 0; i < rank; ++i) count *= ceil_divided(dims[i].extent, dims[i].tile);
  return count;
}

std::int64_t unit_of(const permute_args& a) {
  const auto addresses = reinterpret_cast<std::uintptr_t>(a.in) | reinterpret_cast<std::uintptr_t>(a.out);
  std::int64_t bits = static_cast<std::int64_t>(addresses) | a.run_bytes | 16;
  for (int i = 0; i < a.rank; ++i) bits |= a.dims[i].in_stride | a.dims[i].out_stride;
  return bits & -bits;
}

composite_tile untiled(const permute_args& a, std::int64_t unit) {
  composite_tile t{};
  t.unit = unit;
  if (a.run_bytes > unit) t.dims[t.rank++] = {a.run_bytes / unit, unit, unit, 1, 1, false, false};
  for (int i = 0; i < a.rank; ++i) {
    t.dims[t.rank++] = {a.dims[i].extent, a.dims[i].in_stride, a.dims[i].out_stride, 1, 1, false, false};
  }
  for (int i = 0; i < t.rank; ++i) t.in_order[i] = i;
  std::sort(t.in_order, t.in_order + t.rank, [&](int x, int y) {
    const std::int64_t p = std::abs(t.dims[x].in_stride), q = std::abs(t.dims[y].in_stride);
    return p != q ? p < q : x < y;
  });
  return t;
}

fast_dims fast_dims_of(const permute_args& a, const composite_tile& t) {
  fast_dims fast;
  auto bits =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.in) | reinterpret_cast<std::uintptr_t>(a.out));
  for (int i = 0; i < t.rank; ++i) {
    const tile_dim& d = t.dims[i];
    const bool is_in = d.in_stride == t.unit, is_out = d.out_stride == t.unit;
    // Inputs may overlap: of two dimensions with neighbouring elements one would begin vectors misaligned.
    if (is_in && fast.in >= 0) return {};
    if (is_in) fast.in = i;
    if (is_out) fast.out = i;
    bits |= (is_in ? 0 : d.in_stride) | (is_out ? 0 : d.out_stride) | (is_in || is_out ? d.extent * t.unit : 0);
  }
  const bool fits = bits % 16 == 0 && fast.in >= 0 && fast.out >= 0 && fast.in != fast.out;
  return fits ? fast : fast_dims{};
}

tile_sides share_out(composite_tile& t) {
  tile_sides s{t.unit, t.unit, 256, 256};
  int next_row = 0, next_col = 0;
  while (true) {
    tile_dim* const row = next_row < t.rank ? &t.dims[next_row] : nullptr;
    tile_dim* const col = next_col < t.rank ? &t.dims[t.in_order[next_col]] : nullptr;
    const bool can_row = row != nullptr && !row->in_segment && row->out_stride == s.row_bytes;
    const bool can_col = col != nullptr && !col->out_segment && col->in_stride == s.col_bytes;
    if (!can_row && !can_col) break;
    if (can_row && (!can_col || s.row_bytes <= s.col_bytes)) {
      row->out_segment = true, row->tile = row->extent, ++next_row;
      s.row_bytes *= row->extent;
    } else {
      col->in_segment = true, col->tile = col->extent, ++next_col;
      s.col_bytes *= col->extent;
    }
  }
  for (int i = 0; i < t.rank; ++i) {
    if (!t.dims[i].in_segment) s.in_bits |= t.dims[i].in_stride;
    if (!t.dims[i].out_segment) s.out_bits |= t.dims[i].out_stride;
  }
  return s;
}

bool choose_out_segments(composite_tile& t, std::int64_t wanted, std::int64_t most_units) {
  std::int64_t bytes = t.unit;
  t.last_out = -1;
  t.out_bits = 0;
  bool goes_on = true;
  for (int i = 0; i < t.rank; ++i) {
    tile_dim& d = t.dims[i];
    d.tile = d.out_tile = 1;
    d.out_segment = goes_on && d.out_stride == bytes && (i == 0 || !is_enough(bytes, wanted));
    goes_on = d.out_segment;
    if (!goes_on) {
      t.out_bits |= d.out_stride;
      continue;
    }
    const std::int64_t step = sector_step(bytes), most = std::max<std::int64_t>(1, divided(most_units * t.unit, bytes));
    d.out_tile = even_tile(d.extent, ceil_divided(wanted, bytes), step);
    if (d.out_tile > most) d.out_tile = std::max<std::int64_t>(1, divided(most, step) * step);
    t.last_out = i;
    bytes *= d.out_tile;
    goes_on = d.out_tile == d.extent;
    if (!goes_on) t.out_bits |= d.out_tile * d.out_stride;
  }
  t.out_bytes = bytes;
  return t.last_out >= 0;
}

// Dimensions that the output's segments hold completely are passed; the one that ends them grows by whole segments.
bool choose_in_segments(composite_tile& t, std::int64_t wanted) {
  std::int64_t bytes = t.unit;
  t.last_in = -1;
  t.in_bits = 0;
  t.in_segments = t.out_segments = 1;
  bool goes_on = true;
  for (int k = 0; k < t.rank; ++k) {
    const int i = t.in_order[k];
    tile_dim& d = t.dims[i];
    d.tile = d.out_tile;
    d.in_segment = goes_on && d.in_stride == bytes && (k == 0 || !is_enough(bytes, wanted));
    goes_on = d.in_segment;
    if (!goes_on) {
      t.in_bits |= d.in_stride;
      if (d.out_segment) t.in_segments *= d.tile;
      continue;
    }
    t.last_in = i;
    if (d.tile < d.extent) {
      const std::int64_t indices = ceil_divided(wanted, bytes);
      if (i == t.last_out) {
        const std::int64_t segments = ceil_divided(even_tile(d.extent, std::max(indices, d.out_tile), 1), d.out_tile);
        d.tile = std::min(d.extent, segments * d.out_tile);
        t.out_segments *= segments;
      } else {
        d.tile = std::max(d.tile, even_tile(d.extent, indices, sector_step(bytes)));
      }
    }
    if (!d.out_segment) t.out_segments *= d.tile;
    bytes *= d.tile;
    goes_on = d.tile == d.extent;
    if (!goes_on) t.in_bits |= d.tile * d.in_stride;
  }
  t.in_bytes = bytes;
  return t.last_in >= 0;
}

}  // namespace twill::detail
