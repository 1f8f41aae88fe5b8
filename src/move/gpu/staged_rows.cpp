// Packed matrices of some ten to a hundred columns (staged_rows.hpp).

#include "families.hpp"

#include <algorithm>

#include "staged_rows.hpp"

#include "staged_padding.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_args;
using detail::work_queue;

// A tile writes 512 bytes of each output row, or 256 where there are many.
int chunks_shift_of(const transpose_args& a) {
  return a.cols <= 64 ? 5 : 4;
}

std::int64_t written_bytes(const transpose_args& a) {
  return std::int64_t{16} << chunks_shift_of(a);
}

std::int64_t staged_rows_bytes(const transpose_args& a) {
  return shared_with_padding((written_bytes(a) + kernels::staged_rows_overlap) * a.cols);
}

template <class Unit>
void launch_staged_rows_of(const work_queue& queue, const transpose_args& a) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Unit));
  const std::int64_t tiles = ceil_div(a.rows * size, written_bytes(a));
  kernels::staged_rows_matrices s{};
  s.rows = a.rows;
  s.out_ld = a.out_ld * size;
  s.in_stride = a.in_stride * size;
  s.out_stride = a.out_stride * size;
  s.tiles = static_cast<unsigned>(tiles);
  s.all_tiles = static_cast<unsigned>(tiles * a.batch);
  s.chunks_shift = chunks_shift_of(a);
  s.shape.cols = static_cast<int>(a.cols);
  const int lane_bytes = 16 * s.shape.cols;  // from the chunk of a lane to that of the next
  fewest_conflicts<Unit>(s.shape, [&](int warp, int lane) { return lane * lane_bytes + warp * 7 * lane_bytes / 16; });
  start_kernel(queue, grid_of(tiles * a.batch, kernels::staged_rows_threads, staged_rows_bytes(a)),
               &kernels::transpose_staged_rows<Unit>, a, s);
}

}  // namespace

void launch_staged_rows(const work_queue& queue, const transpose_args& a) {
  with_unit<8>(a.element_bytes, [&](auto one) { launch_staged_rows_of<decltype(one)>(queue, a); });
}

}  // namespace twill::TWILL_BACKEND
