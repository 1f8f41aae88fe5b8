// Some ten to a hundred long rows that become packed columns (staged_cols.hpp).

#include "families.hpp"

#include "staged_cols.hpp"

#include "move/plan/transposes.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_args;
using detail::work_queue;

static_assert(kernels::band_pitch == detail::band_pitch && kernels::band_bytes == detail::band_bytes);

template <class Unit>
void launch_staged_cols_of(const work_queue& queue, const transpose_args& a) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Unit));
  const std::int64_t tiles = ceil_div(a.cols * size, kernels::band_bytes);
  kernels::staged_cols_matrices m{};
  m.cols = a.cols;
  m.in_ld = a.in_ld * size;
  m.in_stride = a.in_stride * size;
  m.out_stride = a.out_stride * size;
  m.tiles = static_cast<unsigned>(tiles);
  m.all_tiles = static_cast<unsigned>(tiles * a.batch);
  m.rows = static_cast<int>(a.rows);
  m.by_rows = kernels::make_divider(a.rows);
  start_kernel(queue, grid_of(tiles * a.batch, kernels::staged_cols_threads, a.rows * kernels::band_pitch),
               &kernels::transpose_staged_cols<Unit>, a, m);
}

}  // namespace

void launch_staged_cols(const work_queue& queue, const transpose_args& a) {
  with_unit<4>(a.element_bytes, [&](auto one) { launch_staged_cols_of<decltype(one)>(queue, a); });
}

}  // namespace twill::TWILL_BACKEND
