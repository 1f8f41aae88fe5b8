// Matrices of short rows that are whole chunks (tiled_linear.hpp).

#include "families.hpp"

#include <algorithm>

#include "tiled_linear.hpp"

#include "backends/error.hpp"
#include "gpu/limits.hpp"
#include "launch.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_args;
using detail::work_queue;

// Blocks of R x R elements in a strip. Small strips, so that many blocks run at once.
constexpr std::int64_t strip_blocks = 64;

// A line of R rows takes a chunk for each column; one more pads it.
std::int64_t strip_bytes(const transpose_args& a) {
  return strip_blocks / (a.cols * a.element_bytes / 16) * (a.cols + 1) * 16;
}

using strip_kernel = void (*)(unsigned char*, const unsigned char*, kernels::strip_matrices);

strip_kernel kernel_of(std::int64_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return &kernels::transpose_strip<1>;
    case 2:
      return &kernels::transpose_strip<2>;
    default:
      return &kernels::transpose_strip<4>;
  }
}

}  // namespace

void start_strip(const work_queue& queue, const transpose_args& a) {
  const std::int64_t bytes = a.element_bytes, row_chunks = a.cols * bytes / 16;
  const std::int64_t lines = strip_blocks / row_chunks, tiles = ceil_div(a.rows * bytes / 16, lines);
  const std::int64_t threads = std::min<std::int64_t>(strip_blocks, kernels::strip_threads);
  const auto config = grid_of(tiles * a.batch, threads, strip_bytes(a));
  kernels::strip_matrices m{};
  m.lines = a.rows * bytes / 16;
  m.out_ld = a.out_ld * bytes;
  m.in_stride = a.in_stride * bytes;
  m.out_stride = a.out_stride * bytes;
  m.tiles = static_cast<unsigned>(tiles);
  m.all_tiles = static_cast<unsigned>(tiles * a.batch);
  m.lines_shift = floor_log2(lines);
  m.chunks_shift = floor_log2(row_chunks);
  check(launch(queue, config, kernel_of(bytes), static_cast<unsigned char*>(a.out),
               static_cast<const unsigned char*>(a.in), m),
        "launch of transpose");
}

}  // namespace twill::TWILL_BACKEND
