#pragma once

#include <cstdint>
#include <initializer_list>

#include "gpu/bank_conflicts.hpp"

namespace twill::TWILL_BACKEND {

/// `pad` bytes (in lists of ways: pieces) after every 2^shift bytes; wavefronts of the loads of two warps.
struct shared_padding {
  int pad, shift, wavefronts = 0;
};

template <class Matrices>
void set_padding(Matrices& m, const shared_padding& padding) {
  m.pad = padding.pad;
  m.pad_shift = padding.shift;
}

/// Of `ways` to pad, by multiples of `piece` bytes, the one with the fewest bank conflicts in two warps' loads: they
/// stand for all. byte(warp, lane) is what a lane reads, before padding.
template <class Unit, class Byte>
shared_padding fewest_conflicts(int piece, std::initializer_list<shared_padding> ways, Byte byte) {
  constexpr int size = static_cast<int>(sizeof(Unit)), words = size < 4 ? 1 : size / 4;
  int bytes[2][32];
  for (int warp = 0; warp < 2; ++warp) {
    for (int lane = 0; lane < 32; ++lane) bytes[warp][lane] = byte(warp, lane);
  }
  shared_padding best{0, 7, INT32_MAX};
  for (shared_padding way : ways) {
    way.pad *= piece;
    if (way.pad * 128 > 16 << way.shift) continue;  // more than the region has room for
    for (const auto& lanes : bytes) {
      way.wavefronts +=
          bank_accesses(words, [&](int lane) { return lanes[lane] + (lanes[lane] >> way.shift) * way.pad; });
    }
    if (way.wavefronts < best.wavefronts) best = way;
    if (best.wavefronts <= 2 * words) break;  // none conflict
  }
  return best;
}

/// Pads by multiples of a unit, or of a 4-byte word if units are smaller.
template <class Unit, class Byte>
shared_padding padding_of_words(Byte byte) {
  constexpr int word = sizeof(Unit) < 4 ? 4 : static_cast<int>(sizeof(Unit));
  return fewest_conflicts<Unit>(
      word, {{0, 7}, {1, 7}, {2, 7}, {3, 7}, {4, 7}, {1, 8}, {2, 8}, {8, 8}, {1, 10}, {1, 11}, {1, 9}, {1, 12}}, byte);
}

/// Pads by multiples of 16 bytes, which keeps vectors aligned for copies, unless padding by words needs fewer than
/// three quarters of the wavefronts.
template <class Unit, class Byte>
shared_padding padding_of_vectors(Byte byte) {
  const shared_padding vectors =
      fewest_conflicts<Unit>(16, {{0, 7}, {1, 7}, {1, 8}, {2, 8}, {1, 9}, {1, 10}, {1, 11}, {1, 12}}, byte);
  const shared_padding words = padding_of_words<Unit>(byte);
  return 4 * words.wavefronts < 3 * vectors.wavefronts ? words : vectors;
}

}  // namespace twill::TWILL_BACKEND
