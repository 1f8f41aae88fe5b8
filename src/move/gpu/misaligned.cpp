// Elements of 1, 2, 4 and 8 bytes with misaligned rows (misaligned.hpp).

#include "misaligned.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "move/plan/misaligned.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::composite_tile;
using detail::tile_dim;
using kernels::strided_dims;
using kernels::word_permutation;

// What the planner leaves open of a tile: threads of a block, rows that a warp loads at once, blocks a multiprocessor.
struct tile_block {
  int threads, rows, blocks;
};

// By detail::misaligned_tile and element size. Where there is no tile of a kind, it is the large one.
constexpr tile_block blocks_2d[5][4] = {{{512, 16, 3}, {288, 16, 6}, {256, 8, 8}, {256, 4, 8}},  // large
                                        {{256, 16, 6}, {320, 16, 5}, {256, 8, 8}, {320, 4, 6}},  // alternate
                                        {{512, 16, 3}, {384, 16, 4}, {256, 8, 8}, {256, 4, 8}},  // tall
                                        {{512, 16, 3}, {512, 8, 3}, {256, 8, 5}, {256, 4, 8}},   // wide
                                        {{512, 8, 3}, {256, 8, 8}, {256, 8, 8}, {256, 4, 8}}};   // small

// Aligned: rows begin at multiples of what a lane reads, as those of elements that fill it always do.
template <int Tile, int Bytes, bool Aligned>
struct tile_2d {
  static constexpr auto size = static_cast<detail::misaligned_tile>(Tile);
  static constexpr tile_block block = blocks_2d[Tile][detail::place_of(Bytes)];
  static constexpr int lane_bytes = detail::misaligned_lane_bytes(size, Bytes), word_bytes = Bytes < 4 ? 4 : Bytes;
  static constexpr bool aligned = Aligned || lane_bytes == Bytes;
  using shape = kernels::word_tile<Bytes, aligned, detail::misaligned_length(size, Bytes), block.threads, block.rows,
                                   block.blocks, lane_bytes / word_bytes>;
  static_assert(shape::bytes == detail::misaligned_shared_bytes(size, Bytes) &&
                shape::width == detail::misaligned_columns(size, Bytes, aligned));
};
static_assert(kernels::tile_overlap == detail::misaligned_overlap);

template <class Tile, int Bytes>
bool launch_tiles(const launch_queue& queue, const transpose_args& a) {
  using shape = typename Tile::shape;
  kernels::matrix_tiles m{};
  const bool across = kernels::is_across_better(limits_of(queue).cache_bytes, a.rows, 2 * 32 * shape::lane_bytes,
                                                shape::height, a.cols * Bytes);
  const std::int64_t tiles = set_tiles(queue, m, a, detail::misaligned_tiles_down(a.rows * Bytes, shape::length),
                                       ceil_div(a.cols, shape::width), across);
  return start_kernel(queue, {tiles, shape::threads, shape::bytes},
                      &kernels::transpose_misaligned<Bytes, Tile::aligned, shape>, a, m);
}

template <int Bytes, int Tile>
bool launch_by_alignment(const launch_queue& queue, const transpose_args& a) {
  using aligned = tile_2d<Tile, Bytes, true>;
  using misaligned = tile_2d<Tile, Bytes, false>;
  if constexpr (!misaligned::aligned) {
    if (detail::matrices(a).in_alignment() < aligned::lane_bytes) return launch_tiles<misaligned, Bytes>(queue, a);
  }
  return launch_tiles<aligned, Bytes>(queue, a);
}

template <int Bytes, int... Tiles>
bool start(const launch_queue& queue, const transpose_args& a, detail::misaligned_tile size,
           std::integer_sequence<int, Tiles...>) {
  bool (*const launches[])(const launch_queue&, const transpose_args&) = {&launch_by_alignment<Bytes, Tiles>...};
  return launches[static_cast<int>(size)](queue, a);
}

// The tile of several dimensions. Full occupancy, as the strides between rows are long, and so is the latency of their
// loads; of 1 byte half a warp wide: rows are short, and two rows a warp load more at once. Of 1 byte and misaligned,
// more rows at once would take more registers than full occupancy leaves.
template <int Bytes, bool Aligned>
struct tile_nd {
  static constexpr tile_block blocks[2][4] = {{{256, 4, 8}, {256, 8, 8}, {256, 8, 8}, {256, 8, 5}},
                                              {{256, 8, 8}, {512, 8, 4}, {256, 8, 8}, {256, 8, 5}}};  // aligned
  static constexpr tile_block block = blocks[Aligned ? 1 : 0][detail::place_of(Bytes)];
  static constexpr int length = detail::misaligned_nd_length(Bytes, Aligned);
  using shape =
      kernels::word_tile<Bytes, Aligned, length, block.threads, block.rows, block.blocks, 1, Bytes == 1 ? 16 : 32>;
};

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
bool start(const launch_queue& queue, const permute_args& a, word_permutation& m, std::int64_t batches,
           std::int64_t in_bits) {
  using tile = typename tile_nd<Bytes, Aligned>::shape;
  const device_limits limits = limits_of(queue);
  constexpr std::int64_t shared = tile::bytes + 8 * tile::lanes * tile::per_word, step = 16 / Bytes;
  const std::int64_t down = detail::misaligned_tiles_down(std::int64_t{m.rows} * Bytes, tile::length),
                     across = ceil_div(m.cols, tile::width);
  if (shared > limits.shared_bytes || batches > most / (down * across)) return false;
  const std::int64_t tiles = down * across * batches, even = ceil_div(ceil_div(m.cols, across), step) * step;
  if (tiles < 2 * limits.multiprocessors) return false;
  m.width = static_cast<int>(std::min<std::int64_t>(tile::width, even));
  const bool is_shared =
      ((in_bits | std::int64_t{m.width} * Bytes) & 63) != 0;  // adjacent tiles of a row share 64-byte DRAM transactions
  m.order = kernels::make_order(
      down, across,
      is_shared && kernels::is_across_better(limits.cache_bytes, m.rows, 2 * tile::lanes * tile::lane_bytes,
                                             tile::height, std::int64_t{m.cols} * Bytes));
  m.tiles = static_cast<unsigned>(tiles);
  return start_kernel(queue, {tiles, tile::threads, shared}, &kernels::permute_misaligned<Bytes, Aligned, tile>, a, m);
}

}  // namespace

bool launch_misaligned_2d(const launch_queue& queue, const transpose_args& a, detail::misaligned_tile tile) {
  return with_unit<8>(a.element_bytes, [&](auto one) {
    return start<sizeof(one)>(queue, a, tile, std::make_integer_sequence<int, 5>{});
  });
}

bool launch_misaligned(const launch_queue& queue, const permute_args& a, const detail::candidates& planned) {
  const composite_tile& p = planned.units;
  word_permutation m{};
  std::int64_t batches = 1;
  if (!fill(m, p, batches)) return false;
  const std::int64_t bits = address_of(a.in) | planned.sides.in_bits;
  return with_unit<8>(p.unit, [&](auto one) {
    if constexpr (sizeof(one) < 4) {
      if (bits % 4 != 0) return start<sizeof(one), false>(queue, a, m, batches, bits);
    }
    return start<sizeof(one), true>(queue, a, m, batches, bits);
  });
}

}  // namespace twill::TWILL_BACKEND
