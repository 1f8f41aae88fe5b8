// Some ten to a hundred long rows that become packed columns (staged_cols.hpp).

#include "families.hpp"

#include "staged_cols.hpp"

#include "backends/error.hpp"
#include "gpu/limits.hpp"
#include "launch.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_args;
using detail::work_queue;

constexpr std::int64_t least_rows = 9;

// Beyond, too few blocks fit on a multiprocessor, and other kernels are ahead.
std::int64_t most_rows(std::int64_t element_bytes) {
  return element_bytes < 4 ? 96 : 72;
}

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

bool band_serves(const work_queue& queue, const transpose_args& a, std::int64_t alignment) {
  const std::int64_t size = a.element_bytes;
  if (size > 4 || lowest_bit(size) != size || alignment < size || a.out_ld != a.rows) return false;
  if (a.rows < least_rows || a.rows > most_rows(size) || a.cols * size < 8 * kernels::band_bytes) return false;
  const device_limits limits = limits_of(queue.device->properties());
  return a.rows * kernels::band_pitch <= limits.shared_bytes / 3 &&
         a.cols * size / kernels::band_bytes * a.batch >= 2 * limits.multiprocessors;
}

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
