// Unit by unit: permutations of any kind, and many tiny matrices with gaps (elementwise.hpp).

#include "elementwise.hpp"

#include <algorithm>

#include "families.hpp"
#include "move/plan/elementwise.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::permute_args;
using detail::permute_dim;
using detail::transpose_in_place_args;
using detail::work_queue;

static_assert(kernels::elementwise_threads == detail::elementwise_block_units);

constexpr std::int64_t most_units = INT32_MAX;  // of a launch: indices have 32 bits

template <class Unit>
void launch_units(const work_queue& queue, const permute_args& a) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Unit));
  kernels::elementwise_dims d{};
  d.units = static_cast<int>(a.bytes() / size);
  d.run = kernels::make_divisor(a.run_bytes / size);
  for (int i = 0; i < a.rank; ++i) d.runs.add(a.dims[i].extent, a.dims[i].in_stride, a.dims[i].out_stride);
  const auto config = grid_of(ceil_div(d.units, kernels::elementwise_threads), kernels::elementwise_threads, 0);
  start_kernel(queue, config, &kernels::permute_elementwise<Unit>, a, d);
}

template <class Unit>
void launch_vectors(const work_queue& queue, const permute_args& a) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Unit));
  constexpr std::int64_t units = 16 / size;
  detail::composite_tile t;
  detail::set_untiled(t, a, size);
  const detail::output_run run = detail::output_run_of(t);
  kernels::vector_dims d{};
  d.units = static_cast<int>(run.units);
  std::int64_t extent[detail::most_vector_dims] = {1, 1, 1}, walked = 0, bits = address_of(a.out) | 16;
  for (int i = 0; i < run.dims; ++i) {
    extent[i] = t.dims[i].extent;
    d.in_stride[i] = t.dims[i].in_stride;
    d.in_step[i] = d.in_stride[i] - walked;
    walked = extent[i] * d.in_stride[i];
  }
  for (int i = run.dims; i < t.rank; ++i) {
    d.runs.add(t.dims[i].extent, t.dims[i].in_stride, t.dims[i].out_stride);
    bits |= t.dims[i].out_stride;
  }
  const std::int64_t per_run = ceil_div(run.units + units - lowest_bit(bits) / size, units);
  const std::int64_t vectors = a.bytes() / size / run.units * per_run;
  d.vectors = static_cast<unsigned>(vectors);
  d.per_run = kernels::make_divisor(per_run);
  d.extent[0] = kernels::make_divisor(extent[0]);
  d.extent[1] = kernels::make_divisor(extent[1]);
  const auto config = grid_of(ceil_div(vectors, kernels::elementwise_threads), kernels::elementwise_threads, 0);
  start_kernel(queue, config, &kernels::permute_elementwise_vectors<Unit>, a, d);
}

// The permutation with both pointers advanced.
permute_args advanced(permute_args a, std::int64_t in_bytes, std::int64_t out_bytes) {
  a.in = static_cast<const unsigned char*>(a.in) + in_bytes;
  a.out = static_cast<unsigned char*>(a.out) + out_bytes;
  return a;
}

// Splits along the longest dimension, or the run if that is longer, until each part fits in one launch.
template <class Unit, class Launch>
void launch_parts(const work_queue& queue, const permute_args& a, Launch launch) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Unit));
  if (a.bytes() / size <= most_units) return launch(queue, a);
  const auto* const longest = std::max_element(
      a.dims, a.dims + a.rank, [](const permute_dim& x, const permute_dim& y) { return x.extent < y.extent; });
  permute_args first = a, second = a;
  if (a.run_bytes / size > longest->extent) {
    first.run_bytes = a.run_bytes / size / 2 * size;
    second = advanced(a, first.run_bytes, first.run_bytes);
    second.run_bytes -= first.run_bytes;
  } else {
    permute_dim& dim = first.dims[longest - a.dims];
    dim.extent /= 2;
    second = advanced(a, dim.extent * dim.in_stride, dim.extent * dim.out_stride);
    second.dims[longest - a.dims].extent -= dim.extent;
  }
  launch_parts<Unit>(queue, first, launch);
  launch_parts<Unit>(queue, second, launch);
}

// Maximum units of a matrix: larger ones fill a block of their own. Units of a block: four per thread.
constexpr std::int64_t most_tiny_units = kernels::elementwise_threads / 2,
                       block_units = std::int64_t{kernels::elementwise_threads} * 4;

}  // namespace

void launch_elementwise(const work_queue& queue, const permute_args& a, const detail::candidates& planned) {
  with_unit(planned.units.unit, [&](auto one) { launch_parts<decltype(one)>(queue, a, &launch_units<decltype(one)>); });
}

void launch_elementwise_vectors(const work_queue& queue, const permute_args& a, const detail::candidates& planned) {
  with_unit<8>(planned.units.unit,
               [&](auto one) { launch_parts<decltype(one)>(queue, a, &launch_vectors<decltype(one)>); });
}

bool is_in_place_elementwise(const transpose_in_place_args& a, std::int64_t unit) {
  const bool gaps = a.ld != a.cols || a.stride != a.rows * a.cols;
  return a.batch > 1 && a.rows == a.cols && gaps && a.rows <= most_tiny_units &&
         a.rows * a.rows * (a.element_bytes / unit) <= most_tiny_units;
}

void launch_in_place_elementwise(const work_queue& queue, const transpose_in_place_args& a, std::int64_t unit) {
  const std::int64_t units = a.element_bytes / unit;
  kernels::elementwise_matrices m{};
  m.batch = a.batch;
  m.ld = a.ld * units;
  m.stride = a.stride * units;
  m.units = static_cast<int>(units);
  m.at_once = static_cast<int>(block_units / (a.rows * a.cols * units));
  m.matrix = kernels::make_divider(a.rows * a.cols * units);
  m.column = kernels::make_divider(a.rows * units);
  m.element = kernels::make_divider(units);
  const auto config = grid_of(ceil_div(a.batch, m.at_once), kernels::elementwise_threads, 0);
  with_unit(unit, [&](auto one) { start_kernel(queue, config, &kernels::in_place_elementwise<decltype(one)>, a, m); });
}

}  // namespace twill::TWILL_BACKEND
