#pragma once

// The order of combination: one binary tree, fixed by the length and the element size alone. Grid, block, device and
// alignment never change it, so floating-point results are bitwise reproducible. src/reduce/cpu/tree.hpp walks the same
// tree.
//
//   The array is cut into vectors of 16 bytes, and those into chunks of 8 x 256 vectors, 32 KiB. In a chunk, vector
//   v has row v / 256, part v / 32 % 8 and lane v % 32. First the 8 rows are combined, element by element of the
//   vector, then the elements inside it, then the 8 parts, then the 32 lanes, then chunk after chunk. All but the
//   lanes combine neighbours, 0 with 1, 2 with 3, then 01 with 23, and so on; lanes combine l with l + 16, then l + 8
//   and so on. Elements past the end are the identity.
//
// Every element is under about log2(length) nodes, as in pairwise summation.

#include <cstdint>

#include "element_map.hpp"

namespace twill::TWILL_BACKEND::kernels {

inline constexpr int reduce_threads = 256;
inline constexpr int chunk_rows = 8, reduce_parts = 8, reduce_lanes = 32;
inline constexpr int chunk_vectors = chunk_rows * reduce_threads;
inline constexpr int vector_bytes = 16;
inline constexpr std::int64_t chunk_bytes = std::int64_t{chunk_vectors} * vector_bytes;

/// Pairwise combination; the result is in values[0].
template <class Kind, int Count>
__device__ inline void combine_neighbours(typename Kind::value (&values)[Count], const op_params& params) {
  static_assert((Count & (Count - 1)) == 0);
  if constexpr (Count > 1) {
#pragma unroll
    for (int step = 1; step < Count; step *= 2) {
#pragma unroll
      for (int i = 0; i < Count; i += 2 * step) values[i] = Kind::combine(values[i], values[i + step], params);
    }
  }
}

/// Combines lane l with l + 16, then l + 8 ...; lane 0 holds all.
template <class Kind>
__device__ inline typename Kind::value combine_lanes(typename Kind::value value, const op_params& params) {
#pragma unroll
  for (unsigned step = reduce_lanes / 2; step > 0; step /= 2) {
    value = Kind::combine(value, lane_above(value, step), params);
  }
  return value;
}

/// Combines neighbouring lanes, 0 with 1 first; lane 0 holds all.
template <class Kind>
__device__ inline typename Kind::value combine_neighbouring_lanes(typename Kind::value value, const op_params& params) {
#pragma unroll
  for (unsigned step = 1; step < reduce_lanes; step *= 2) {
    value = Kind::combine(value, lane_above(value, step), params);
  }
  return value;
}

/// Sets of `Slots` values that come one after another, 8 of them combined as neighbours; the last leaves all in `set`.
template <class Kind, int Slots>
class eight_sets {
 public:
  using value = typename Kind::value;

  /// Combines set `i` with what is held of those before.
  __device__ void push(value (&set)[Slots], int i, const op_params& params) {
#pragma unroll
    for (int s = 0; s < Slots; ++s) {
      if (i % 2 == 0) {
        one_[s] = set[s];
      } else {
        set[s] = Kind::combine(one_[s], set[s], params);
        if (i % 4 == 1) {
          two_[s] = set[s];
        } else {
          set[s] = Kind::combine(two_[s], set[s], params);
          if (i == 3) four_[s] = set[s];
          if (i == 7) set[s] = Kind::combine(four_[s], set[s], params);
        }
      }
    }
  }

 private:
  value one_[Slots], two_[Slots], four_[Slots];
};

/// Values that come one after another, combined as neighbours: a binary counter, of which each set bit is a subtree.
/// `count` values have been pushed. Padding with the identity needs no pushes.
template <class Kind>
class neighbour_stack {
 public:
  using value = typename Kind::value;
  explicit __device__ neighbour_stack(value* levels) : levels_(levels) {}

  __device__ void push(value next, const op_params& params) {
    int level = 0;
    for (std::uint64_t bit = count_; (bit & 1) != 0; bit >>= 1) next = Kind::combine(levels_[level++], next, params);
    levels_[level] = next;
    ++count_;
  }

  /// All of them; at least one was pushed.
  __device__ value all(const op_params& params) const {
    int level = 0;
    while ((count_ >> level & 1) == 0) ++level;
    value sum = levels_[level];
    for (++level; count_ >> level != 0; ++level) {
      if ((count_ >> level & 1) != 0) sum = Kind::combine(levels_[level], sum, params);
    }
    return sum;
  }

 private:
  value* levels_;
  std::uint64_t count_ = 0;
};

}  // namespace twill::TWILL_BACKEND::kernels
