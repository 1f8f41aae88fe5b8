#include "box.hpp"

#include <algorithm>
#include <cstdlib>

#include "gpu/limits.hpp"

namespace twill::TWILL_BACKEND {
namespace {

// Grows the box along the dimensions that lie one after another on one side, until their runs have `wanted` bytes.
template <class Stride, class Place>
void grow(box_plan& p, std::int64_t wanted, Place place, Stride stride, bool box_dim::* run) {
  std::int64_t bytes = p.unit;
  for (int i = 0; i < p.rank; ++i) {
    box_dim& d = p.dims[place(i)];
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

}  // namespace

std::int64_t box_plan::box_bytes() const {
  std::int64_t bytes = unit;
  for (int i = 0; i < rank; ++i) bytes *= dims[i].tile;
  return bytes;
}

std::int64_t box_plan::blocks() const {
  std::int64_t count = 1;
  for (int i = 0; i < rank; ++i) count *= ceil_div(dims[i].extent, dims[i].tile);
  return count;
}

std::int64_t box_plan::in_run_bytes() const {
  std::int64_t bytes = unit;
  for (int i = 0; i < rank; ++i) bytes *= dims[i].in_run ? dims[i].tile : 1;
  return bytes;
}

std::int64_t box_plan::out_run_bytes() const {
  std::int64_t bytes = unit;
  for (int i = 0; i < rank; ++i) bytes *= dims[i].out_run ? dims[i].tile : 1;
  return bytes;
}

box_plan plan_units(const detail::permute_args& a, std::int64_t unit) {
  box_plan p{};
  p.unit = unit;
  if (a.run_bytes > unit) p.dims[p.rank++] = {a.run_bytes / unit, unit, unit, 1, false, false};
  for (int i = 0; i < a.rank; ++i) {
    p.dims[p.rank++] = {a.dims[i].extent, a.dims[i].in_stride, a.dims[i].out_stride, 1, false, false};
  }
  for (int i = 0; i < p.rank; ++i) p.in_order[i] = i;
  std::sort(p.in_order, p.in_order + p.rank, [&](int x, int y) {
    const std::int64_t a = std::abs(p.dims[x].in_stride), b = std::abs(p.dims[y].in_stride);
    return a != b ? a < b : x < y;
  });
  return p;
}

void choose_box(box_plan& p, std::int64_t in_bytes, std::int64_t out_bytes) {
  for (int i = 0; i < p.rank; ++i) {
    p.dims[i].tile = 1;
    p.dims[i].in_run = p.dims[i].out_run = false;
  }
  grow(p, out_bytes, [](int i) { return i; }, [](const box_dim& d) { return d.out_stride; }, &box_dim::out_run);
  grow(
      p, in_bytes, [&](int i) { return p.in_order[i]; }, [](const box_dim& d) { return d.in_stride; },
      &box_dim::in_run);
}

}  // namespace twill::TWILL_BACKEND
