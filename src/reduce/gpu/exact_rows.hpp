#pragma once

// Policies for minima, maxima and their indices over arrays, rows and segments: one value a vector.

#include "order_keys.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// Minimum and maximum: the smallest key.
template <class Unit>
struct min_keys : units_of<Unit> {
  using value = key_for<Unit>;
  static constexpr int slots = 1;
  static constexpr bool exact = true, packs_eight = sizeof(Unit) <= 2;
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t, const op_params& params) {
    const word16 keys = keys_of_vector<Unit>(raw, params);
    if constexpr (packs_eight) {
      packed_minima<Unit, false> minima;
      minima.add(0, keys);
      to[0] = minima.key(minima.overall());
    } else {
      const auto all = bits_as<elements_of<Unit>>(keys);
      to[0] = all.element[0];
#pragma unroll
      for (int i = 1; i < units_of<Unit>::unit_count; ++i) to[0] = combine(to[0], all.element[i], params);
    }
  }
  static __device__ void eight_packed(value (&to)[slots], const word16 (&raw)[8], std::int64_t, int,
                                      const op_params& params) {
    const auto minima = minima_of_eight<Unit, false>(raw, params);
    to[0] = minima.key(minima.overall());
  }
  static __device__ value combine(value a, value b, const op_params&) { return b < a ? b : a; }
};

/// Argmin and argmax.
template <class Unit>
struct argmin_keys : units_of<Unit> {
  using value = indexed_key;
  static constexpr int slots = 1;
  static constexpr bool exact = true, packs_eight = sizeof(Unit) <= 2;
  static __device__ void vector(value (&to)[slots], word16 raw, std::int64_t index, const op_params& params) {
    const word16 keys = keys_of_vector<Unit>(raw, params);
    if constexpr (packs_eight) {
      packed_minima<Unit, true> minima;
      minima.add(0, keys);
      const std::uint32_t smallest = minima.overall();
      to[0] = at_index(minima.key(smallest), index + minima.element(smallest));
    } else {
      const auto all = bits_as<elements_of<Unit>>(keys);
      int best = 0;
      Unit key = all.element[0];
#pragma unroll
      for (int i = 1; i < units_of<Unit>::unit_count; ++i) {
        if (all.element[i] < key) best = i;
        key = all.element[i] < key ? all.element[i] : key;
      }
      to[0] = at_index(key, index + best);
    }
  }
  static __device__ void eight_packed(value (&to)[slots], const word16 (&raw)[8], std::int64_t index, int step,
                                      const op_params& params) {
    const auto minima = minima_of_eight<Unit, true>(raw, params);
    const std::uint32_t smallest = minima.overall();
    to[0] = at_index(minima.key(smallest), index + minima.vector(smallest) * step + minima.element(smallest));
  }
  static __device__ value combine(value a, value b, const op_params&) { return argmin(a, b); }

 private:
  /// Padding ahead of the row has the largest key. If it wins, every element has that key, and the first is at index 0.
  static __device__ value at_index(std::uint64_t key, std::int64_t index) { return {key, index < 0 ? 0 : index}; }
};

}  // namespace twill::TWILL_BACKEND::kernels
