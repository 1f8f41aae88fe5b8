// Which kernel swaps the tiles of square matrices: 16-byte chunks where all rows are full chunks at multiples of 16,
// words or elements where elements of a common size are aligned to it, else units.

#include <algorithm>

#include "families.hpp"
#include "in_place_square.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_in_place_args;
using detail::work_queue;

kernels::square_matrices square_of(const transpose_in_place_args& a, std::int64_t edge) {
  kernels::square_matrices m{};
  m.extent = a.rows;
  m.batch = a.batch;
  m.ld = a.ld * a.element_bytes;
  m.stride = a.stride * a.element_bytes;
  m.edge = static_cast<int>(edge);
  const std::int64_t tiles = ceil_div(a.rows, edge);
  m.pairs = tiles * (tiles + 1) / 2;
  return m;
}

// Whether loads carry an L2 prefetch size hint. Pairs of tiles go column by column of the triangle: what a tile that
// is `width` bytes wide leaves of its lines is read with the next column's.
bool prefetches_next(const work_queue& queue, const transpose_in_place_args& a, std::int64_t width) {
  const std::int64_t distances = a.ld | (a.batch > 1 ? a.stride : 0);
  return pays_to_prefetch_l2(limits_of(queue), a.data, distances * a.element_bytes, 4 * a.rows * width);
}

template <int Bytes, int Lines>
void swap_aligned(const work_queue& queue, const transpose_in_place_args& a) {
  using shape = kernels::swap_shape<Bytes, Lines>;
  const auto m = square_of(a, shape::tile);
  const auto config = grid_of(m.pairs * a.batch, 2 * shape::threads, 2 * shape::chunks * 16);
  const bool around = prefetches_next(queue, a, shape::tile * Bytes);
  const auto kernel =
      around ? &kernels::in_place_square<Bytes, Lines, true> : &kernels::in_place_square<Bytes, Lines, false>;
  start_kernel(queue, config, kernel, a, m);
}

// Whether tiles of 256 bytes, `edge` elements, are enough to keep the device busy, and few of them at the edges.
bool many_tiles(const work_queue& queue, const transpose_in_place_args& a, std::int64_t edge) {
  const auto& device = queue.device->properties();
  return a.rows >= 4 * edge && square_of(a, edge).pairs * a.batch >= 3 * device.multiprocessors &&
         shared_of(queue) >= 140 * 1024;
}

// Launches the aligned kernel; false, without a launch, where it does not apply.
bool swap_aligned(const work_queue& queue, const transpose_in_place_args& a) {
  if (alignment_of(a) < 16 || a.rows * a.element_bytes % 16 != 0 || shared_of(queue) < 40 * 1024) return false;
  if (16 % a.element_bytes != 0) return false;
  with_unit(a.element_bytes, [&](auto one) {
    constexpr int bytes = sizeof(one);
    if constexpr (bytes <= 2) {
      if (!many_tiles(queue, a, 256 / bytes)) return swap_aligned<bytes, 8>(queue, a);
    }
    swap_aligned<bytes, bytes == 16 ? 32 : 16>(queue, a);
  });
  return true;
}

template <int Bytes>
void swap_misaligned_of(const work_queue& queue, const transpose_in_place_args& a) {
  using shape = kernels::square_tile<Bytes>;
  const auto m = square_of(a, shape::width);
  const auto config = grid_of(m.pairs * a.batch, shape::threads, 2 * shape::bytes);
  const bool aligned = alignment_of(a) >= 4;
  const auto kernel =
      aligned ? &kernels::in_place_square_misaligned<Bytes, true> : &kernels::in_place_square_misaligned<Bytes, false>;
  start_kernel(queue, config, kernel, a, m);
}

template <class Unit>
void swap_words(const work_queue& queue, const transpose_in_place_args& a) {
  constexpr int edge = kernels::square_words_edge<Unit>, bytes = 2 * edge * (edge + 1) * static_cast<int>(sizeof(Unit));
  const auto m = square_of(a, edge);
  const bool around = prefetches_next(queue, a, edge * static_cast<std::int64_t>(sizeof(Unit)));
  const auto kernel =
      around ? &kernels::in_place_square_words<Unit, true> : &kernels::in_place_square_words<Unit, false>;
  start_kernel(queue, grid_of(m.pairs * a.batch, 256, bytes), kernel, a, m);
}

// Launches a kernel for naturally aligned elements of a common size; false, without a launch, where none applies.
bool swap_misaligned(const work_queue& queue, const transpose_in_place_args& a) {
  if (alignment_of(a) < a.element_bytes || shared_of(queue) < 40 * 1024) return false;
  if (8 % a.element_bytes != 0) return false;  // those of 16 bytes are aligned like rows of full chunks
  with_unit<8>(a.element_bytes, [&](auto one) {
    if constexpr (sizeof(one) <= 2) {
      swap_misaligned_of<sizeof(one)>(queue, a);
    } else {
      swap_words<decltype(one)>(queue, a);
    }
  });
  return true;
}

template <class Unit>
void swap_by_unit(const work_queue& queue, const transpose_in_place_args& a) {
  constexpr std::int64_t odd = std::max<std::int64_t>(4, sizeof(Unit));  // the pitch of rows is an odd number of these
  std::int64_t edge = std::clamp<std::int64_t>(std::int64_t{1} << floor_log2(256 / a.element_bytes), 8, 128);
  const auto pitch = [&] { return (ceil_div(edge * a.element_bytes, odd) | 1) * odd; };
  while (edge > 1 && 2 * edge * pitch() > std::min<std::int64_t>(shared_of(queue), 40 * 1024)) edge /= 2;
  auto m = square_of(a, edge);
  m.units = static_cast<int>(a.element_bytes / static_cast<std::int64_t>(sizeof(Unit)));
  m.pitch = static_cast<int>(pitch());
  start_kernel(queue, grid_of(m.pairs * a.batch, 256, 2 * edge * pitch()), &kernels::in_place_square_units<Unit>, a, m);
}

}  // namespace

void swap_square(const work_queue& queue, const transpose_in_place_args& a, std::int64_t unit) {
  if (swap_aligned(queue, a) || swap_misaligned(queue, a)) return;
  with_unit(unit, [&](auto one) { swap_by_unit<decltype(one)>(queue, a); });
}

}  // namespace twill::TWILL_BACKEND
