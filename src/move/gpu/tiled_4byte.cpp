// Small matrices of elements of 1, 2 and 4 bytes whose rows are full chunks (tiled_4byte.hpp).

#include "families.hpp"

#include "tiled_4byte.hpp"

#include "backends/error.hpp"
#include "gpu/limits.hpp"
#include "launch.hpp"
#include "move/plan/transposes.hpp"

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
  m.rows = a.rows;
  m.cols = a.cols;
  m.in_ld = a.in_ld * Bytes;
  m.out_ld = a.out_ld * Bytes;
  m.in_stride = a.in_stride * Bytes;
  m.out_stride = a.out_stride * Bytes;
  m.tiles_r = static_cast<unsigned>(tiles_r);
  m.tiles_c = static_cast<unsigned>(tiles_c);
  m.tiles = static_cast<unsigned>(tiles_r * tiles_c * a.batch);
  check(launch(queue, grid_of(m.tiles, shape::threads, shape::bytes), &kernels::transpose_tiled_4byte<Bytes>,
               static_cast<unsigned char*>(a.out), static_cast<const unsigned char*>(a.in), m),
        "launch of transpose");
}

}  // namespace

void launch_tiled_4byte(const work_queue& queue, const transpose_args& a) {
  if (a.element_bytes == 1) return launch_tiled_4byte_of<1>(queue, a);
  if (a.element_bytes == 2) return launch_tiled_4byte_of<2>(queue, a);
  launch_tiled_4byte_of<4>(queue, a);
}

}  // namespace twill::TWILL_BACKEND
