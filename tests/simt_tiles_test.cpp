// Which tiles of misaligned-2d a matrix takes, and what they cost.

#include <doctest/doctest.h>

#include <cstdint>

#include "move/plan/misaligned.hpp"

namespace twill::detail {
namespace {

using tile = misaligned_tile;

constexpr std::int64_t much_shared = 232448;

transpose_args matrices_of(std::int64_t bytes, std::int64_t rows, std::int64_t cols, std::int64_t batch,
                           std::int64_t in_ld) {
  return {nullptr, nullptr, bytes, rows, cols, batch, in_ld, rows, rows * in_ld, rows * cols};
}

/// Of packed matrices, or with a distance between the rows of the input, on a device of 132 multiprocessors.
tile tile_of(std::int64_t bytes, std::int64_t rows, std::int64_t cols, std::int64_t batch = 2000,
             std::int64_t shared_bytes = much_shared, std::int64_t in_ld = 0) {
  return misaligned_tile_of(matrices_of(bytes, rows, cols, batch, in_ld != 0 ? in_ld : cols), shared_bytes, 132);
}

TEST_CASE("misaligned-2d takes the tiles whose height fits the columns") {
  struct limit {
    std::int64_t bytes, rows;  // the last rows of one size of tile
    tile before, after;
  };
  for (const limit& l : {limit{1, 256, tile::large, tile::alternate}, limit{1, 320, tile::alternate, tile::large},
                         limit{2, 144, tile::large, tile::alternate}, limit{2, 160, tile::alternate, tile::tall},
                         limit{2, 192, tile::tall, tile::large}, limit{2, 272, tile::large, tile::alternate},
                         limit{2, 304, tile::alternate, tile::large}, limit{8, 32, tile::large, tile::alternate},
                         limit{8, 40, tile::alternate, tile::large}, limit{8, 60, tile::large, tile::alternate},
                         limit{8, 76, tile::alternate, tile::large}}) {
    CAPTURE(l.bytes);
    CAPTURE(l.rows);
    CHECK(tile_of(l.bytes, l.rows, 100) == l.before);
    CHECK(tile_of(l.bytes, l.rows + 1, 100) == l.after);
  }
  CHECK(tile_of(2, 529, 100) == tile::alternate);           // 0.889 of the height
  CHECK(tile_of(8, 89, 100) == tile::large);                // 0.9375
  CHECK(tile_of(2, 145, 100, 2000, 20000) == tile::large);  // more shared memory than there is
  CHECK(tile_of(2, 161, 100, 2000, 24000) == tile::large);
  CHECK(tile_of(2, 145, 100, 2000, 16384) == tile::small);
}

TEST_CASE("misaligned-2d takes wide tiles for rows that they nearly fill, of 2 bytes one down a column or at least 8") {
  CHECK(tile_of(2, 128, 248) == tile::wide);
  CHECK(tile_of(2, 129, 248) == tile::large);
  CHECK(tile_of(2, 800, 248) == tile::large);
  CHECK(tile_of(2, 801, 248) == tile::wide);
  CHECK(tile_of(4, 129, 124) == tile::wide);
  CHECK(tile_of(2, 128, 107) == tile::large);  // rows off 8 bytes: 124 columns
  CHECK(tile_of(2, 128, 109) == tile::wide);
  CHECK(tile_of(2, 128, 108) == tile::large);  // on them: 128
  CHECK(tile_of(2, 128, 112) == tile::wide);
  CHECK(tile_of(4, 129, 62) == tile::wide);  // packed rows from half of what a warp loads on
  CHECK(tile_of(4, 129, 62, 2000, much_shared, 63) == tile::large);
  CHECK(tile_of(4, 129, 124, 2000, 16384) == tile::large);
  CHECK(tile_of(2, 128, 248, 2000, 20000) == tile::large);
  CHECK(tile_of(2, 128, 120, 263) == tile::small);  // at least four tiles a multiprocessor
  CHECK(tile_of(2, 128, 120, 264) == tile::large);
  CHECK(tile_of(2, 128, 120, 527) == tile::large);
  CHECK(tile_of(2, 128, 120, 528) == tile::wide);
}

TEST_CASE("misaligned-2d costs what the tile that runs takes, wide and small ones of 2 bytes as 256 bytes") {
  const auto factor_of = [](std::int64_t bytes, std::int64_t rows, tile size) {
    const transpose_args args = matrices_of(bytes, rows, 100, 2000, 100);
    return cost_of_misaligned_2d(matrices(args), size).factor;
  };
  CHECK(factor_of(2, 150, tile::alternate) < factor_of(2, 150, tile::large));  // one tile down instead of two
  CHECK(factor_of(2, 180, tile::tall) < factor_of(2, 180, tile::large));
  CHECK(factor_of(8, 40, tile::alternate) < factor_of(8, 40, tile::large));
  CHECK(factor_of(2, 128, tile::wide) < factor_of(2, 128, tile::large));  // full with 256 bytes, not with 288
  CHECK(factor_of(2, 128, tile::small) == factor_of(2, 128, tile::wide));
  CHECK(factor_of(1, 300, tile::small) == factor_of(1, 300, tile::alternate));
  CHECK(factor_of(1, 400, tile::small) == factor_of(1, 400, tile::large));
}

}  // namespace
}  // namespace twill::detail
