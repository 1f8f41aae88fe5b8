#pragma once

// The kernels of the transpose ladder, in the shape that the teaching documents give them: a block of X x Y threads
// moves a tile of X columns and max(X, Y) rows. They differ from those only in that any extents are right: 64-bit
// offsets, bounds, and tile rows spread over grid y and z. `repeats` is the documents' "loop in kernel". The pointers
// are not __restrict__ on purpose: a compiler could then move the loads out of that loop.

#include <cstdint>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

template <int X, int Y>
inline constexpr int tile_rows = X > Y ? X : Y;

// The tile row of this block; grid y ends at 65,535, so the rest lies in z.
inline __device__ std::int64_t block_row() {
  return static_cast<std::int64_t>(blockIdx.z) * gridDim.y + blockIdx.y;
}

// Loads the tile at (row - threadIdx.y, col - threadIdx.x). All loads of a thread are issued before the
// first store; `full` tiles, the only ones the teaching documents have, need no bounds check.
template <class T, int X, int Y, int Pitch>
__device__ void load_tile(T (&tile)[X][Pitch], const T* in, std::int64_t rows, std::int64_t cols, std::int64_t row,
                          std::int64_t col, bool full) {
  T held[X / Y];
#pragma unroll
  for (int i = 0; i < X; i += Y) {
    if (full || (col < cols && row + i < rows)) held[i / Y] = in[(row + i) * cols + col];
  }
#pragma unroll
  for (int i = 0; i < X; i += Y) {
    if (full || (col < cols && row + i < rows)) tile[threadIdx.y + i][threadIdx.x] = held[i / Y];
  }
}

// Row-wise in, row-wise out: what memory allows when nothing is transposed.
template <class T, int X, int Y>
__global__ void __launch_bounds__(X* Y) copy(T* out, const T* in, std::int64_t rows, std::int64_t cols, int repeats) {
  const std::int64_t col = static_cast<std::int64_t>(blockIdx.x) * X + threadIdx.x;
  const std::int64_t row = block_row() * tile_rows<X, Y> + threadIdx.y;
  for (int r = 0; r < repeats; ++r) {
    T held[tile_rows<X, Y> / Y];  // issue all loads before the first store
#pragma unroll
    for (int i = 0; i < tile_rows<X, Y>; i += Y) {
      if (col < cols && row + i < rows) held[i / Y] = in[(row + i) * cols + col];
    }
#pragma unroll
    for (int i = 0; i < tile_rows<X, Y>; i += Y) {
      if (col < cols && row + i < rows) out[(row + i) * cols + col] = held[i / Y];
    }
  }
}

// The copy through a shared tile, with a barrier: what staging costs.
template <class T, int X, int Y>
__global__ void __launch_bounds__(X* Y)
    copy_shared(T* out, const T* in, std::int64_t rows, std::int64_t cols, int repeats) {
  __shared__ T tile[X][X];
  const std::int64_t col = static_cast<std::int64_t>(blockIdx.x) * X + threadIdx.x;
  const std::int64_t row = block_row() * X + threadIdx.y;
  const bool full = block_row() * X + X <= rows && (static_cast<std::int64_t>(blockIdx.x) + 1) * X <= cols;
  for (int r = 0; r < repeats; ++r) {
    if (r > 0) __syncthreads();
    load_tile<T, X, Y>(tile, in, rows, cols, row, col, full);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < X; i += Y) {
      if (full || (col < cols && row + i < rows)) out[(row + i) * cols + col] = tile[threadIdx.y + i][threadIdx.x];
    }
  }
}

// Loads by rows (coalesced), stores by columns: each lane of a store writes another line.
template <class T, int X, int Y>
__global__ void __launch_bounds__(X* Y)
    naive_row(T* out, const T* in, std::int64_t rows, std::int64_t cols, int repeats) {
  const std::int64_t col = static_cast<std::int64_t>(blockIdx.x) * X + threadIdx.x;
  const std::int64_t row = block_row() * tile_rows<X, Y> + threadIdx.y;
  for (int r = 0; r < repeats; ++r) {
#pragma unroll
    for (int i = 0; i < tile_rows<X, Y>; i += Y) {
      if (col < cols && row + i < rows) out[col * rows + row + i] = in[(row + i) * cols + col];
    }
  }
}

// Loads by columns, stores by rows (coalesced). The grid covers the output: x runs along its rows.
template <class T, int X, int Y>
__global__ void __launch_bounds__(X* Y)
    naive_col(T* out, const T* in, std::int64_t rows, std::int64_t cols, int repeats) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * X + threadIdx.x;
  const std::int64_t col = block_row() * tile_rows<X, Y> + threadIdx.y;
  for (int r = 0; r < repeats; ++r) {
#pragma unroll
    for (int i = 0; i < tile_rows<X, Y>; i += Y) {
      if (row < rows && col + i < cols) out[(col + i) * rows + row] = in[row * cols + col + i];
    }
  }
}

// Where a tile is read, and written: its first row and column in the input.
struct tile_origin {
  std::int64_t row, col;
};

template <int X>
__device__ tile_origin cartesian_tile() {
  return {block_row() * X, static_cast<std::int64_t>(blockIdx.x) * X};
}

// Blocks that run together take tiles along a diagonal, so that their reads and their writes both spread over all
// partitions of memory. Holds for any grid of `tiles_x` by `tiles_y`.
template <int X>
__device__ tile_origin diagonal_tile(std::int64_t tiles_x, std::int64_t tiles_y) {
  const std::int64_t block = blockIdx.x + tiles_x * block_row();
  const std::int64_t y = block % tiles_y;
  return {y * X, (block / tiles_y + y) % tiles_x * X};
}

