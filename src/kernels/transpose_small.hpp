#pragma once

// Transpose of many small packed matrices: they are the same bytes on both sides, in another order. A window is a few
// of them, whole matrices and whole chunks of 16 bytes, up to `Capacity` bytes. A block takes `Runs` windows, `stride`
// apart, brings them to shared memory and gathers the chunks of the output unit by unit. Where the units of a chunk lie
// is worked out once and serves the same chunk of all windows; all of them begin alike in their lines of 128 bytes, and
// warps write whole lines. Padding, which the host chooses for the shape, keeps bank conflicts low.

#include <cstdint>

#include "device.hpp"
#include "kernels/divider.hpp"
#include "kernels/realign.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int small_threads = 256;

struct small_matrices {
  std::int64_t bytes, stride;  // of all matrices; from a window of the block to the next
  int window;                  // bytes
  int rows, cols;
  int pad, pad_shift;  // so many bytes after each 2^pad_shift
  divider matrix, column;
};

/// Shared memory of a window.
template <int Capacity>
inline constexpr int small_region = Capacity + Capacity / 128 * 16;

__device__ inline int padded(int byte, const small_matrices& m) {
  return byte + (byte >> m.pad_shift) * m.pad;
}

// A chunk to shared memory, in words as wide as padding leaves aligned.
template <class Unit>
__device__ void store_words(unsigned char* to, const word16& v) {
  if constexpr (sizeof(Unit) == 16) {
    *reinterpret_cast<word16*>(to) = v;
  } else if constexpr (sizeof(Unit) == 8) {
    auto* words = reinterpret_cast<std::uint64_t*>(to);
    words[0] = word<0>(v) | static_cast<std::uint64_t>(word<1>(v)) << 32;
    words[1] = word<2>(v) | static_cast<std::uint64_t>(word<3>(v)) << 32;
  } else {
    auto* words = reinterpret_cast<std::uint32_t*>(to);
    words[0] = word<0>(v);
    words[1] = word<1>(v);
    words[2] = word<2>(v);
    words[3] = word<3>(v);
  }
}

// The places in shared memory of the units of the chunk at byte `at` of the output.
template <class Unit>
__device__ void find_units(int (&place)[16 / sizeof(Unit)], int at, const small_matrices& m) {
  constexpr int size = static_cast<int>(sizeof(Unit));
  const int unit = at / size, matrix = static_cast<int>(divide(unit, m.matrix)), elements = m.rows * m.cols;
  const int within = unit - matrix * elements;
  int column = static_cast<int>(divide(within, m.column)), row = within - column * m.rows;
  int from = matrix * elements + row * m.cols + column;
#pragma unroll
  for (int u = 0; u < 16 / size; ++u) {
    place[u] = padded(from * size, m);
    from += m.cols;
    if (++row == m.rows) {
      row = 0;
      from -= elements - 1;
      if (++column == m.cols) {
        column = 0;
        from += elements - m.cols;
      }
    }
  }
}

// The last window of all, where it is not whole.
template <class Unit>
__device__ void move_units(unsigned char* out, const unsigned char* in, int bytes, const small_matrices& m) {
  constexpr int size = static_cast<int>(sizeof(Unit));
  const int elements = m.rows * m.cols;
  for (int unit = threadIdx.x; unit * size < bytes; unit += small_threads) {
    const int matrix = static_cast<int>(divide(unit, m.matrix)), within = unit - matrix * elements;
    const int column = static_cast<int>(divide(within, m.column)), row = within - column * m.rows;
    const int from = matrix * elements + row * m.cols + column;
    *reinterpret_cast<Unit*>(out + unit * size) = *reinterpret_cast<const Unit*>(in + from * size);
  }
}

template <class Unit, int Runs, int Capacity>
__global__ void __launch_bounds__(small_threads)
    transpose_small(unsigned char* out, const unsigned char* in, small_matrices m) {
  constexpr int region = small_region<Capacity>;
  unsigned char* shared = dynamic_shared<unsigned char>();
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x) * m.window;
  if (first >= m.stride) return;  // the whole block: the grid is a rectangle
  in += first;
  out += first;
  int whole = 0;  // windows
#pragma unroll
  for (int k = 0; k < Runs; ++k) whole += first + k * m.stride + m.window <= m.bytes ? 1 : 0;
  const int skip = static_cast<int>(reinterpret_cast<std::uintptr_t>(out) & 127), lane = threadIdx.x * 16 - skip;

  for (int at = lane; at < m.window; at += small_threads * 16) {
    if (at < 0) continue;
    word16 held[Runs];
#pragma unroll
    for (int k = 0; k < Runs; ++k) {
      if (k < whole) held[k] = *reinterpret_cast<const word16*>(in + k * m.stride + at);
    }
#pragma unroll
    for (int k = 0; k < Runs; ++k) {
      if (k < whole) store_words<Unit>(shared + k * region + padded(at, m), held[k]);
    }
  }
  __syncthreads();

  for (int at = lane; at < m.window; at += small_threads * 16) {
    if (at < 0) continue;
    int place[16 / sizeof(Unit)];
    find_units<Unit>(place, at, m);
#pragma unroll
    for (int k = 0; k < Runs; ++k) {
      if (k >= whole) continue;
      unit_chunk<Unit> v;
#pragma unroll
      for (int u = 0; u < static_cast<int>(16 / sizeof(Unit)); ++u) {
        v.unit[u] = *reinterpret_cast<const Unit*>(shared + k * region + place[u]);
      }
      *reinterpret_cast<word16*>(out + k * m.stride + at) = v.whole;
    }
  }
  const std::int64_t left = m.bytes - first - whole * m.stride;
  if (whole < Runs && left > 0)
    move_units<Unit>(out + whole * m.stride, in + whole * m.stride, static_cast<int>(left), m);
}

}  // namespace twill::TWILL_BACKEND::kernels
