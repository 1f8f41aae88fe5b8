#pragma once

#include <cstdint>

#include "gpu/bank_conflicts.hpp"

namespace twill::TWILL_BACKEND {

/// Shared memory for so many bytes: with the padding, which takes an eighth, and what lies around in the first and the
/// last chunk.
inline std::int64_t shared_with_padding(std::int64_t bytes) {
  return (bytes + 32) / 128 * 144 + 144;
}

/// Of a few ways to pad, the one with the fewest bank conflicts in two warps' loads: they stand for all. byte(warp,
/// lane) is what a lane reads, before padding.
template <class Unit, class Matrices, class Byte>
void fewest_conflicts(Matrices& m, Byte byte) {
  constexpr int size = static_cast<int>(sizeof(Unit)), word = size < 4 ? 4 : size;
  const struct {
    int pad, shift;
  } ways[] = {{0, 7},        {word, 7},     {2 * word, 7}, {3 * word, 7}, {4 * word, 7}, {word, 8},
              {2 * word, 8}, {8 * word, 8}, {word, 10},    {word, 11},    {word, 9},     {word, 12}};
  int bytes[2][32];
  for (int warp = 0; warp < 2; ++warp) {
    for (int lane = 0; lane < 32; ++lane) bytes[warp][lane] = byte(warp, lane);
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
    if (accesses <= 2 * word / 4) break;  // none conflict
  }
}

}  // namespace twill::TWILL_BACKEND
