#pragma once

#include <cstdint>

namespace twill::TWILL_BACKEND {

/// The number of wavefronts of one warp-wide load of `words` (1, 2 or 4) 4-byte words from shared memory of 32 banks:
/// the lanes of each 128-byte phase conflict where different words share a bank. address(lane) is the lane's byte
/// offset.
template <class Address>
int bank_accesses(int words, Address address) {
  int accesses = 0;
  for (int first = 0; first < 32; first += 32 / words) {
    int held[32][32], counts[32] = {}, most = 0;
    for (int lane = first; lane < first + 32 / words; ++lane) {
      const int begin = static_cast<int>(address(lane)) / 4;
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
