#pragma once

// The order in which a reduction combines its elements: one binary tree, fixed by the length and the element's size
// alone. Grid, block, device and alignment change who does the work, never the tree, so that floating-point results
// have the same bits everywhere. backends/cpu/reduce.cpp walks the same tree.
//
//   The array is cut into vectors of 16 bytes, and those into chunks of 8 x 256 vectors, 32 KiB. In a chunk, vector
//   v has row v / 256, part v / 32 % 8 and lane v % 32. First the 8 rows are combined, element by element of the
//   vector, then the elements inside it, then the 8 parts, then the 32 lanes, then chunk after chunk. All but the
//   lanes combine neighbours, 0 with 1, 2 with 3, then 01 with 23, and so on; lanes combine l with l + 16, then l + 8
//   and so on. What is missing at the end is the operation's identity, which changes nothing.
//
// Every element is under about log2(length) nodes, as in pairwise summation.

#include <cstdint>

#include "kernels/reduce_values.hpp"

namespace twill::TWILL_BACKEND::kernels {

inline constexpr int reduce_threads = 256;
inline constexpr int reduce_rows = 8, reduce_parts = 8, reduce_lanes = 32;
inline constexpr int chunk_vectors = reduce_rows * reduce_threads;
inline constexpr int vector_bytes = 16;
inline constexpr std::int64_t chunk_bytes = std::int64_t{chunk_vectors} * vector_bytes;

/// Combines neighbours until values[0] holds all.
template <class Op, int Count, class Value>
__device__ inline void combine_neighbours(Value (&values)[Count]) {
  static_assert((Count & (Count - 1)) == 0);
#pragma unroll
  for (int step = 1; step < Count; step *= 2) {
#pragma unroll
    for (int i = 0; i < Count; i += 2 * step) values[i] = Op::combine(values[i], values[i + step]);
  }
}

/// Combines lane l with l + width / 2, then l + width / 4 ...; the first lane of each group of `width` holds all.
template <class Op, class Value>
__device__ inline Value combine_lanes(Value value, int width = reduce_lanes) {
  for (int step = width / 2; step > 0; step /= 2) {
    value = Op::combine(value, lane_below(value, static_cast<unsigned>(step)));
  }
  return value;
}

/// Combines neighbouring lanes, 0 with 1 first; lane 0 holds all.
template <class Op, class Value>
__device__ inline Value combine_neighbouring_lanes(Value value) {
#pragma unroll
  for (int step = 1; step < reduce_lanes; step *= 2) {
    value = Op::combine(value, lane_below(value, static_cast<unsigned>(step)));
  }
  return value;
}

/// Values that come one after another, combined as neighbours: a binary counter, of which each set bit is a subtree.
/// `count` values have been pushed. Padding with the identity needs no pushes.
template <class Op, class Value>
class neighbour_stack {
 public:
  explicit __device__ neighbour_stack(Value* levels) : levels_(levels) {}

  __device__ void push(Value value) {
    int level = 0;
    for (std::uint64_t bit = count_; (bit & 1) != 0; bit >>= 1) value = Op::combine(levels_[level++], value);
    levels_[level] = value;
    ++count_;
  }

  /// All of them; at least one was pushed.
  __device__ Value all() const {
    int level = 0;
    while ((count_ >> level & 1) == 0) ++level;
    Value value = levels_[level];
    for (++level; count_ >> level != 0; ++level) {
      if ((count_ >> level & 1) != 0) value = Op::combine(levels_[level], value);
    }
    return value;
  }

 private:
  Value* levels_;
  std::uint64_t count_ = 0;
};

}  // namespace twill::TWILL_BACKEND::kernels
