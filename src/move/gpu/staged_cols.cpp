// Some to several hundred long rows that become packed columns (staged_cols.hpp).

#include "families.hpp"

#include "staged_cols.hpp"

#include "move/plan/transposes.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_args;
using detail::work_queue;

template <int Vectors>
using band = kernels::column_band<Vectors>;
template <int Vectors>
constexpr bool is_planned =
    detail::band_bytes(Vectors) == band<Vectors>::bytes && detail::band_pitch(Vectors) == band<Vectors>::pitch;
static_assert(is_planned<8> && is_planned<16> && is_planned<32>);

template <class Unit, int Vectors, int Threads>
void launch_bands(const work_queue& queue, const transpose_args& a) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Unit));
  const std::int64_t tiles = ceil_div(a.cols, band<Vectors>::bytes / size);
  kernels::staged_cols_matrices m{};
  m.cols = a.cols;
  m.in_ld = a.in_ld * size;
  m.in_stride = a.in_stride * size;
  m.out_stride = a.out_stride * size;
  m.tiles = static_cast<unsigned>(tiles);
  m.all_tiles = static_cast<unsigned>(tiles * a.batch);
  m.rows = static_cast<int>(a.rows);
  m.by_rows = kernels::make_divider(a.rows);
  const auto config = grid_of(tiles * a.batch, Threads, detail::bytes_of_bands(a.rows, size, Vectors));
  start_kernel(queue, config, &kernels::transpose_staged_cols<Unit, Vectors, Threads>, a, m);
}

template <class Unit>
void launch_staged_cols_of(const work_queue& queue, const transpose_args& a) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Unit));
  const auto shared = static_cast<std::int64_t>(queue.device->properties().shared_bytes_per_block);
  const detail::band_shape shape = detail::shape_of_bands(a.rows, size, shared);
  if (shape.vectors == 32) return launch_bands<Unit, 32, 256>(queue, a);
  if (shape.vectors == 16) return launch_bands<Unit, 16, 256>(queue, a);
  if (shape.threads == 256) return launch_bands<Unit, 8, 256>(queue, a);
  launch_bands<Unit, 8, 512>(queue, a);
}

}  // namespace

void launch_staged_cols(const work_queue& queue, const transpose_args& a) {
  with_unit<4>(a.element_bytes, [&](auto one) { launch_staged_cols_of<decltype(one)>(queue, a); });
}

}  // namespace twill::TWILL_BACKEND