// Through a shared tile, read by rows and written by rows. Pad 0: a column of the tile lies in one bank (for 4 bytes
// and 32 columns). Pad 1: it lies in all of them.
template <class T, int X, int Y, int Pad, bool Diagonal>
__global__ void __launch_bounds__(X* Y) tiled(T* out, const T* in, std::int64_t rows, std::int64_t cols, int repeats) {
  __shared__ T tile[X][X + Pad];
  const std::int64_t tiles_x = (cols + X - 1) / X, tiles_y = (rows + X - 1) / X;
  if (block_row() >= tiles_y) return;  // uniform exit: grid y times z may exceed the tiles
  const tile_origin at = Diagonal ? diagonal_tile<X>(tiles_x, tiles_y) : cartesian_tile<X>();
  const bool full = at.row + X <= rows && at.col + X <= cols;
  const std::int64_t col = at.col + threadIdx.x, row = at.row + threadIdx.y;
  const std::int64_t out_col = at.row + threadIdx.x, out_row = at.col + threadIdx.y;
  for (int r = 0; r < repeats; ++r) {
    if (r > 0) __syncthreads();
    load_tile<T, X, Y>(tile, in, rows, cols, row, col, full);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < X; i += Y) {
      if (full || (out_col < rows && out_row + i < cols)) {
        out[(out_row + i) * rows + out_col] = tile[threadIdx.x][threadIdx.y + i];
      }
    }
  }
}

// As `tiled`, with addresses stepped instead of computed, and a separate path for the stores of full tiles:
// loads from shared memory, too, are issued before the first store.
template <class T, int X, int Y>
__global__ void __launch_bounds__(X* Y)
    unrolled(T* out, const T* in, std::int64_t rows, std::int64_t cols, int repeats) {
  __shared__ T tile[X][X + 1];
  constexpr int steps = X / Y;
  const tile_origin at = cartesian_tile<X>();
  const bool full = at.row + X <= rows && at.col + X <= cols;
  const std::int64_t col = at.col + threadIdx.x, row = at.row + threadIdx.y;
  const std::int64_t out_col = at.row + threadIdx.x, out_row = at.col + threadIdx.y;
  const T* from = in + row * cols + col;
  T* to = out + out_row * rows + out_col;
  for (int r = 0; r < repeats; ++r) {
    if (r > 0) __syncthreads();
    T held[steps];
#pragma unroll
    for (int k = 0; k < steps; ++k) {
      if (full || (col < cols && row + k * Y < rows)) held[k] = from[k * Y * cols];
    }
#pragma unroll
    for (int k = 0; k < steps; ++k) {
      if (full || (col < cols && row + k * Y < rows)) tile[threadIdx.y + k * Y][threadIdx.x] = held[k];
    }
    __syncthreads();
    if (full) {
#pragma unroll
      for (int k = 0; k < steps; ++k) held[k] = tile[threadIdx.x][threadIdx.y + k * Y];
#pragma unroll
      for (int k = 0; k < steps; ++k) to[k * Y * rows] = held[k];
    } else {
#pragma unroll
      for (int k = 0; k < steps; ++k) {
        if (out_col < rows && out_row + k * Y < cols) to[k * Y * rows] = tile[threadIdx.x][threadIdx.y + k * Y];
      }
    }
  }
}

// Half of a transpose: inside the tile only; the tile stays where it is. Where the mirror image of an element lies
// outside the matrix, the element stays.
template <class T, int X, int Y>
__global__ void __launch_bounds__(X* Y)
    fine_grained(T* out, const T* in, std::int64_t rows, std::int64_t cols, int repeats) {
  __shared__ T tile[X][X + 1];
  const tile_origin at = cartesian_tile<X>();
  const bool full = at.row + X <= rows && at.col + X <= cols;
  const std::int64_t col = at.col + threadIdx.x, row = at.row + threadIdx.y;
  const int x = threadIdx.x;
  for (int r = 0; r < repeats; ++r) {
    if (r > 0) __syncthreads();
    load_tile<T, X, Y>(tile, in, rows, cols, row, col, full);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < X; i += Y) {
      const int y = threadIdx.y + i;
      if (!full && (col >= cols || row + i >= rows)) continue;
      const bool mirrored = full || (at.row + x < rows && at.col + y < cols);
      out[(row + i) * cols + col] = mirrored ? tile[x][y] : tile[y][x];
    }
  }
}

// The other half: the tile is moved to its transposed position, not transposed inside. In edge tiles, which are not
// square, the elements without a counterpart are transposed.
template <class T, int X, int Y>
__global__ void __launch_bounds__(X* Y)
    coarse_grained(T* out, const T* in, std::int64_t rows, std::int64_t cols, int repeats) {
  __shared__ T tile[X][X + 1];
  const tile_origin at = cartesian_tile<X>();
  const bool full = at.row + X <= rows && at.col + X <= cols;
  const std::int64_t col = at.col + threadIdx.x, row = at.row + threadIdx.y;
  const std::int64_t out_col = at.row + threadIdx.x, out_row = at.col + threadIdx.y;
  const int x = threadIdx.x;
  for (int r = 0; r < repeats; ++r) {
    if (r > 0) __syncthreads();
    load_tile<T, X, Y>(tile, in, rows, cols, row, col, full);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < X; i += Y) {
      const int y = threadIdx.y + i;
      if (!full && (out_col >= rows || out_row + i >= cols)) continue;
      const bool straight = full || (at.row + y < rows && at.col + x < cols);
      out[(out_row + i) * rows + out_col] = straight ? tile[y][x] : tile[x][y];
    }
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
