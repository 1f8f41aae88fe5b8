#include "misaligned_2d.hpp"

#include <algorithm>
#include <cmath>

#include "candidates.hpp"
#include "transposes.hpp"

namespace twill::detail {
namespace {

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
bool is_wide_better(const transpose_args& a, std::int64_t shared_bytes, int multiprocessors) {
  constexpr misaligned_tile wide = misaligned_tile::wide;
  if (a.element_bytes != 2 && a.element_bytes != 4) return false;
  const std::int64_t lane_bytes = misaligned_lane_bytes(wide, a.element_bytes), down = tiles_down_of(wide, a);
  if (a.element_bytes == 2 && down > 1 && down < 8) return false;
  const std::int64_t least_row_bytes = (a.in_ld == a.cols ? 16 : 32) * lane_bytes;
  const bool is_aligned = rows_begin_at(a, lane_bytes);
  const std::int64_t columns = misaligned_columns(wide, a.element_bytes, is_aligned);
  return misaligned_shared_bytes(wide, a.element_bytes) <= shared_bytes &&
         a.cols * a.element_bytes >= least_row_bytes &&
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
  const double both = std::max(full_vectors_factor(m.size), std::sqrt(issue * issue + moved * moved));
  return both + misaligned_ends(m.size, m.out_alignment(), m.down) +
         std::max(interleaved_extra, is_cut ? std::min(0.4, 100 / static_cast<double>(m.down)) : 0);
}

}  // namespace

double costed_tiles_down(std::int64_t down, std::int64_t length, double partial) {
  const bool is_full = down >= length && (down - length) % (length - misaligned_overlap) == 0;
  return static_cast<double>(misaligned_tiles_down(down, length)) + (is_full ? 0 : partial);
}

double misaligned_ends(std::int64_t element_bytes, std::int64_t out_bits, std::int64_t row_bytes) {
  if (element_bytes > 1 || out_bits % 4 == 0) return 0;
  return (out_bits % 2 != 0 ? 50 : 22) / static_cast<double>(row_bytes);
}

bool rows_begin_at(const transpose_args& a, std::int64_t multiple) {
  const std::int64_t distances = a.in_ld | (a.batch > 1 ? a.in_stride : 0);
  return ((address_of(a.in) | distances * a.element_bytes) & (multiple - 1)) == 0;
}

misaligned_tile misaligned_tile_of(const transpose_args& a, std::int64_t shared_bytes, int multiprocessors) {
  const auto fits = [&](misaligned_tile tile) {
    return misaligned_shared_bytes(tile, a.element_bytes) <= shared_bytes;
  };
  const bool are_few = tiles_of(misaligned_tile::large, a, true) < 4 * multiprocessors;
  if (are_few || !fits(misaligned_tile::large)) return misaligned_tile::small;
  if (fits(misaligned_tile::alternate) && is_alternate_better(a)) return misaligned_tile::alternate;
  if (fits(misaligned_tile::tall) && is_tall_better(a)) return misaligned_tile::tall;
  return is_wide_better(a, shared_bytes, multiprocessors) ? misaligned_tile::wide : misaligned_tile::large;
}

bool is_misaligned_2d(const matrices& m, const device_model& device) {
  if (!m.is_power(8) || m.alignment < m.size || m.down < 64 || m.across < 64) return false;
  return misaligned_shared_bytes(misaligned_tile::small, m.size) <= device.shared_bytes;
}

cost_of_launch cost_of_misaligned_2d(const matrices& m, misaligned_tile tile) {
  const misaligned_cost& cost = misaligned_2d_costs[m.place()];
  return {std::max(full_vectors_launch(m.size), launch_of(cost.small, cost.launch, m)), factor_of(m, tile)};
}

}  // namespace twill::detail
