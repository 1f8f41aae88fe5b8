#include "composite_tile.hpp"

#include <algorithm>
#include <cstdlib>

#include "backends/cpu/vector.hpp"
#include "move/plan/integers.hpp"

namespace twill::cpu {
namespace {

using detail::permute_args;

std::int64_t distance(const permute_args& a, int dim, bool of_input) {
  return std::abs(of_input ? a.dims[dim].in_stride : a.dims[dim].out_stride);
}

// Extends the tile until its runs on one side have `target` bytes, or end at a gap.
void extend_run(const permute_args& a, composite_tile& t, bool of_input, std::int64_t target) {
  std::int64_t run = a.run_bytes;
  for (int i = 0; i < a.rank && run < target; ++i) {
    const int dim = of_input ? t.input_order[i] : i;
    if (i > 0 && distance(a, dim, of_input) != run) return;
    const std::int64_t whole = a.dims[dim].extent, wanted = std::min(whole, detail::ceil_divided(target, run));
    t.extent[dim] = std::max(t.extent[dim], wanted);
    if (t.extent[dim] != whole) return;
    run *= whole;
  }
}

std::int64_t bytes_of(const permute_args& a, const composite_tile& t) {
  std::int64_t bytes = a.run_bytes;
  for (int i = 0; i < a.rank; ++i) bytes *= t.extent[i];
  return bytes;
}

// Tiles of nearly one size, and where the output's runs are cut, whole lines of them.
void divide_evenly(const permute_args& a, composite_tile& t) {
  t.tiles = 1;
  for (int i = 0; i < a.rank; ++i) {
    const std::int64_t whole = a.dims[i].extent, most = t.extent[i];
    t.extent[i] = detail::ceil_divided(whole, detail::ceil_divided(whole, most));
    if (i == 0 && line_bytes % a.run_bytes == 0 && most < whole) {
      t.extent[i] =
          std::min(most, detail::ceil_divided(t.extent[i] * a.run_bytes, line_bytes) * line_bytes / a.run_bytes);
    }
    t.count[i] = detail::ceil_divided(whole, t.extent[i]);
    t.tiles *= t.count[i];
  }
  t.bytes = bytes_of(a, t);
}

// The sides grow in turns, so that neither takes a dimension that the other one begins with.
void choose_sides(const permute_args& a, composite_tile& t) {
  const auto* const order = t.input_order;
  std::int64_t rows = t.extent[0], cols = 1, run = a.run_bytes;
  t.row_dims = 1;
  t.col_dims = 0;
  const auto grow_cols = [&] {
    if (t.col_dims == a.rank ||
        (t.col_dims > 0 && t.extent[order[t.col_dims - 1]] != a.dims[order[t.col_dims - 1]].extent))
      return false;
    const int dim = order[t.col_dims];
    if (dim < t.row_dims || a.dims[dim].in_stride != run || cols * t.extent[dim] > most_side_elements) return false;
    cols *= t.extent[dim];
    run *= a.dims[dim].extent;
    ++t.col_dims;
    return true;
  };
  const auto grow_rows = [&] {
    const int dim = t.row_dims;
    if (dim == a.rank || std::find(order, order + t.col_dims, dim) != order + t.col_dims) return false;
    if (rows * t.extent[dim] > most_side_elements) return false;
    rows *= t.extent[dim];
    ++t.row_dims;
    return true;
  };
  for (bool grows = true; grows;) {
    const bool by_cols = grow_cols(), by_rows = grow_rows();
    grows = by_cols || by_rows;
  }
}

}  // namespace

composite_tile choose_tile(const permute_args& a) {
  composite_tile t{};
  for (int i = 0; i < a.rank; ++i) t.input_order[i] = i;
  std::sort(t.input_order, t.input_order + a.rank, [&](int x, int y) {  // a stable_sort would allocate
    const std::int64_t of_x = distance(a, x, true), of_y = distance(a, y, true);
    return of_x != of_y ? of_x < of_y : x < y;
  });
  for (std::int64_t target = most_side_elements; target >= 1; target = target * 3 / 4) {
    std::fill_n(t.extent, a.rank, 1);
    extend_run(a, t, false, target);
    extend_run(a, t, true, target);
    if (bytes_of(a, t) <= most_tile_bytes) break;
  }
  divide_evenly(a, t);
  choose_sides(a, t);
  return t;
}

}  // namespace twill::cpu
