#pragma once

// Transpose of packed, misaligned matrices that fit in shared memory: a block takes one, or some adjacent ones. It
// stages them in shared memory in aligned 16-byte vectors, and gathers the aligned chunks of the output
// as transpose_staged does; the ends of both, less than a chunk each, go unit by unit.

#include <cstdint>

#include "device.hpp"
#include "staged.hpp"

namespace twill::TWILL_BACKEND::kernels {

inline constexpr int staged_misaligned_threads = 512;

struct matrix_runs {
  std::int64_t batch, in_stride, out_stride;  // matrices; bytes
  int at_once;                                // matrices of a block; 1 unless they lie without gaps on both sides
  int bytes;                                  // of a matrix
  small_matrices shape;                       // its rows, columns and padding
};

// Calls with the places of the units of a run of `bytes` bytes that lie in no full vector.
template <class Unit, class Function>
__device__ void at_ends(int bytes, int skew, Function function) {
  constexpr int size = static_cast<int>(sizeof(Unit));
  const int before = -skew & 15, head = before < bytes ? before : bytes, tail = (bytes - head) & 15;
  for (int at = threadIdx.x * size; at < head + tail; at += static_cast<int>(blockDim.x) * size) {
    function(at < head ? at : bytes - tail + at - head);
  }
}

// The place in shared memory of a unit of the output; the input begins at byte `skew`.
template <class Unit>
__device__ int place_of(int unit, int skew, const small_matrices& m) {
  const int matrix = static_cast<int>(divide(unit, m.matrix)), within = unit - matrix * m.rows * m.cols;
  const int column = static_cast<int>(divide(within, m.column)), row = within - column * m.rows;
  const int from = matrix * m.rows * m.cols + row * m.cols + column;
  return padded(from * static_cast<int>(sizeof(Unit)) + skew, m);
}

template <class Unit>
__device__ void load_windows(unsigned char* shared, const unsigned char* in, int bytes, int skew,
                             const small_matrices& m) {
  constexpr int depth = 4;
  const int step = static_cast<int>(blockDim.x) * 16;
  for (int first = threadIdx.x * 16 - skew; first < bytes; first += depth * step) {
    word16 held[depth];
    const auto inside = [&](int d) { return first + d * step >= 0 && first + d * step + 16 <= bytes; };
#pragma unroll
    for (int d = 0; d < depth; ++d) {
      if (inside(d)) held[d] = *reinterpret_cast<const word16*>(in + first + d * step);
    }
#pragma unroll
    for (int d = 0; d < depth; ++d) {
      if (inside(d)) store_words<Unit>(shared + padded(first + d * step + skew, m), held[d]);
    }
  }
  at_ends<Unit>(bytes, skew, [&](int at) {
    *reinterpret_cast<Unit*>(shared + padded(at + skew, m)) = *reinterpret_cast<const Unit*>(in + at);
  });
}

template <class Unit>
__global__ void __launch_bounds__(staged_misaligned_threads)
    transpose_staged_misaligned(unsigned char* out, const unsigned char* in, matrix_runs w) {
  constexpr int size = static_cast<int>(sizeof(Unit));
  const std::int64_t matrix = (static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x) * w.at_once;
  if (matrix >= w.batch) return;  // uniform exit: padding block of the 2-D grid
  const int bytes = (matrix + w.at_once <= w.batch ? w.at_once : static_cast<int>(w.batch - matrix)) * w.bytes;
  in += matrix * w.in_stride;
  out += matrix * w.out_stride;
  const small_matrices& m = w.shape;
  unsigned char* shared = dynamic_shared<unsigned char>();
  const int skew = static_cast<int>(reinterpret_cast<std::uintptr_t>(in) & 15);
  load_windows<Unit>(shared, in, bytes, skew, m);
  __syncthreads();

  const int out_skew = static_cast<int>(reinterpret_cast<std::uintptr_t>(out) & 15);
  const int step = static_cast<int>(blockDim.x) * 16, first = threadIdx.x * 16 - out_skew;
  for (int at = first < 0 ? first + step : first; at + 16 <= bytes; at += step) {
    int place[16 / size];
    find_units<Unit>(place, at, skew, m);
    *reinterpret_cast<word16*>(out + at) = gathered<Unit>(shared, place);
  }
  at_ends<Unit>(bytes, out_skew, [&](int at) {
    *reinterpret_cast<Unit*>(out + at) = *reinterpret_cast<const Unit*>(shared + place_of<Unit>(at / size, skew, m));
  });
}

}  // namespace twill::TWILL_BACKEND::kernels
