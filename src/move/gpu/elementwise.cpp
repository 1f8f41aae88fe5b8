// Unit by unit: permutations of any kind, and many tiny matrices with gaps (elementwise.hpp).

#include "elementwise.hpp"

#include <algorithm>

#include "move/plan/elementwise.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

static_assert(kernels::elementwise_threads == detail::elementwise_block_units);

// A movement unit by unit, or a part of it.
struct unit_movement {
  const unsigned char* in;
  unsigned char* out;
  detail::composite_tile untiled;

  std::int64_t units() const {
    std::int64_t product = 1;
    for (int i = 0; i < untiled.rank; ++i) product *= untiled.dims[i].extent;
    return product;
  }
};

template <class Unit>
bool launch_units(const launch_queue& queue, const unit_movement& a) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Unit));
  const detail::composite_tile& t = a.untiled;
  kernels::elementwise_dims d{};
  d.units = static_cast<int>(a.units());
  const bool has_run = t.dims[0].in_stride == size && t.dims[0].out_stride == size;
  d.run = kernels::make_divisor(has_run ? t.dims[0].extent : 1);
  for (int i = has_run ? 1 : 0; i < t.rank; ++i)
    d.runs.add(t.dims[i].extent, t.dims[i].in_stride, t.dims[i].out_stride);
  return start_kernel(queue, {ceil_div(d.units, kernels::elementwise_threads), kernels::elementwise_threads},
                      &kernels::permute_elementwise<Unit>, a, d);
}

template <class Unit>
bool launch_vectors(const launch_queue& queue, const unit_movement& a) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Unit));
  constexpr std::int64_t units = 16 / size;
  const detail::composite_tile& t = a.untiled;
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
  const std::int64_t vectors = a.units() / run.units * per_run;
  d.vectors = static_cast<unsigned>(vectors);
  d.per_run = kernels::make_divisor(per_run);
  d.extent[0] = kernels::make_divisor(extent[0]);
  d.extent[1] = kernels::make_divisor(extent[1]);
  return start_kernel(queue, {ceil_div(vectors, kernels::elementwise_threads), kernels::elementwise_threads},
                      &kernels::permute_elementwise_vectors<Unit>, a, d);
}

// Halves the longest dimension until each part fits in one launch: indices have 32 bits.
bool launch_parts(const launch_queue& queue, const unit_movement& a,
                  bool (*launch)(const launch_queue&, const unit_movement&)) {
  if (queue.dry_run) return true;
  if (a.units() <= INT32_MAX) return launch(queue, a);
  const auto* const dims = a.untiled.dims;
  const auto by_extent = [](const auto& x, const auto& y) { return x.extent < y.extent; };
  const auto longest = std::max_element(dims, dims + a.untiled.rank, by_extent) - dims;
  unit_movement first = a, second = a;
  auto& half = first.untiled.dims[longest];
  half.extent /= 2;
  second.untiled.dims[longest].extent -= half.extent;
  second.in += half.extent * half.in_stride;
  second.out += half.extent * half.out_stride;
  return launch_parts(queue, first, launch) && launch_parts(queue, second, launch);
}

// Maximum units of a matrix: larger ones fill a block of their own. Units of a block: four per thread.
constexpr std::int64_t most_tiny_units = kernels::elementwise_threads / 2,
                       block_units = std::int64_t{kernels::elementwise_threads} * 4;

}  // namespace

bool launch_elementwise(const launch_queue& queue, const permute_args& a, const detail::composite_tile& untiled) {
  const unit_movement all{static_cast<const unsigned char*>(a.in), bytes_of(a.out), untiled};
  return with_unit(untiled.unit, [&](auto one) { return launch_parts(queue, all, &launch_units<decltype(one)>); });
}

bool launch_elementwise_vectors(const launch_queue& queue, const permute_args& a,
                                const detail::composite_tile& untiled) {
  const unit_movement all{static_cast<const unsigned char*>(a.in), bytes_of(a.out), untiled};
  return with_unit<8>(untiled.unit, [&](auto one) { return launch_parts(queue, all, &launch_vectors<decltype(one)>); });
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
