#pragma once

#include <cstdint>

#include "kernels/transpose_small.hpp"

#include "ops/bank_conflicts.hpp"

namespace twill::TWILL_BACKEND {

// Of a few ways to pad, the one with the fewest bank conflicts in two loads: they stand for all.
template <class Unit>
void choose_padding(kernels::small_matrices& m) {
  constexpr int size = static_cast<int>(sizeof(Unit)), word = size < 4 ? 4 : size, elements = 16 / size;
  const struct {
    int pad, shift;
  } ways[] = {{0, 7}, {word, 7}, {2 * word, 7}, {3 * word, 7}, {4 * word, 7}, {word, 8}, {2 * word, 8}, {8 * word, 8}};
  int bytes[2][32];  // that the lanes of two warps read, before padding
  for (int warp = 0; warp < 2; ++warp) {
    for (int lane = 0; lane < 32; ++lane) {
      const int unit = (warp * 32 + lane) * elements + warp * 5 % elements, within = unit % (m.rows * m.cols);
      bytes[warp][lane] = (unit - within + within % m.rows * m.cols + within / m.rows) * size;
    }
  }
  int fewest = INT32_MAX;
  for (const auto& way : ways) {
    if (way.pad * 128 > 16 << way.shift) continue;  // more than the region has room for
    int accesses = 0;
    for (const auto& lanes : bytes) {
      accesses += bank_accesses(word / 4, [&](int lane) { return lanes[lane] + (lanes[lane] >> way.shift) * way.pad; });
    }
    if (accesses >= fewest) continue;
    fewest = accesses;
    m.pad = way.pad;
    m.pad_shift = way.shift;
  }
}

}  // namespace twill::TWILL_BACKEND
