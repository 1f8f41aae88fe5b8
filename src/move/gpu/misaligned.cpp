// Elements of 1, 2, 4 and 8 bytes with misaligned rows (misaligned.hpp).

#include "misaligned.hpp"

#include <algorithm>
#include <cstdlib>
#include <type_traits>

#include "families.hpp"
#include "move/plan/misaligned.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::composite_tile;
using detail::permute_args;
using detail::tile_dim;
using detail::transpose_args;
using detail::work_queue;
using kernels::strided_dims;
using kernels::word_permutation;

// The tiles of detail::misaligned_tile. Aligned: rows begin at multiples of what a lane reads. nd, of several
// dimensions: full occupancy, as the strides between rows are long, and so is the latency of their loads; of 1 byte
// half a warp wide: rows are short, and two rows a warp load more at once. Of 1 byte and misaligned, more rows at once
// would take more registers than full occupancy leaves.
template <int Bytes, bool Aligned>
struct tiles_of;
template <bool Aligned>
struct tiles_of<1, Aligned> {
  using large = kernels::word_tile<1, Aligned, 256, 512, 16, 3>;
  using alternate = kernels::word_tile<1, Aligned, 128, 256, 16, 6>;
  using tall = large;
  using wide = large;
  using small = kernels::word_tile<1, Aligned, 128, 512, 8, 3>;
  using nd = kernels::word_tile<1, Aligned, 256, 256, Aligned ? 8 : 4, 8, 1, 16>;
};
template <bool Aligned>
struct tiles_of<2, Aligned> {
  using large = kernels::word_tile<2, Aligned, 288, 288, 16, 6>;
  using alternate = kernels::word_tile<2, Aligned, 320, 320, 16, 5>;
  using tall = kernels::word_tile<2, Aligned, 384, 384, 16, 4>;
  using wide = kernels::pair_tile<2, Aligned, 256, 512, 8, 3>;
  using small = kernels::word_tile<2, Aligned, 128, 256, 8, 8>;
  using nd = kernels::word_tile<2, Aligned, Aligned ? 512 : 256, Aligned ? 512 : 256, 8, Aligned ? 4 : 8>;
};
template <bool Aligned>
struct tiles_of<4, Aligned> {
  using large = kernels::word_tile<4, true, 256, 256, 8, 8>;
  using alternate = large;
  using tall = large;
  using wide = kernels::pair_tile<4, Aligned, 256, 256, 8, 5>;
  using small = large;
  using nd = large;
};
template <bool Aligned>
struct tiles_of<8, Aligned> {
  using large = kernels::word_tile<8, true, 256, 256, 4, 8>;
  using alternate = kernels::word_tile<8, true, 320, 320, 4, 6>;
  using tall = large;
  using wide = large;
  using small = large;
  using nd = kernels::word_tile<8, true, 512, 256, 8, 5>;
};

template <int Bytes, bool Aligned, class Shape>
void launch_tiles(const work_queue& queue, const transpose_args& a) {
  kernels::matrix_tiles m{};
  const bool across = kernels::is_across_better(limits_of(queue).cache_bytes, a.rows, 2 * 32 * Shape::lane_bytes,
                                                Shape::height, a.cols * Bytes);
  const std::int64_t tiles = set_tiles(m, a, detail::misaligned_tiles_down(a.rows * Bytes, Shape::length),
                                       ceil_div(a.cols, Shape::width), across);
  start_kernel(queue, grid_of(tiles, Shape::threads, Shape::bytes),
               &kernels::transpose_misaligned<Bytes, Aligned, Shape>, a, m);
}

template <int Bytes, class IfAligned, class IfMisaligned>
void launch_by_alignment(const work_queue& queue, const transpose_args& a) {
  if constexpr (!std::is_same_v<IfAligned, IfMisaligned>) {
    const bool is_aligned = detail::matrices(a).in_alignment() >= IfAligned::lane_bytes;
    if (!is_aligned) return launch_tiles<Bytes, false, IfMisaligned>(queue, a);
  }
  launch_tiles<Bytes, true, IfAligned>(queue, a);
}

template <int Bytes>
void start(const work_queue& queue, const transpose_args& a, detail::misaligned_tile size) {
  using aligned = tiles_of<Bytes, true>;
  using misaligned = tiles_of<Bytes, false>;
  using tile = detail::misaligned_tile;
  switch (size) {
    case tile::large:
      return launch_by_alignment<Bytes, typename aligned::large, typename misaligned::large>(queue, a);
    case tile::alternate:
      return launch_by_alignment<Bytes, typename aligned::alternate, typename misaligned::alternate>(queue, a);
    case tile::tall:
      return launch_by_alignment<Bytes, typename aligned::tall, typename misaligned::tall>(queue, a);
    case tile::wide:
      return launch_by_alignment<Bytes, typename aligned::wide, typename misaligned::wide>(queue, a);
    case tile::small:
      return launch_by_alignment<Bytes, typename aligned::small, typename misaligned::small>(queue, a);
  }
}

