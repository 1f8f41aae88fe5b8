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

// The tiles that were ahead on an H200 (tests/bench/NOTES.md): large ones, and, of 1 and 2 bytes, those for matrices of
// few tiles, where the time is that of one block.
template <int Bytes, bool Whole>
struct tiles_of;
template <bool Whole>
struct tiles_of<1, Whole> {
  using large = kernels::word_tile<1, Whole, 256, 512, 16, 3>;
  using small = kernels::word_tile<1, Whole, 128, 512, 8, 3>;
};
template <bool Whole>
struct tiles_of<2, Whole> {
  using large = kernels::word_tile<2, Whole, 256, 256, 16, 5>;
  using small = kernels::word_tile<2, Whole, 128, 256, 8, 8>;
};
template <>
struct tiles_of<4, true> {
  using large = kernels::word_tile<4, true, 256, 256, 8, 8>;
  using small = large;
};
template <>
struct tiles_of<8, true> {
  using large = kernels::word_tile<8, true, 256, 256, 4, 8>;
  using small = large;
};

template <class Shape>
std::int64_t tiles_in(const transpose_args& a) {
  return ceil_div(a.rows, Shape::written) * ceil_div(a.cols, Shape::width) * a.batch;
}

template <int Bytes, bool Whole, class Shape>
void start_tiles(const work_queue& queue, const transpose_args& a) {
  const std::int64_t tiles = tiles_in<Shape>(a);
  const auto config = grid_of(tiles, Shape::threads, Shape::bytes);
  kernels::word_matrices m{};
  m.rows = a.rows;
  m.cols = a.cols;
  m.in_ld = a.in_ld * Bytes;
  m.out_ld = a.out_ld * Bytes;
  m.in_stride = a.in_stride * Bytes;
  m.out_stride = a.out_stride * Bytes;
  m.tiles_r = static_cast<unsigned>(ceil_div(a.rows, Shape::written));
  m.tiles_c = static_cast<unsigned>(ceil_div(a.cols, Shape::width));
  m.tiles = static_cast<unsigned>(tiles);
  constexpr auto kernel = &kernels::transpose_words<Bytes, Whole, Shape>;
  check(launch(queue, config, kernel, static_cast<unsigned char*>(a.out), static_cast<const unsigned char*>(a.in), m),
        "launch of transpose");
}

template <int Bytes, bool Whole>
void start(const work_queue& queue, const transpose_args& a) {
  using tiles = tiles_of<Bytes, Whole>;
  const device_limits limits = limits_of(queue.device->properties());
  const bool few = tiles_in<typename tiles::large>(a) < 4 * limits.multiprocessors;
  if (few || tiles::large::bytes > limits.shared_bytes) {
    start_tiles<Bytes, Whole, typename tiles::small>(queue, a);
  } else {
    start_tiles<Bytes, Whole, typename tiles::large>(queue, a);
  }
}

// Whether all rows of the input begin at multiples of 4 bytes.
bool whole_words(const transpose_args& a) {
  const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.in));
  const std::int64_t distances = a.in_ld | (a.batch > 1 ? a.in_stride : 0);
  return ((address | distances * a.element_bytes) & 3) == 0;
}

template <int Bytes>
bool fits(std::int64_t shared_bytes) {
  return tiles_of<Bytes, true>::small::bytes <= shared_bytes;
}

}  // namespace

bool words_serve(const work_queue& queue, const transpose_args& a, std::int64_t alignment) {
  const std::int64_t bytes = a.element_bytes, shared = limits_of(queue.device->properties()).shared_bytes;
  if (alignment < bytes || a.rows * bytes < 256 || a.cols * bytes < (bytes < 8 ? 128 : 512)) return false;
  return (bytes == 1 && fits<1>(shared)) || (bytes == 2 && fits<2>(shared)) || (bytes == 4 && fits<4>(shared)) ||
         (bytes == 8 && fits<8>(shared));
}

void start_words(const work_queue& queue, const transpose_args& a) {
  switch (a.element_bytes) {
    case 1:
      return whole_words(a) ? start<1, true>(queue, a) : start<1, false>(queue, a);
    case 2:
      return whole_words(a) ? start<2, true>(queue, a) : start<2, false>(queue, a);
    case 4:
      return start<4, true>(queue, a);
    default:
      return start<8, true>(queue, a);
  }
}

}  // namespace twill::TWILL_BACKEND
