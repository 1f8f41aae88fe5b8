#include "misaligned.hpp"

#include <algorithm>
#include <cmath>

#include "candidates.hpp"
#include "transposes.hpp"

namespace twill::detail {
namespace {

// Factors of misaligned-2d for what it issues and moves. `partial`: tiles that are filled in part; `narrow`: rows
// shorter than what a warp loads, which are loaded element by element.
struct misaligned_cost {
  double small, launch, issued, moved, around, partial, narrow;
};
constexpr misaligned_cost misaligned_2d_costs[4] = {{2.5, 3.62, 0.464, 0.927, 0.157, 1, 2.49},
                                                    {2.3, 2.66, 0.454, 0.942, 0.19, 0.38, 1.76},
                                                    {2.2, 2.05, 0.382, 0.983, 0.1, 0.242, 2.36},
                                                    {2, 1.79, 0.466, 0.851, 0.115, 0.043, 1.16}};

std::int64_t tiles_down_of(misaligned_tile tile, const transpose_args& a) {
  return misaligned_tiles_down(a.rows * a.element_bytes, misaligned_length(tile, a.element_bytes));
}

std::int64_t tiles_of(misaligned_tile tile, const transpose_args& a, bool is_aligned) {
  return tiles_down_of(tile, a) * ceil_divided(a.cols, misaligned_columns(tile, a.element_bytes, is_aligned)) * a.batch;
}

// Whether all alternate tiles down a column have less than 0.9 of the height of the large ones that it would take.
bool is_alternate_better(const transpose_args& a) {
  const auto height = [&](misaligned_tile tile) {
    return tiles_down_of(tile, a) * misaligned_length(tile, a.element_bytes);
  };
  return 10 * height(misaligned_tile::alternate) < 9 * height(misaligned_tile::large);
}

// Whether a column is more than a large tile holds, but one tall tile holds it.
bool is_tall_better(const transpose_args& a) {
  return tiles_down_of(misaligned_tile::tall, a) == 1 && tiles_down_of(misaligned_tile::large, a) > 1;
}

// Whether wide tiles overshoot the row length by at most 15 %. The more of a row one tile reads, the fewer lines are
// shared by two tiles. Of 2 bytes, columns of two to seven tiles are faster with large ones. Rows shorter than what a
// warp reads must be packed, and at least half as long, to be loaded in words (rows_of_tile).
bool is_wide_better(const transpose_args& a, int multiprocessors) {
  constexpr misaligned_tile wide = misaligned_tile::wide;
  if (a.element_bytes != 2 && a.element_bytes != 4) return false;
  const std::int64_t lane_bytes = misaligned_lane_bytes(wide, a.element_bytes), down = tiles_down_of(wide, a);
  if (a.element_bytes == 2 && down > 1 && down < 8) return false;
  const std::int64_t least_row_bytes = (a.in_ld == a.cols ? 16 : 32) * lane_bytes;
  const bool is_aligned = matrices(a).in_alignment() >= lane_bytes;
  const std::int64_t columns = misaligned_columns(wide, a.element_bytes, is_aligned);
  return a.cols * a.element_bytes >= least_row_bytes &&
         20 * (ceil_divided(a.cols, columns) * columns - a.cols) <= 3 * a.cols &&
         tiles_of(wide, a, is_aligned) >= 4 * multiprocessors;
}

// The length of tile that the costs are for. Wide and small tiles of 2 bytes and more are costed as 256 bytes, small
// ones of 1 byte as the large or alternate tiles of larger matrices, as in the fit.
std::int64_t costed_length(const matrices& m, misaligned_tile tile) {
  constexpr std::int64_t fitted = 256;
  const bool is_small = tile == misaligned_tile::small;
  if (m.size > 1 && (is_small || tile == misaligned_tile::wide)) return fitted;
  if (is_small) tile = is_alternate_better(m.a) ? misaligned_tile::alternate : misaligned_tile::large;
  return misaligned_length(tile, m.size);
}

// Tiles down a column, and `partial` more where the last one is not full.
double costed_tiles_down(std::int64_t down, std::int64_t length, double partial) {
  const bool is_full = down >= length && (down - length) % (length - misaligned_overlap) == 0;
  return static_cast<double>(misaligned_tiles_down(down, length)) + (is_full ? 0 : partial);
}

// What tiles of single bytes take, in copies, for output rows that begin and end inside of words; `out_bits` are the
// distances of rows, ORed.
double misaligned_ends(std::int64_t element_bytes, std::int64_t out_bits, std::int64_t row_bytes) {
  if (element_bytes > 1 || out_bits % 4 == 0) return 0;
  return (out_bits % 2 != 0 ? 50 : 22) / static_cast<double>(row_bytes);
}

// Instructions and memory overlap. Tiles that the matrix does not fill cost as much as others; rows whose first word is
// shared with their neighbour are read twice.
double factor_of(const matrices& m, misaligned_tile tile) {
  const misaligned_cost& cost = misaligned_2d_costs[m.place()];
  const std::int64_t loaded = 32 * misaligned_lane_bytes(misaligned_tile::large, m.size);
  const std::int64_t width = m.in_alignment() % 4 == 0 ? loaded : loaded / 32 * 31;
  const std::int64_t length = costed_length(m, tile);
  const double down = costed_tiles_down(m.down, length, cost.partial) *
                      static_cast<double>(length - misaligned_overlap) / static_cast<double>(m.down);
  // As rows_of_tile decides (gpu/misaligned_tile.hpp).
  const bool in_words = m.across >= (m.a.in_ld == m.a.cols ? loaded / 2 : loaded);
  const double issue = cost.issued * down * filled(m.across, width) * (in_words ? 1 : cost.narrow);
  const double around = static_cast<double>(64 - m.in_alignment()) /
                        static_cast<double>(divided(m.across, ceil_divided(m.across, width)));
  const double moved = cost.moved + cost.around * around;
  // Between the rows of a matrix lie those of others: nobody completes their sectors in time. Of 1 byte, the
  // three that were timed took longer, aligned or not.
  const bool is_cut = m.is_interleaved() && m.out_alignment() < 32;
  const double interleaved_extra = m.size == 1 && m.is_interleaved() ? 0.4 : 0;
  const double both = std::max(least_of_tiles(m.size).factor, std::sqrt(issue * issue + moved * moved));
  return both + misaligned_ends(m.size, m.out_alignment(), m.down) +
         std::max(interleaved_extra, is_cut ? std::min(0.4, 100 / static_cast<double>(m.down)) : 0);
}

// Elements of 1, 2, 4 and 8 bytes, rows of at least 64 bytes on both sides.
bool is_misaligned_2d(const matrices& m, const device_model& device) {
  if (!m.is_power(8) || m.alignment < m.size || m.down < 64 || m.across < 64) return false;
  return misaligned_shared_bytes(misaligned_tile::small, m.size) <= device.shared_bytes;
}

// Gives rows (`out_segment`) the dimensions that follow one another in the output, columns (`in_segment`) those that do
// in the input, each to the shorter side where both want it.
tile_sides share_out(composite_tile& t) {
  tile_sides s{t.unit, t.unit, 256, 256};
  int next_row = 0, next_col = 0;
  while (true) {
    tile_dim* const row = next_row < t.rank ? &t.dims[next_row] : nullptr;
    tile_dim* const col = next_col < t.rank ? &t.dims[t.in_order[next_col]] : nullptr;
    const bool can_row = row != nullptr && !row->in_segment && row->out_stride == s.row_bytes;
    const bool can_col = col != nullptr && !col->out_segment && col->in_stride == s.col_bytes;
    if (!can_row && !can_col) break;
    if (can_row && (!can_col || s.row_bytes <= s.col_bytes)) {
      row->out_segment = true, row->tile = row->extent, ++next_row;
      s.row_bytes *= row->extent;
    } else {
      col->in_segment = true, col->tile = col->extent, ++next_col;
      s.col_bytes *= col->extent;
    }
  }
  for (int i = 0; i < t.rank; ++i) {
    if (!t.dims[i].in_segment) s.in_bits |= t.dims[i].in_stride;
    if (!t.dims[i].out_segment) s.out_bits |= t.dims[i].out_stride;
  }
  return s;
}

// Instructions and memory overlap. Tiles that rows or columns do not fill cost as much as others, or more. Adjusted
// after the fit (docs/planner.md).
cost_of_launch cost_of_misaligned(const tile_sides& s, std::int64_t unit, int rank) {
  constexpr double launch[4] = {5, 4.4, 2.9, 2.65};
  constexpr double issues[4] = {0.812, 0.444, 0.609, 0.41}, moves[4] = {0.55, 1.009, 0.922, 0.99};
  constexpr double partial[4] = {0.118, 0.213, 0.142, 0.135}, inside[4] = {1.35, 1.63, 1, 1},
                   more[4] = {0.045, 0.02, 0.02, 0};
  const int at = place_of(unit);
  const bool complete = s.in_bits % 4 == 0;
  const std::int64_t length = misaligned_nd_length(unit, complete);
  const std::int64_t lanes = unit == 1 ? 16 : 32;
  const std::int64_t width = (complete ? lanes : lanes - 1) * std::max<std::int64_t>(4, unit);
  const double down =
      costed_tiles_down(s.row_bytes, length, partial[at]) * static_cast<double>(length - misaligned_overlap);
  const double issue =
      issues[at] * down / static_cast<double>(s.row_bytes) * filled(s.col_bytes, width) * (complete ? 1 : inside[at]);
  const double both = std::max(least_of_tiles(unit).factor, std::sqrt(issue * issue + moves[at] * moves[at]));
  return {launch[at], both + misaligned_ends(unit, s.out_bits, s.row_bytes) + more[at] * std::max(0, rank - 3)};
}

}  // namespace

misaligned_tile misaligned_tile_of(const transpose_args& a, std::int64_t shared_bytes, int multiprocessors) {
  const auto fits = [&](misaligned_tile tile) {
    return misaligned_shared_bytes(tile, a.element_bytes) <= shared_bytes;
  };
  const bool are_few = tiles_of(misaligned_tile::large, a, true) < 4 * multiprocessors;
  if (are_few || !fits(misaligned_tile::large)) return misaligned_tile::small;
  if (fits(misaligned_tile::alternate) && is_alternate_better(a)) return misaligned_tile::alternate;
  if (fits(misaligned_tile::tall) && is_tall_better(a)) return misaligned_tile::tall;
  const bool is_wide = fits(misaligned_tile::wide) && is_wide_better(a, multiprocessors);
  return is_wide ? misaligned_tile::wide : misaligned_tile::large;
}

cost_of_launch cost_of_misaligned_2d(const matrices& m, misaligned_tile tile) {
  const misaligned_cost& cost = misaligned_2d_costs[m.place()];
  return {std::max(least_of_tiles(m.size).launch, launch_of(cost.small, cost.launch, m)), factor_of(m, tile)};
}

void add_misaligned(candidates& to, const permute_args& a, const device_model& device) {
  if (to.matrices && is_misaligned_2d(matrices(*to.matrices), device)) {
    to.misaligned_2d_tile = misaligned_tile_of(*to.matrices, device.shared_bytes, device.multiprocessors);
    to.add(family::misaligned_2d, cost_of_misaligned_2d(matrices(*to.matrices), to.misaligned_2d_tile));
  }
  const std::int64_t unit = to.units.unit;
  if (a.run_bytes != unit || unit > 8) return;
  const tile_sides s = to.sides = share_out(to.units);
  if (s.row_bytes < 100 || s.col_bytes < (unit == 1 ? 28 : 60)) return;
  to.add(family::misaligned, cost_of_misaligned(s, unit, a.rank));
}

}  // namespace twill::detail
