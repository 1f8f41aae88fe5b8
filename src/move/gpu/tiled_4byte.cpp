// Small matrices of elements of 1, 2 and 4 bytes whose rows are full chunks (tiled_4byte.hpp).

#include "families.hpp"

#include "tiled_4byte.hpp"

#include "move/plan/transposes.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_args;
using detail::work_queue;

static_assert(kernels::tile_4byte<1>::bytes == detail::tile_bytes_4byte);

template <int Bytes>
void launch_tiled_4byte_of(const work_queue& queue, const transpose_args& a) {
  using shape = kernels::tile_4byte<Bytes>;
  const std::int64_t tiles_r = ceil_div(a.rows, shape::height), tiles_c = ceil_div(a.cols, shape::width);
  kernels::tiled_4byte_matrices m{};
  set_matrices(m, a);
  m.tiles_r = static_cast<unsigned>(tiles_r);
  m.tiles_c = static_cast<unsigned>(tiles_c);
  m.tiles = static_cast<unsigned>(tiles_r * tiles_c * a.batch);
  start_kernel(queue, grid_of(m.tiles, shape::threads, shape::bytes), &kernels::transpose_tiled_4byte<Bytes>, a, m);
}

}  // namespace

void launch_tiled_4byte(const work_queue& queue, const transpose_args& a) {
  with_unit<4>(a.element_bytes, [&](auto one) { launch_tiled_4byte_of<sizeof(one)>(queue, a); });
}

}  // namespace twill::TWILL_BACKEND
