// Matrices of elements of 1, 2, 4 and 8 bytes whose rows begin anywhere (kernels/transpose_words.hpp).

#include "ops/transpose_words.hpp"

#include <algorithm>

#include "kernels/transpose_words.hpp"

#include "core/check.hpp"
#include "launch.hpp"
#include "ops/transpose_plan.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_args;
using detail::work_queue;

// Bytes of an output row of a tile; threads of a block, and blocks that should find room in a multiprocessor.
template <int Bytes>
inline constexpr int length_of = Bytes == 8 ? 512 : 256;
template <int Bytes>
inline constexpr int threads_of = 256;
template <int Bytes>
inline constexpr int blocks_of = Bytes == 4   ? 8
                                 : Bytes == 8 ? 6
                                              : 5;

template <int Bytes>
std::int64_t tile_bytes() {
  return kernels::word_tile<Bytes, length_of<Bytes>, 16>::bytes;
}

template <int Bytes>
void start(const work_queue& queue, const transpose_args& a) {
  constexpr int length = length_of<Bytes>, shear = 16, threads = threads_of<Bytes>, blocks = blocks_of<Bytes>;
  using shape = kernels::word_tile<Bytes, length, shear>;
  const std::int64_t tiles_r = ceil_div(a.rows, shape::written), tiles_c = ceil_div(a.cols, shape::width);
  const std::int64_t tiles = tiles_r * tiles_c * a.batch;
  const auto config = grid_of(tiles, threads, shape::bytes);
  kernels::word_matrices m{};
  m.rows = a.rows;
  m.cols = a.cols;
  m.in_ld = a.in_ld * Bytes;
  m.out_ld = a.out_ld * Bytes;
  m.in_stride = a.in_stride * Bytes;
  m.out_stride = a.out_stride * Bytes;
  m.tiles_r = static_cast<unsigned>(tiles_r);
  m.tiles_c = static_cast<unsigned>(tiles_c);
  m.tiles = static_cast<unsigned>(tiles);
  auto kernel = &kernels::transpose_words<Bytes, length, shear, threads, blocks, true>;
  if constexpr (Bytes < 4) {
    const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.in));
    const bool whole = ((address | m.in_ld | (a.batch > 1 ? m.in_stride : 0)) & 3) == 0;
    if (!whole) kernel = &kernels::transpose_words<Bytes, length, shear, threads, blocks, false>;
  }
  check(launch(queue, config, kernel, static_cast<unsigned char*>(a.out), static_cast<const unsigned char*>(a.in), m),
        "launch of transpose");
}

}  // namespace

bool words_serve(const work_queue& queue, const transpose_args& a, std::int64_t alignment) {
  const std::int64_t bytes = a.element_bytes, shared = limits_of(queue.device->properties()).shared_bytes;
  if (alignment < bytes || std::min(a.rows, a.cols) * bytes < 256) return false;
  return (bytes == 1 && tile_bytes<1>() <= shared) || (bytes == 2 && tile_bytes<2>() <= shared) ||
         (bytes == 4 && tile_bytes<4>() <= shared) || (bytes == 8 && tile_bytes<8>() <= shared);
}

void start_words(const work_queue& queue, const transpose_args& a) {
  switch (a.element_bytes) {
    case 1:
      return start<1>(queue, a);
    case 2:
      return start<2>(queue, a);
    case 4:
      return start<4>(queue, a);
    default:
      return start<8>(queue, a);
  }
}

}  // namespace twill::TWILL_BACKEND
