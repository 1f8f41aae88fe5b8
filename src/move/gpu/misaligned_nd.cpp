// Permutations that are transposes of rows and columns of several dimensions (misaligned_nd.hpp).

#include "misaligned_nd.hpp"

#include <algorithm>
#include <cstdlib>

#include "box.hpp"
#include "gpu/limits.hpp"
#include "launch.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::permute_args;
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
bool add(strided_dims& to, const box_dim& d, std::int64_t& count) {
  if (d.extent > most / count) return false;
  to.dim[to.rank++] = {kernels::make_divisor(d.extent), d.in_stride, d.out_stride};
  count *= d.extent;
  return true;
}

// Gives rows the dimensions that lie one after another in the output, columns those that do in the input; where both
// want one, it goes to those that have less.
void share_out(box_plan& p) {
  int next_row = 0, next_col = 0;
  std::int64_t row_bytes = p.unit, col_bytes = p.unit;
  while (true) {
    box_dim* const row = next_row < p.rank ? &p.dims[next_row] : nullptr;
    box_dim* const col = next_col < p.rank ? &p.dims[p.in_order[next_col]] : nullptr;
    const bool can_row = row != nullptr && !row->in_run && row->out_stride == row_bytes;
    const bool can_col = col != nullptr && !col->out_run && col->in_stride == col_bytes;
    if (!can_row && !can_col) return;
    if (can_row && (!can_col || row_bytes <= col_bytes)) {
      row->out_run = true, row->tile = row->extent;
      row_bytes *= row->extent;
      ++next_row;
    } else {
      col->in_run = true, col->tile = col->extent;
      col_bytes *= col->extent;
      ++next_col;
    }
  }
}

// Rows, columns and batch, and where the input ends; false where their numbers are too large.
bool fill(word_permutation& m, const box_plan& p, std::int64_t& batches) {
  std::int64_t rows = 1, cols = 1;
  for (int i = 0; i < p.rank; ++i) {
    const box_dim& col = p.dims[p.in_order[i]];
    if (col.in_run && !add(m.col, col, cols)) return false;
    const box_dim& d = p.dims[i];
    if (d.in_run) continue;
    std::int64_t& count = d.out_run ? rows : batches;
    const std::int64_t before = count;
    if (std::abs(d.in_stride) < least_word_bytes || !add(d.out_run ? m.row : m.batch, d, count)) return false;
    const auto end = static_cast<int>((d.extent - 1) * before);
    (d.out_run ? d.in_stride < 0 ? m.first_row : m.last_row : d.in_stride < 0 ? m.first_batch : m.last_batch) += end;
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
  check(launch(queue, grid_of(tiles, tile::threads, shared), &kernels::permute_misaligned<Bytes, Aligned, tile>,
               static_cast<unsigned char*>(a.out), static_cast<const unsigned char*>(a.in), m),
        "launch of permute");
  return true;
}

// Whether all rows of the input begin at multiples of 4 bytes.
bool has_aligned_rows(const box_plan& p, const void* in) {
  auto bits = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(in));
  for (int i = 0; i < p.rank; ++i) bits |= p.dims[i].in_run ? 0 : p.dims[i].in_stride;
  return bits % 4 == 0;
}

}  // namespace

bool permute_by_words(const work_queue& queue, const permute_args& a, bool only_ask) {
  const std::int64_t unit = unit_of(a);
  if (a.run_bytes != unit || unit > 8) return false;
  box_plan p = plan_units(a, unit);
  share_out(p);
  if (p.out_run_bytes() < 100 || p.in_run_bytes() < 60) return false;
  word_permutation m{};
  std::int64_t batches = 1;
  if (!fill(m, p, batches)) return false;
  const bool aligned = has_aligned_rows(p, a.in);
  switch (unit) {
    case 1:
      return aligned ? start<1, true>(queue, a, m, batches, only_ask) : start<1, false>(queue, a, m, batches, only_ask);
    case 2:
      return aligned ? start<2, true>(queue, a, m, batches, only_ask) : start<2, false>(queue, a, m, batches, only_ask);
    case 4:
      return start<4, true>(queue, a, m, batches, only_ask);
    default:
      return start<8, true>(queue, a, m, batches, only_ask);
  }
}

}  // namespace twill::TWILL_BACKEND
