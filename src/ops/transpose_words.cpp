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

// The tiles that were ahead on an H200 (tests/bench/NOTES.md).
template <int Bytes, bool Whole>
struct tile_of;
template <bool Whole>
struct tile_of<1, Whole> {
  using type = kernels::word_tile<1, Whole, 128, 256, 16>;
};
template <bool Whole>
struct tile_of<2, Whole> {
  using type = kernels::word_tile<2, Whole, 256, 256, 16>;
};
template <>
struct tile_of<4, true> {
  using type = kernels::word_tile<4, true, 256, 256, 8>;
};
template <>
struct tile_of<8, true> {
  using type = kernels::word_tile<8, true, 512, 256, 8>;
};

template <int Bytes, bool Whole>
void start(const work_queue& queue, const transpose_args& a) {
  using shape = typename tile_of<Bytes, Whole>::type;
  const std::int64_t tiles_r = ceil_div(a.rows, shape::written), tiles_c = ceil_div(a.cols, shape::width);
  const std::int64_t tiles = tiles_r * tiles_c * a.batch;
  const auto config = grid_of(tiles, shape::threads, shape::bytes);
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
  constexpr auto kernel = &kernels::transpose_words<Bytes, Whole, shape>;
  check(launch(queue, config, kernel, static_cast<unsigned char*>(a.out), static_cast<const unsigned char*>(a.in), m),
        "launch of transpose");
}

// Whether all rows of the input begin at multiples of 4 bytes.
bool whole_words(const transpose_args& a) {
  const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.in));
  const std::int64_t distances = a.in_ld | (a.batch > 1 ? a.in_stride : 0);
  return ((address | distances * a.element_bytes) & 3) == 0;
}

template <int Bytes>
bool fits(std::int64_t shared_bytes) {
  return tile_of<Bytes, true>::type::bytes <= shared_bytes;
}

}  // namespace

bool words_serve(const work_queue& queue, const transpose_args& a, std::int64_t alignment) {
  const std::int64_t bytes = a.element_bytes, shared = limits_of(queue.device->properties()).shared_bytes;
  if (alignment < bytes || std::min(a.rows, a.cols) * bytes < 256) return false;
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
