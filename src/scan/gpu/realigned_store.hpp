#pragma once

// Stores of scanned vectors whose output has another alignment modulo 16 than their input: a lane stores an aligned
// vector that consists of the end of the preceding vector, which it gets by shuffles, and the begin of its own.

#include <cstdint>

#include "device.hpp"
#include "gpu/realign.hpp"
#include "tile.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// The last `count` bytes of `a`, then the first ones of `b`; 0 < count < 16.
__device__ inline word16 end_and_begin(const word16& a, const word16& b, int count) {
  const int from = 16 - count;
  const std::uint32_t w[8] = {word<0>(a), word<1>(a), word<2>(a), word<3>(a),
                              word<0>(b), word<1>(b), word<2>(b), word<3>(b)};
  std::uint32_t u[6], x[5];
#pragma unroll
  for (int i = 0; i < 6; ++i) u[i] = (from & 8) != 0 ? w[i + 2] : w[i];
#pragma unroll
  for (int i = 0; i < 5; ++i) x[i] = (from & 4) != 0 ? u[i + 1] : u[i];
  const std::uint32_t selector = bytes_from(from & 3);
  return make_word16(byte_permute(x[0], x[1], selector), byte_permute(x[1], x[2], selector),
                     byte_permute(x[2], x[3], selector), byte_permute(x[3], x[4], selector));
}

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
    const word16 vector = shift == 0 ? words : end_and_begin(before, words, shift);
    const int stored = shift == 0 || lane_ > 0 || !first ? begin : index;  // from there on `vector` is known
    if (stored == begin && begin >= low && end <= high) {
      *static_cast<word16*>(__builtin_assume_aligned(out + begin, 16)) = vector;
    } else {
      store_some(out + begin, vector, (stored > low ? stored : low) - begin, high - begin);
    }
    if (last && lane_ == last_) store_some(out + index, words, (end > low ? end : low) - index, high - index);
  }

 private:
  // Elements `low` to `high` - 1 of a vector.
  __device__ static void store_some(element* out, const word16& words, int low, int high) {
    element x[count];
    elements_of<Kind>(x, words);
#pragma unroll
    for (int i = 0; i < count; ++i) {
      if (i >= low && i < high) out[i] = x[i];
    }
  }

  int lane_, last_, source_;
  word16 kept_ = make_word16(0, 0, 0, 0);  // the last lane's vector, in lane 0
};

}  // namespace twill::TWILL_BACKEND::kernels
