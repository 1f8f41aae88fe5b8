#pragma once

// Stores of scanned vectors whose output has another alignment modulo 16 than their input: a lane stores an aligned
// vector that consists of the end of the preceding vector, which it gets by shuffles, and the begin of its own.

#include <cstdint>

#include "device.hpp"
#include "gpu/realign.hpp"
#include "tile.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// Of a row that some lanes of a warp share: vector v of a lane lies behind that of the lane before it, and vectors v
/// of all lanes before vectors v + 1.
template <class Kind>
class realigned_store {
  using element = typename Kind::element;
  static constexpr int count = vector_elements<Kind>, size = static_cast<int>(sizeof(element));

 public:
  __device__ realigned_store(int lane, int lanes)
      : lane_(lane), last_(lanes - 1), source_((static_cast<int>(threadIdx.x % 32) & ~last_) | ((lane - 1) & last_)) {}

  /// Stores elements `low` to `high` - 1 of what are elements `index` on of `out`. Called by all lanes of the warp, for
  /// one of their vectors after the other; `first` and `last` of those of a row.
  __device__ void store(element* out, int low, int high, int index, const word16& words, bool first, bool last) {
    const word16 from_below = make_word16(shuffle(word<0>(words), source_), shuffle(word<1>(words), source_),
                                          shuffle(word<2>(words), source_), shuffle(word<3>(words), source_));
    const word16 before = lane_ == 0 ? kept_ : from_below;
    kept_ = from_below;
    const int shift = static_cast<int>(reinterpret_cast<std::uintptr_t>(out + index) % 16);  // bytes
    const int begin = index - shift / size, end = begin + count;
    const word16 vector = shift == 0 ? words : kernels::realigned<size>(before, words, 16 - shift);
    const int stored = shift == 0 || lane_ > 0 || !first ? begin : index;  // from there on `vector` is known
    if (stored == begin && begin >= low && end <= high) {
      *reinterpret_cast<word16*>(out + begin) = vector;
    } else {
      store_elements<Kind>(out + begin, vector, (stored > low ? stored : low) - begin, high - begin);
    }
    if (last && lane_ == last_) store_elements<Kind>(out + index, words, (end > low ? end : low) - index, high - index);
  }

 private:
  int lane_, last_, source_;
  word16 kept_ = make_word16(0, 0, 0, 0);  // in lane 0: the last lane's, of the preceding vectors
};

}  // namespace twill::TWILL_BACKEND::kernels