template <int Bytes, bool Aligned, class Shape>
constexpr bool is_as_planned(detail::misaligned_tile tile) {
  return Shape::length == detail::misaligned_length(tile, Bytes) &&
         Shape::bytes == detail::misaligned_shared_bytes(tile, Bytes) &&
         Shape::width == detail::misaligned_columns(tile, Bytes, Aligned);
}
template <int Bytes, bool Aligned>
constexpr bool are_as_planned() {
  using tiles = tiles_of<Bytes, Aligned>;
  using tile = detail::misaligned_tile;
  return is_as_planned<Bytes, Aligned, typename tiles::large>(tile::large) &&
         is_as_planned<Bytes, Aligned, typename tiles::alternate>(tile::alternate) &&
         is_as_planned<Bytes, Aligned, typename tiles::tall>(tile::tall) &&
         is_as_planned<Bytes, Aligned, typename tiles::wide>(tile::wide) &&
         is_as_planned<Bytes, Aligned, typename tiles::small>(tile::small);
}
static_assert(are_as_planned<1, true>() && are_as_planned<2, true>() && are_as_planned<4, true>() &&
              are_as_planned<8, true>() && are_as_planned<1, false>() && are_as_planned<2, false>() &&
              are_as_planned<4, false>() && are_as_planned<8, false>());
static_assert(kernels::tile_overlap == detail::misaligned_overlap);

constexpr std::int64_t most = INT32_MAX / 2;
// Bytes between rows of the input. Those of 1- and 2-byte elements are read in words, which extend up to 6 bytes beyond
// a row: a distance of at least 8 bytes keeps them inside the input.
constexpr std::int64_t least_row_distance(std::int64_t unit) {
  return unit < 4 ? 8 : unit;
}

// Adds a dimension to those of `count` indices; false where these become too many.
bool add(strided_dims& to, const tile_dim& d, std::int64_t& count) {
  if (d.extent > most / count) return false;
  to.add(d.extent, d.in_stride, d.out_stride);
  count *= d.extent;
  return true;
}

// Rows, columns and batch, and where the input ends; false where their numbers are too large.
bool fill(word_permutation& m, const composite_tile& p, std::int64_t& batches) {
  std::int64_t rows = 1, cols = 1;
  for (int i = 0; i < p.rank; ++i) {
    const tile_dim& col = p.dims[p.in_order[i]];
    if (col.in_segment && !add(m.col, col, cols)) return false;
    const tile_dim& d = p.dims[i];
    if (d.in_segment) continue;
    std::int64_t& count = d.out_segment ? rows : batches;
    const std::int64_t before = count;
    if (std::abs(d.in_stride) < least_row_distance(p.unit) || !add(d.out_segment ? m.row : m.batch, d, count))
      return false;
    int& first = d.out_segment ? m.first_row : m.first_batch;
    int& last = d.out_segment ? m.last_row : m.last_batch;
    (d.in_stride < 0 ? first : last) += static_cast<int>((d.extent - 1) * before);
  }
  m.rows = static_cast<int>(rows);
  m.cols = static_cast<int>(cols);
  return true;
}

// `in_bits`: the addresses of input rows, ORed.
template <int Bytes, bool Aligned>
bool start(const work_queue& queue, const permute_args& a, word_permutation& m, std::int64_t batches,
           std::int64_t in_bits, bool dry_run) {
  using tile = typename tiles_of<Bytes, Aligned>::nd;
  const device_limits limits = limits_of(queue);
  constexpr std::int64_t shared = tile::bytes + 8 * tile::lanes * tile::per_word, step = 16 / Bytes;
  const std::int64_t down = detail::misaligned_tiles_down(std::int64_t{m.rows} * Bytes, tile::length),
                     across = ceil_div(m.cols, tile::width);
  if (shared > limits.shared_bytes || batches > most / (down * across)) return false;
  const std::int64_t tiles = down * across * batches, even = ceil_div(ceil_div(m.cols, across), step) * step;
  if (tiles < 2 * limits.multiprocessors) return false;
  if (dry_run) return true;
  m.width = static_cast<int>(std::min<std::int64_t>(tile::width, even));
  const bool is_shared =
      ((in_bits | std::int64_t{m.width} * Bytes) & 63) != 0;  // adjacent tiles of a row share 64-byte DRAM transactions
  m.order = kernels::make_order(
      down, across,
      is_shared && kernels::is_across_better(limits.cache_bytes, m.rows, 2 * tile::lanes * tile::lane_bytes,
                                             tile::height, std::int64_t{m.cols} * Bytes));
  m.tiles = static_cast<unsigned>(tiles);
  start_kernel(queue, grid_of(tiles, tile::threads, shared), &kernels::permute_misaligned<Bytes, Aligned, tile>, a, m);
  return true;
}

}  // namespace

void launch_misaligned_2d(const work_queue& queue, const permute_args&, const detail::candidates& planned) {
  const transpose_args& a = *planned.matrices;
  with_unit<8>(a.element_bytes, [&](auto one) { start<sizeof(one)>(queue, a, planned.misaligned_2d_tile); });
}

bool launch_misaligned(const work_queue& queue, const permute_args& a, const detail::candidates& planned,
                       bool dry_run) {
  const composite_tile& p = planned.units;
  word_permutation m{};
  std::int64_t batches = 1;
  if (!fill(m, p, batches)) return false;
  const std::int64_t bits = address_of(a.in) | planned.sides.in_bits;
  return with_unit<8>(p.unit, [&](auto one) {
    if constexpr (sizeof(one) < 4) {
      if (bits % 4 != 0) return start<sizeof(one), false>(queue, a, m, batches, bits, dry_run);
    }
    return start<sizeof(one), true>(queue, a, m, batches, bits, dry_run);
  });
}

}  // namespace twill::TWILL_BACKEND
