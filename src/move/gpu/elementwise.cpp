// Unit by unit: permutations of any kind, and many tiny matrices with gaps (elementwise.hpp).

#include "elementwise.hpp"

#include <algorithm>

#include "families.hpp"
#include "move/plan/transposes.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::permute_args;
using detail::transpose_args;
using detail::transpose_in_place_args;
using detail::work_queue;

// Units of a matrix; beyond, a block of threads for each is no waste. Of a block: four for each thread.
static_assert(detail::most_tiny_units == kernels::elementwise_threads / 2);
constexpr std::int64_t most_units = detail::most_tiny_units, block_units = kernels::elementwise_threads * 4;

kernels::elementwise_matrices matrices_of(const transpose_args& a, std::int64_t unit) {
  const std::int64_t units = a.element_bytes / unit;
  kernels::elementwise_matrices m{};
  m.batch = a.batch;
  m.in_ld = a.in_ld * units;
  m.out_ld = a.out_ld * units;
  m.in_stride = a.in_stride * units;
  m.out_stride = a.out_stride * units;
  m.units = static_cast<int>(units);
  m.at_once = static_cast<int>(block_units / (a.rows * a.cols * units));
  m.matrix = kernels::make_divider(a.rows * a.cols * units);
  m.column = kernels::make_divider(a.rows * units);
  m.element = kernels::make_divider(units);
  return m;
}

}  // namespace

bool launch_elementwise(const work_queue& queue, const permute_args& a, const detail::candidates& planned,
                        bool dry_run) {
  if (dry_run) return true;
  const std::int64_t unit = planned.untiled.unit;
  kernels::elementwise_dims d{};
  const auto add = [&](std::int64_t extent, std::int64_t in_stride, std::int64_t out_stride) {
    d.extent[d.rank] = extent;
    d.in_stride[d.rank] = in_stride;
    d.out_stride[d.rank++] = out_stride;
    d.units *= extent;
  };
  d.units = 1;
  add(a.run_bytes / unit, unit, unit);
  for (int i = 0; i < a.rank; ++i) add(a.dims[i].extent, a.dims[i].in_stride, a.dims[i].out_stride);
  const auto config = grid_of(ceil_div(d.units, kernels::elementwise_threads), kernels::elementwise_threads, 0);
  with_unit(unit, [&](auto one) { start_kernel(queue, config, &kernels::permute_elementwise<decltype(one)>, a, d); });
  return true;
}

void launch_elementwise_batch(const work_queue& queue, const transpose_args& a) {
  const std::int64_t unit = detail::transpose_unit(a);
  const auto m = matrices_of(a, unit);
  const auto config = grid_of(ceil_div(a.batch, m.at_once), kernels::elementwise_threads, 0);
  with_unit(unit,
            [&](auto one) { start_kernel(queue, config, &kernels::transpose_elementwise_batch<decltype(one)>, a, m); });
}

bool is_in_place_elementwise(const transpose_in_place_args& a, std::int64_t unit) {
  const bool gaps = a.ld != a.cols || a.stride != a.rows * a.cols;
  return a.batch > 1 && a.rows == a.cols && gaps && a.rows <= most_units &&
         a.rows * a.rows * (a.element_bytes / unit) <= most_units;
}

void launch_in_place_elementwise(const work_queue& queue, const transpose_in_place_args& a, std::int64_t unit) {
  const auto m =
      matrices_of({a.data, a.data, a.element_bytes, a.rows, a.cols, a.batch, a.ld, a.ld, a.stride, a.stride}, unit);
  const auto config = grid_of(ceil_div(a.batch, m.at_once), kernels::elementwise_threads, 0);
  with_unit(unit, [&](auto one) { start_kernel(queue, config, &kernels::in_place_elementwise<decltype(one)>, a, m); });
}

}  // namespace twill::TWILL_BACKEND
