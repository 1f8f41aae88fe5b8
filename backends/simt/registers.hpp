#pragma once

// For kernels that hold arrays of values in registers. Compilers for this backend keep them there; those for AMD need
// help (backends/hip/registers.hpp).

#include "device.hpp"

namespace twill::simt {

/// As blocks_at_once, for kernels that accumulate in most of their registers.
constexpr int blocks_of_accumulators(int threads, int wanted) {
  return blocks_at_once(threads, wanted);
}

/// Whether arrays stay in registers whose structures `?:` chooses, or whose bytes are copied as other types. Where not,
/// copy_bits(to, from) copies them, and assign_if(when, to, from) assigns one of their elements.
inline constexpr bool keeps_arrays_in_registers = true;

/// Makes what depends on `value` be computed here, not once before a loop where it would occupy registers throughout.
template <class T>
void compute_in_loop(T& /*value*/) {}

/// An optimisation barrier: what was computed from `words` before is computed again after it instead of being kept in
/// registers.
inline void recompute_from(word16& /*words*/) {}

/// Of an array that an unrolled loop fills: makes an element be computed by itself.
template <class T>
void compute_separately(T& /*value*/) {}

/// Between independent parts of an unrolled loop: instructions of one are not mixed with those of the other.
__device__ inline void keep_in_order() {}

}  // namespace twill::simt
