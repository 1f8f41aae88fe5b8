#pragma once

#include <cstdint>

namespace twill::TWILL_BACKEND {

/// How often shared memory of 32 banks is accessed for one warp's loads of `words` (1, 2 or 4) words of 4 bytes: lanes
/// that read 128 bytes together are served at once, as far as their words lie in different banks. place(lane) is a byte
/// of the lane's first word.
template <class Place>
int bank_accesses(int words, Place place) {
  int accesses = 0;
  for (int first = 0; first < 32; first += 32 / words) {
    int held[32][32], counts[32] = {}, most = 0;
    for (int lane = first; lane < first + 32 / words; ++lane) {
      const int begin = static_cast<int>(place(lane)) / 4;
      for (int word = begin; word < begin + words; ++word) {
        const int bank = word & 31;
        int i = 0;
        while (i < counts[bank] && held[bank][i] != word) ++i;
        if (i < counts[bank]) continue;
        held[bank][counts[bank]++] = word;
        most = counts[bank] > most ? counts[bank] : most;
      }
    }
    accesses += most;
  }
  return accesses;
}

}  // namespace twill::TWILL_BACKEND
