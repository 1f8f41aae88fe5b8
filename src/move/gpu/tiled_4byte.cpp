// Small matrices of elements of 1, 2 and 4 bytes whose rows are whole chunks (tiled_4byte.hpp).

#include "families.hpp"

#include "tiled_4byte.hpp"

#include "backends/error.hpp"
#include "gpu/limits.hpp"
#include "launch.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_args;
using detail::work_queue;

// Of the input, a multiprocessor, so that all blocks run at once. Narrow matrices leave threads idle.
constexpr std::int64_t most_bytes = 65536, most_narrow_bytes = 16384;

template <int Bytes>
void start_quads_of(const work_queue& queue, const transpose_args& a) {
  using shape = kernels::quad_tile<Bytes>;
  const std::int64_t tiles_r = ceil_div(a.rows, shape::height), tiles_c = ceil_div(a.cols, shape::width);
  kernels::quad_matrices m{};
  m.rows = a.rows;
  m.cols = a.cols;
  m.in_ld = a.in_ld * Bytes;
  m.out_ld = a.out_ld * Bytes;
  m.in_stride = a.in_stride * Bytes;
  m.out_stride = a.out_stride * Bytes;
  m.tiles_r = static_cast<unsigned>(tiles_r);
  m.tiles_c = static_cast<unsigned>(tiles_c);
  m.tiles = static_cast<unsigned>(tiles_r * tiles_c * a.batch);
  check(launch(queue, grid_of(m.tiles, shape::threads, shape::bytes), &kernels::transpose_quads<Bytes>,
               static_cast<unsigned char*>(a.out), static_cast<const unsigned char*>(a.in), m),
        "launch of transpose");
}

}  // namespace

bool quads_serve(const work_queue& queue, const transpose_args& a, std::int64_t alignment) {
  const std::int64_t bytes = a.element_bytes, down = a.rows * bytes, across = a.cols * bytes;
  if ((bytes != 1 && bytes != 2 && bytes != 4) || alignment < 16 || down % 16 != 0 || across % 16 != 0) return false;
  if (down < 64 || across < 16) return false;
  const device_limits limits = limits_of(queue.device->properties());
  const std::int64_t most = (across < 128 ? most_narrow_bytes : most_bytes) * limits.multiprocessors;
  return kernels::quad_tile<1>::bytes <= limits.shared_bytes && down * a.cols * a.batch <= most;
}

void start_quads(const work_queue& queue, const transpose_args& a) {
  if (a.element_bytes == 1) return start_quads_of<1>(queue, a);
  if (a.element_bytes == 2) return start_quads_of<2>(queue, a);
  start_quads_of<4>(queue, a);
}

}  // namespace twill::TWILL_BACKEND
