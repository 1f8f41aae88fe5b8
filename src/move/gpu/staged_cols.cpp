// Some ten to a hundred long rows that become packed columns (staged_cols.hpp).

#include "families.hpp"

#include "staged_cols.hpp"

#include "backends/error.hpp"
#include "gpu/limits.hpp"
#include "launch.hpp"
#include "move/plan/transposes.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_args;
using detail::work_queue;

static_assert(kernels::band_pitch == detail::band_pitch && kernels::band_bytes == detail::band_bytes);

template <class Unit>
void start_band_of(const work_queue& queue, const transpose_args& a) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Unit));
  const std::int64_t bands = ceil_div(a.cols * size, kernels::band_bytes);
  kernels::band_matrices m{};
  m.cols = a.cols;
  m.in_ld = a.in_ld * size;
  m.in_stride = a.in_stride * size;
  m.out_stride = a.out_stride * size;
  m.bands = static_cast<unsigned>(bands);
  m.all_bands = static_cast<unsigned>(bands * a.batch);
  m.rows = static_cast<int>(a.rows);
  m.by_rows = kernels::make_divider(a.rows);
  check(launch(queue, grid_of(bands * a.batch, kernels::band_threads, a.rows * kernels::band_pitch),
               &kernels::transpose_band<Unit>, static_cast<unsigned char*>(a.out),
               static_cast<const unsigned char*>(a.in), m),
        "launch of transpose");
}

}  // namespace

void start_band(const work_queue& queue, const transpose_args& a) {
  switch (a.element_bytes) {
    case 1:
      return start_band_of<std::uint8_t>(queue, a);
    case 2:
      return start_band_of<std::uint16_t>(queue, a);
    default:
      return start_band_of<std::uint32_t>(queue, a);
  }
}

}  // namespace twill::TWILL_BACKEND
