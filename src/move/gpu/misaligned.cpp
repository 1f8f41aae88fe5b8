// Matrices of elements of 1, 2, 4 and 8 bytes with misaligned rows (misaligned.hpp).

#include "families.hpp"

#include <type_traits>

#include "misaligned.hpp"

#include "move/plan/transposes.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_args;
using detail::work_queue;

// The tiles that were ahead on an H200 (docs/decisions.md): large ones; wide ones for rows that are long enough,
// whose loads carry an L2 prefetch size hint; low ones for rows that end soon after a large one begins; and those for
// matrices of few tiles, where the time is that of one block. Aligned: rows begin at multiples of what a lane reads.
template <int Bytes, bool Aligned>
struct tiles_of;
template <bool Aligned>
struct tiles_of<1, Aligned> {
  using large = kernels::word_tile<1, Aligned, 256, 512, 16, 3>;
  using low = kernels::word_tile<1, Aligned, 128, 256, 16, 6>;
  using small = kernels::word_tile<1, Aligned, 128, 512, 8, 3>;
};
template <bool Aligned>
struct tiles_of<2, Aligned> {
  using large = kernels::word_tile<2, Aligned, 256, 256, 16, 5>;
  using wide = kernels::pair_tile<2, Aligned, 256, 512, 8, 3>;
  using small = kernels::word_tile<2, Aligned, 128, 256, 8, 8>;
};
template <bool Aligned>
struct tiles_of<4, Aligned> {
  using large = kernels::word_tile<4, true, 256, 256, 8, 8>;
  using wide = kernels::pair_tile<4, Aligned, 256, 256, 8, 5>;
  using small = large;
};
template <bool Aligned>
struct tiles_of<8, Aligned> {
  using large = kernels::word_tile<8, true, 256, 256, 4, 8>;
  using wide = kernels::word_tile<8, true, 256, 256, 4, 8, true>;
  using small = large;
};

// Tiles down. The last one writes all that it holds.
template <class Shape>
std::int64_t tiles_down(const transpose_args& a) {
  return a.rows <= Shape::height ? 1 : 1 + ceil_div(a.rows - Shape::height, Shape::written);
}

template <class Shape>
std::int64_t tiles_in(const transpose_args& a) {
  return tiles_down<Shape>(a) * ceil_div(a.cols, Shape::width) * a.batch;
}

template <int Bytes, bool Aligned, class Shape>
void launch_tiles(const work_queue& queue, const transpose_args& a) {
  const std::int64_t tiles = tiles_in<Shape>(a);
  const auto config = grid_of(tiles, Shape::threads, Shape::bytes);
  kernels::word_matrices m{};
  set_matrices(m, a);
  m.tiles_r = static_cast<unsigned>(tiles_down<Shape>(a));
  m.tiles_c = static_cast<unsigned>(ceil_div(a.cols, Shape::width));
  m.tiles = static_cast<unsigned>(tiles);
  constexpr auto kernel = &kernels::transpose_misaligned<Bytes, Aligned, Shape>;
  start_kernel(queue, config, kernel, a, m);
}

// Whether all rows of the input begin at multiples of so many bytes, a power of two.
bool rows_begin_at(const transpose_args& a, std::int64_t multiple) {
  const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.in));
  const std::int64_t distances = a.in_ld | (a.batch > 1 ? a.in_stride : 0);
  return ((address | distances * a.element_bytes) & (multiple - 1)) == 0;
}

template <int Bytes, class IfAligned, class IfMisaligned>
void launch_by_alignment(const work_queue& queue, const transpose_args& a) {
  if constexpr (!std::is_same_v<IfAligned, IfMisaligned>) {
    if (!rows_begin_at(a, IfAligned::lane_bytes)) return launch_tiles<Bytes, false, IfMisaligned>(queue, a);
  }
  launch_tiles<Bytes, true, IfAligned>(queue, a);
}

// Whether wide tiles waste little of their width, and a column of them fits in the cache until the next one
// reads the lines that they loaded.
template <class Wide>
bool can_be_wide(const transpose_args& a, const device_limits& limits) {
  const std::int64_t around = 32 * Wide::lane_bytes;  // bytes of a row
  return Wide::bytes <= limits.shared_bytes && a.cols * a.element_bytes >= 4 * around &&
         2 * a.rows * around <= limits.cache_bytes / 3 && tiles_in<Wide>(a) >= 4 * limits.multiprocessors;
}

template <int Bytes>
void start(const work_queue& queue, const transpose_args& a) {
  using aligned = tiles_of<Bytes, true>;
  using misaligned = tiles_of<Bytes, false>;
  const device_limits limits = limits_of(queue.device->properties());
  if constexpr (Bytes > 1) {
    if (can_be_wide<typename aligned::wide>(a, limits)) {
      return launch_by_alignment<Bytes, typename aligned::wide, typename misaligned::wide>(queue, a);
    }
  }
  using large = typename aligned::large;
  if (tiles_in<large>(a) < 4 * limits.multiprocessors || large::bytes > limits.shared_bytes) {
    return launch_by_alignment<Bytes, typename aligned::small, typename misaligned::small>(queue, a);
  }
  if constexpr (Bytes == 1) {
    using low = typename aligned::low;
    if (tiles_down<low>(a) * low::height < tiles_down<large>(a) * large::height) {
      return launch_by_alignment<Bytes, low, typename misaligned::low>(queue, a);
    }
  }
  launch_by_alignment<Bytes, large, typename misaligned::large>(queue, a);
}

template <int Bytes>
constexpr bool has_bytes(std::int64_t bytes) {
  return tiles_of<Bytes, true>::small::bytes == bytes && tiles_of<Bytes, false>::small::bytes == bytes;
}
static_assert(has_bytes<1>(detail::tile_bytes_misaligned[0]) && has_bytes<2>(detail::tile_bytes_misaligned[1]) &&
              has_bytes<4>(detail::tile_bytes_misaligned[2]) && has_bytes<8>(detail::tile_bytes_misaligned[3]));

}  // namespace

void launch_misaligned(const work_queue& queue, const transpose_args& a) {
  with_unit<8>(a.element_bytes, [&](auto one) { start<sizeof(one)>(queue, a); });
}

}  // namespace twill::TWILL_BACKEND
