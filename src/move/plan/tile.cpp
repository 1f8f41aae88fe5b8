#include "tile.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace twill::detail {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// A segment is long enough at this share of the bytes wanted: another dimension would make it far longer.
bool is_enough(std::int64_t bytes, std::int64_t wanted) {
  return bytes * 8 >= wanted * 5;
}

// About `wanted` indices, in multiples of `step`, such that all tiles are nearly equal.
std::int64_t even_tile(std::int64_t extent, std::int64_t wanted, std::int64_t step) {
  if (wanted >= extent) return extent;
  const std::int64_t even = ceil_div(extent, ceil_div(extent, wanted));
  return std::min(extent, ceil_div(even, step) * step);
}

// Indices after which a segment of `bytes` for each ends at a sector of 32 bytes.
std::int64_t sector_step(std::int64_t bytes) {
  return bytes < 32 ? 32 / bytes : 1;
}

void choose_out_segments(composite_tile& t, std::int64_t wanted, std::int64_t most_units) {
  std::int64_t bytes = t.unit;
  t.last_out = -1;
  for (int i = 0; i < t.rank; ++i) {
    tile_dim& d = t.dims[i];
    if (d.out_stride != bytes || (i > 0 && is_enough(bytes, wanted))) break;
    const std::int64_t step = sector_step(bytes), most = std::max<std::int64_t>(1, most_units * t.unit / bytes);
    d.tile = even_tile(d.extent, ceil_div(wanted, bytes), step);
    if (d.tile > most) d.tile = std::max<std::int64_t>(1, most / step * step);
    d.out_segment = true;
    t.last_out = i;
    bytes *= d.tile;
    if (d.tile < d.extent) break;
  }
  t.out_bytes = bytes;
}

// Dimensions that the output's segments hold completely are passed; the one that ends them grows by whole segments.
void choose_in_segments(composite_tile& t, std::int64_t wanted) {
  std::int64_t bytes = t.unit;
  t.last_in = -1;
  for (int k = 0; k < t.rank; ++k) {
    const int i = t.in_order[k];
    tile_dim& d = t.dims[i];
    if (d.in_stride != bytes || (k > 0 && is_enough(bytes, wanted))) break;
    d.in_segment = true;
    t.last_in = i;
    const std::int64_t indices = ceil_div(wanted, bytes);
    if (i == t.last_out && d.tile < d.extent) {
      const std::int64_t even = even_tile(d.extent, std::max(indices, t.out_indices), 1);
      d.tile = std::min(d.extent, ceil_div(even, t.out_indices) * t.out_indices);
    } else if (d.tile < d.extent) {
      d.tile = std::max(d.tile, even_tile(d.extent, indices, sector_step(bytes)));
    }
    bytes *= d.tile;
    if (d.tile < d.extent) break;
  }
  t.in_bytes = bytes;
}

}  // namespace

std::int64_t composite_tile::blocks() const {
  std::int64_t count = 1;
  for (int i = 0; i < rank; ++i) count *= ceil_div(dims[i].extent, dims[i].tile);
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
  if (a.run_bytes > unit) t.dims[t.rank++] = {a.run_bytes / unit, unit, unit, 1, false, false};
  for (int i = 0; i < a.rank; ++i) {
    t.dims[t.rank++] = {a.dims[i].extent, a.dims[i].in_stride, a.dims[i].out_stride, 1, false, false};
  }
  for (int i = 0; i < t.rank; ++i) t.in_order[i] = i;
  std::sort(t.in_order, t.in_order + t.rank, [&](int x, int y) {
    const std::int64_t p = std::abs(t.dims[x].in_stride), q = std::abs(t.dims[y].in_stride);
    return p != q ? p < q : x < y;
  });
  return t;
}

bool choose_tile(composite_tile& t, std::int64_t in_bytes, std::int64_t out_bytes, std::int64_t most_units) {
  for (int i = 0; i < t.rank; ++i) {
    t.dims[i].tile = 1;
    t.dims[i].in_segment = t.dims[i].out_segment = false;
  }
  choose_out_segments(t, out_bytes, most_units);
  if (t.last_out < 0) return false;
  t.out_indices = t.dims[t.last_out].tile;
  choose_in_segments(t, in_bytes);
  if (t.last_in < 0) return false;
  t.in_segments = 1;
  t.out_segments = ceil_div(t.dims[t.last_out].tile, t.out_indices);
  for (int i = 0; i < t.rank; ++i) {
    const tile_dim& d = t.dims[i];
    if (d.out_segment && !d.in_segment) t.in_segments *= d.tile;
    if (d.in_segment && !d.out_segment) t.out_segments *= d.tile;
  }
  return true;
}

}  // namespace twill::detail
