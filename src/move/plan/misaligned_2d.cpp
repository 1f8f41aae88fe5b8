#include "misaligned_2d.hpp"

#include <algorithm>
#include <cmath>

#include "candidates.hpp"
#include "transposes.hpp"

namespace twill::detail {
namespace {

// Tiles down a column. The last one writes all that it holds.
std::int64_t tiles_down_of(misaligned_tile tile, const transpose_args& a) {
  const std::int64_t length = misaligned_length(tile, a.element_bytes), down = a.rows * a.element_bytes;
  return down <= length ? 1 : 1 + ceil_divided(down - length, length - misaligned_overlap);
}

// Columns of a tile; of rows that begin inside of words, the last lane loads for its neighbour alone.
std::int64_t columns_of(misaligned_tile tile, std::int64_t element_bytes, bool is_aligned) {
  return (is_aligned ? 32 : 31) * misaligned_lane_bytes(tile, element_bytes) / element_bytes;
}

std::int64_t tiles_of(misaligned_tile tile, const transpose_args& a, bool is_aligned) {
  return tiles_down_of(tile, a) * ceil_divided(a.cols, columns_of(tile, a.element_bytes, is_aligned)) * a.batch;
}

// Whether all alternate tiles down a column have less than 0.9 of the height of the large ones that it would take.
bool is_alternate_better(const transpose_args& a) {
  const auto height = [&](misaligned_tile tile) {
    return tiles_down_of(tile, a) * misaligned_length(tile, a.element_bytes);
  };
  return 10 * height(misaligned_tile::alternate) < 9 * height(misaligned_tile::large);
}

// Whether wide tiles overshoot the row length by at most 15 %. The more of a row one tile reads, the fewer lines are
// shared by two tiles. Of 2 bytes, columns of two to seven tiles are faster with large ones. Rows shorter than what a
// warp reads must be packed, and at least half as long, to be loaded in words (rows_of_tile).
bool is_wide_better(const transpose_args& a, std::int64_t shared_bytes, int multiprocessors) {
  constexpr misaligned_tile wide = misaligned_tile::wide;
  if (a.element_bytes != 2 && a.element_bytes != 4) return false;
  const std::int64_t lane_bytes = misaligned_lane_bytes(wide, a.element_bytes), down = tiles_down_of(wide, a);
  if (a.element_bytes == 2 && down > 1 && down < 8) return false;
  const std::int64_t least_row_bytes = (a.in_ld == a.cols ? 16 : 32) * lane_bytes;
  const bool is_aligned = rows_begin_at(a, lane_bytes);
  const std::int64_t columns = columns_of(wide, a.element_bytes, is_aligned);
  return misaligned_bytes(wide, a.element_bytes) <= shared_bytes && a.cols * a.element_bytes >= least_row_bytes &&
         100 * ceil_divided(a.cols, columns) * columns <= 115 * a.cols &&
         tiles_of(wide, a, is_aligned) >= 4 * multiprocessors;
}

// The length of tile that the costs are for. Small and wide tiles of 2 bytes and more are costed as those of 256 bytes,
// which all had when the costs were fitted.
std::int64_t costed_length(const matrices& m, misaligned_tile tile) {
  constexpr std::int64_t fitted = 256;
  if (m.size > 1 && (tile == misaligned_tile::small || tile == misaligned_tile::wide)) return fitted;
  return misaligned_length(is_alternate_better(m.a) ? misaligned_tile::alternate : misaligned_tile::large, m.size);
}

// Instructions and memory overlap. Tiles that the matrix does not fill cost as much as others; rows whose first word is
// shared with their neighbour are read twice.
double factor_of(const matrices& m, misaligned_tile tile) {
  const misaligned_cost& cost = misaligned_2d_costs[m.place()];
  const bool complete = m.in_alignment() % 4 == 0;
  const std::int64_t loaded = 32 * std::max<std::int64_t>(4, m.size), width = complete ? loaded : loaded / 32 * 31;
  const std::int64_t length = costed_length(m, tile);
  const double down = tiles_down(m.down, length, cost.partial) * static_cast<double>(length - misaligned_overlap) /
                      static_cast<double>(m.down);
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
  const double both = std::max(full_vectors_factor(m.size), std::sqrt(issue * issue + moved * moved));
  return both + misaligned_ends(m.size, m.out_alignment(), m.down) +
         std::max(interleaved_extra, is_cut ? std::min(0.4, 100 / static_cast<double>(m.down)) : 0);
}

}  // namespace

bool rows_begin_at(const transpose_args& a, std::int64_t multiple) {
  const std::int64_t distances = a.in_ld | (a.batch > 1 ? a.in_stride : 0);
  return ((address_of(a.in) | distances * a.element_bytes) & (multiple - 1)) == 0;
}

misaligned_tile misaligned_tile_of(const transpose_args& a, std::int64_t shared_bytes, int multiprocessors) {
  const auto fits = [&](misaligned_tile tile) { return misaligned_bytes(tile, a.element_bytes) <= shared_bytes; };
  const bool are_few = tiles_of(misaligned_tile::large, a, true) < 4 * multiprocessors;
  if (are_few || !fits(misaligned_tile::large)) return misaligned_tile::small;
  if (fits(misaligned_tile::alternate) && is_alternate_better(a)) return misaligned_tile::alternate;
  return is_wide_better(a, shared_bytes, multiprocessors) ? misaligned_tile::wide : misaligned_tile::large;
}

bool is_misaligned_2d(const matrices& m, const device_model& device) {
  if (!m.is_power(8) || m.alignment < m.size || m.down < 64 || m.across < 64) return false;
  return misaligned_bytes(misaligned_tile::small, m.size) <= device.shared_bytes;
}

cost_of_launch cost_of_misaligned_2d(const matrices& m, const device_model& device) {
  const misaligned_cost& cost = misaligned_2d_costs[m.place()];
  const misaligned_tile tile = misaligned_tile_of(m.a, device.shared_bytes, device.multiprocessors);
  return {std::max(full_vectors_launch(m.size), launch_of(cost.small, cost.launch, m)), factor_of(m, tile)};
}

}  // namespace twill::detail
