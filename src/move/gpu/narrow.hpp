#pragma once

// Transpose of matrices of a few columns without gaps (tall), or of a few rows into columns without gaps (wide). A
// thread takes the K x 16 bytes that hold full rows of a tall matrix, K its columns, and transposes them in registers
// into 16 bytes of each column: neighbouring threads then write neighbouring vectors of all columns. The rows are
// staged in shared memory, so that their loads are coalesced too. A wide matrix takes these steps in reverse.

#include <cstdint>

#include "device.hpp"
#include "gpu/dependent_launch.hpp"
#include "gpu/packed_units.hpp"
#include "gpu/register_block.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int narrow_threads = 256;

struct narrow_matrices {
  std::int64_t groups;                 // of 16 bytes of the long side
  std::int64_t ld;                     // bytes; of the long side's rows
  std::int64_t in_stride, out_stride;  // bytes
  unsigned tiles, all_tiles;           // of a matrix, of all of them
};

// Where a chunk of the contiguous side lies: one chunk of padding after each eight spreads steps of K over the banks.
__device__ inline int narrow_place(int chunk) {
  return chunk + (chunk >> 3);
}

// The groups of a block, and where its parts of the first matrix lie.
struct narrow_piece {
  unsigned matrix;
  std::int64_t group0;
  int groups;  // 0: none, the grid is 2-D

  __device__ explicit narrow_piece(const narrow_matrices& m) {
    const unsigned place = blockIdx.y * gridDim.x + blockIdx.x;
    matrix = place / m.tiles;
    group0 = static_cast<std::int64_t>(place - matrix * m.tiles) * blockDim.x;
    const std::int64_t left = m.groups - group0;
    groups = place >= m.all_tiles ? 0 : left < blockDim.x ? static_cast<int>(left) : static_cast<int>(blockDim.x);
  }
};

template <int Bytes, int K>
__global__ void __launch_bounds__(narrow_threads)
    transpose_narrow_cols(unsigned char* out, const unsigned char* in, narrow_matrices m) {
  constexpr int per_chunk = 16 / Bytes;
  word16* shared = dynamic_shared<word16>();
  const narrow_piece p(m);
  if (p.groups == 0) return;
  wait_then_trigger_dependents();
  const int thread = threadIdx.x, threads = blockDim.x, chunks = p.groups * K;
  in += p.matrix * m.in_stride + p.group0 * (K * 16);
  word16 held[K];
#pragma unroll
  for (int i = 0; i < K; ++i) {
    const int chunk = i * threads + thread;
    if (chunk < chunks) held[i] = *reinterpret_cast<const word16*>(in + chunk * 16);
  }
#pragma unroll
  for (int i = 0; i < K; ++i) {
    const int chunk = i * threads + thread;
    if (chunk < chunks) shared[narrow_place(chunk)] = held[i];
  }
  __syncthreads();
  if (thread >= p.groups) return;
  std::uint32_t rows[K * 4], columns[K * 4];
#pragma unroll
  for (int i = 0; i < K; ++i) unpack_words(rows, shared[narrow_place(thread * K + i)], i * 4);
  reorder<Bytes>(columns, rows, [](int i) { return i % per_chunk * K + i / per_chunk; });
  out += p.matrix * m.out_stride + (p.group0 + thread) * 16;
#pragma unroll
  for (int k = 0; k < K; ++k) *reinterpret_cast<word16*>(out + k * m.ld) = pack_words(columns, k * 4);
}

template <int Bytes, int K>
__global__ void __launch_bounds__(narrow_threads)
    transpose_narrow_rows(unsigned char* out, const unsigned char* in, narrow_matrices m) {
  constexpr int per_chunk = 16 / Bytes;
  word16* shared = dynamic_shared<word16>();
  const narrow_piece p(m);
  if (p.groups == 0) return;
  wait_then_trigger_dependents();
  const int thread = threadIdx.x, threads = blockDim.x, chunks = p.groups * K;
  if (thread < p.groups) {
    in += p.matrix * m.in_stride + (p.group0 + thread) * 16;
    std::uint32_t rows[K * 4], columns[K * 4];
#pragma unroll
    for (int k = 0; k < K; ++k) unpack_words(rows, *reinterpret_cast<const word16*>(in + k * m.ld), k * 4);
    reorder<Bytes>(columns, rows, [](int i) { return i % K * per_chunk + i / K; });
#pragma unroll
    for (int i = 0; i < K; ++i) shared[narrow_place(thread * K + i)] = pack_words(columns, i * 4);
  }
  __syncthreads();
  out += p.matrix * m.out_stride + p.group0 * (K * 16);
#pragma unroll
  for (int i = 0; i < K; ++i) {
    const int chunk = i * threads + thread;
    if (chunk < chunks) *reinterpret_cast<word16*>(out + chunk * 16) = shared[narrow_place(chunk)];
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
