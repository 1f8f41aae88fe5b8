// Permutations that are transposes of rows and columns of several dimensions (misaligned_nd.hpp).

#include "misaligned_nd.hpp"

#include <algorithm>
#include <cstdlib>

#include "families.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::composite_tile;
using detail::permute_args;
using detail::tile_dim;
using detail::work_queue;
using kernels::strided_dims;
using kernels::word_permutation;

constexpr std::int64_t most = INT32_MAX / 2;
constexpr std::int64_t least_word_bytes = 4;  // input rows nearer to each other could share their first word

// Full occupancy: the strides between rows are long, and so is the latency of their loads.
template <int Bytes, bool Aligned>
struct tile_of;
template <bool Aligned>
struct tile_of<1, Aligned> {
  using type = kernels::word_tile<1, Aligned, 256, 512, 8, 4>;
};
template <>
struct tile_of<2, true> {
  using type = kernels::word_tile<2, true, 512, 512, 8, 4>;
};
template <>
struct tile_of<2, false> {
  using type = kernels::word_tile<2, false, 256, 256, 8, 8>;
};
template <>
struct tile_of<4, true> {
  using type = kernels::word_tile<4, true, 256, 256, 8, 8>;
};
template <>
struct tile_of<8, true> {
  using type = kernels::word_tile<8, true, 512, 256, 8, 5>;
};

// Adds a dimension to those of `count` indices; false where these become too many.
bool add(strided_dims& to, const tile_dim& d, std::int64_t& count) {
  if (d.extent > most / count) return false;
  to.dim[to.rank++] = {kernels::make_divisor(d.extent), d.in_stride, d.out_stride};
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
    if (std::abs(d.in_stride) < least_word_bytes || !add(d.out_segment ? m.row : m.batch, d, count)) return false;
    const auto end = static_cast<int>((d.extent - 1) * before);
    (d.out_segment     ? d.in_stride < 0 ? m.first_row : m.last_row
     : d.in_stride < 0 ? m.first_batch
                       : m.last_batch) += end;
  }
  m.rows = static_cast<int>(rows);
  m.cols = static_cast<int>(cols);
  return true;
}

template <int Bytes, bool Aligned>
bool start(const work_queue& queue, const permute_args& a, word_permutation& m, std::int64_t batches, bool only_ask) {
  using tile = typename tile_of<Bytes, Aligned>::type;
  const device_limits limits = limits_of(queue.device->properties());
  constexpr std::int64_t shared = tile::bytes + 8 * 32 * tile::per_word, step = 16 / Bytes;
  const std::int64_t down = ceil_div(m.rows, tile::written), across = ceil_div(m.cols, tile::width);
  if (shared > limits.shared_bytes || batches > most / (down * across)) return false;
  const std::int64_t tiles = down * across * batches, even = ceil_div(ceil_div(m.cols, across), step) * step;
  if (tiles < 2 * limits.multiprocessors) return false;
  if (only_ask) return true;
  m.width = static_cast<int>(std::min<std::int64_t>(tile::width, even));
  m.tiles_r = kernels::make_divisor(down);
  m.tiles_c = kernels::make_divisor(across);
  m.tiles = static_cast<int>(tiles);
  start_kernel(queue, grid_of(tiles, tile::threads, shared), &kernels::permute_misaligned<Bytes, Aligned, tile>, a, m);
  return true;
}

}  // namespace

bool permute_by_words(const work_queue& queue, const permute_args& a, bool only_ask) {
  const std::int64_t unit = unit_of(a);
  if (a.run_bytes != unit || unit > 8) return false;
  composite_tile p = detail::untiled(a, unit);
  const detail::tile_sides s = share_out(p);
  if (s.row_bytes < 100 || s.col_bytes < 60) return false;
  word_permutation m{};
  std::int64_t batches = 1;
  if (!fill(m, p, batches)) return false;
  const bool aligned = (static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.in)) | s.in_bits) % 4 == 0;
  return with_unit<8>(unit, [&](auto one) {
    if constexpr (sizeof(one) < 4) {
      if (!aligned) return start<sizeof(one), false>(queue, a, m, batches, only_ask);
    }
    return start<sizeof(one), true>(queue, a, m, batches, only_ask);
  });
}

}  // namespace twill::TWILL_BACKEND
