#pragma once

// Transpose of many matrices of 3, 5 or 7 rows and columns of one byte, whose shape is known at compile time. Four
// matrices are Rows x Cols words, an odd number: a thread takes four from shared memory without bank conflicts,
// transposes them in registers, and stores them in place; global loads and stores are 16 bytes wide.

#include <cstdint>

#include "device.hpp"
#include "uninitialised_reads.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int tiny_threads = 128;

/// Bytes of a block.
template <int Rows, int Cols>
inline constexpr int tiny_window = tiny_threads * 4 * Rows * Cols;

// Bytes in the order of the input become bytes in that of the output.
template <int Rows, int Cols>
__device__ void transpose_4(std::uint32_t (&to)[Rows * Cols], const std::uint32_t (&from)[Rows * Cols]) {
  constexpr int size = Rows * Cols;
#pragma unroll
  for (int word = 0; word < size; ++word) {
    int at[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int byte = word * 4 + i, within = byte % size;
      at[i] = byte - within + within % Rows * Cols + within / Rows;
    }
    const std::uint32_t low = byte_permute(from[at[0] / 4], from[at[1] / 4], at[0] % 4 | (4 + at[1] % 4) << 4);
    const std::uint32_t high = byte_permute(from[at[2] / 4], from[at[3] / 4], at[2] % 4 | (4 + at[3] % 4) << 4);
    to[word] = byte_permute(low, high, 0x5410);
  }
}

template <int Rows, int Cols>
__global__ void __launch_bounds__(tiny_threads)
    transpose_staged_tiny(unsigned char* out, const unsigned char* in, std::int64_t bytes) {
  constexpr int window = tiny_window<Rows, Cols>, size = Rows * Cols, loads = (size + 3) / 4;
  unsigned char* shared = dynamic_shared<unsigned char>();
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x) * window;
  if (first >= bytes) return;  // uniform exit: padding block of the 2-D grid
  const int end = bytes - first < window ? static_cast<int>(bytes - first) : window;
  const int thread = threadIdx.x;
  in += first;
  out += first;
  word16 held[loads];
#pragma unroll
  for (int k = 0; k < loads; ++k) {
    const int at = (k * tiny_threads + thread) * 16;
    if (at + 16 <= end) held[k] = *reinterpret_cast<const word16*>(in + at);
  }
#pragma unroll
  for (int k = 0; k < loads; ++k) {
    const int at = (k * tiny_threads + thread) * 16;
    if (at + 16 <= end) *reinterpret_cast<word16*>(shared + at) = held[k];
  }
  if (thread < end % 16) shared[end / 16 * 16 + thread] = in[end / 16 * 16 + thread];
  allow_uninitialised_reads();
  __syncthreads();

  auto* mine = reinterpret_cast<std::uint32_t*>(shared) + thread * size;
  std::uint32_t from[size], to[size];
#pragma unroll
  for (int i = 0; i < size; ++i) from[i] = mine[i];
  transpose_4<Rows, Cols>(to, from);
#pragma unroll
  for (int i = 0; i < size; ++i) mine[i] = to[i];
  __syncthreads();

#pragma unroll
  for (int k = 0; k < loads; ++k) {
    const int at = (k * tiny_threads + thread) * 16;
    if (at + 16 <= end) *reinterpret_cast<word16*>(out + at) = *reinterpret_cast<const word16*>(shared + at);
  }
  if (thread < end % 16) out[end / 16 * 16 + thread] = shared[end / 16 * 16 + thread];
}

}  // namespace twill::TWILL_BACKEND::kernels
