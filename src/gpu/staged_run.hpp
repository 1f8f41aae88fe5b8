#pragma once

// A run of bytes, staged in shared memory as it lies in global memory: in aligned vectors, the ends unit by unit.
// `skew` is its misalignment, and byte 0 of the run lies at byte `skew` of shared memory, before padding.

#include <cstdint>

#include "device.hpp"
#include "gpu/packed_units.hpp"
#include "gpu/realign.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// `pad` bytes after each 2^pad_shift bytes of shared memory.
struct run_padding {
  int pad, pad_shift;
};

template <class Padding>
__device__ int padded(int byte, const Padding& p) {
  return byte + (byte >> p.pad_shift) * p.pad;
}

// Calls with the places of the units of a run of `bytes` bytes that lie in no full vector.
template <class Unit, class Function>
__device__ void at_ends(int bytes, int skew, Function function) {
  constexpr int size = static_cast<int>(sizeof(Unit));
  const int before = -skew & 15, head = before < bytes ? before : bytes, tail = (bytes - head) & 15;
  for (int at = threadIdx.x * size; at < head + tail; at += static_cast<int>(blockDim.x) * size) {
    function(at < head ? at : bytes - tail + at - head);
  }
}

// Stages the full vectors of a run; Copied: by begin_copy_to_shared(), which needs padding in multiples of 16 bytes,
// and wait_for_copies() to complete.
template <class Unit, bool Copied, class Padding>
__device__ void stage_vectors(unsigned char* shared, const unsigned char* in, int bytes, int skew, const Padding& p) {
  constexpr int depth = 4;
  const int step = static_cast<int>(blockDim.x) * 16;
  for (int first = threadIdx.x * 16 - skew; first < bytes; first += depth * step) {
    word16 held[depth];
    const auto inside = [&](int d) { return first + d * step >= 0 && first + d * step + 16 <= bytes; };
    const auto to = [&](int d) { return shared + padded(first + d * step + skew, p); };
#pragma unroll
    for (int d = 0; d < depth; ++d) {
      const auto* from = reinterpret_cast<const word16*>(in + first + d * step);
      if (!inside(d)) continue;
      if constexpr (Copied) {
        begin_copy_to_shared<128>(reinterpret_cast<word16*>(to(d)), held[d], from);
      } else {
        held[d] = *from;
      }
    }
#pragma unroll
    for (int d = 0; d < depth; ++d) {
      if (!inside(d)) continue;
      if constexpr (Copied) {
        end_copy_to_shared(reinterpret_cast<word16*>(to(d)), held[d]);
      } else {
        store_words<Unit>(to(d), held[d]);
      }
    }
  }
}

// Stages the units outside of the full vectors.
template <class Unit, class Padding>
__device__ void stage_ends(unsigned char* shared, const unsigned char* in, int bytes, int skew, const Padding& p) {
  at_ends<Unit>(bytes, skew, [&](int at) {
    *reinterpret_cast<Unit*>(shared + padded(at + skew, p)) = *reinterpret_cast<const Unit*>(in + at);
  });
}

// Copies a run; wait_for_copies() completes it.
template <class Unit, class Padding>
__device__ void copy_run(unsigned char* shared, const unsigned char* in, int bytes, int skew, const Padding& p) {
  stage_vectors<Unit, true>(shared, in, bytes, skew, p);
  stage_ends<Unit>(shared, in, bytes, skew, p);
}

}  // namespace twill::TWILL_BACKEND::kernels
