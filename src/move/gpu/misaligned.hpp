#pragma once

// Transpose of matrices of 1, 2, 4 and 8 byte elements with misaligned rows. A warp loads consecutive words (4 bytes; 8
// for 8-byte elements; or pairs of words) of each of several rows; where a row is not aligned to words, a lane extracts
// its word from two aligned ones, its own and the next lane's. The tile is stored transposed in shared memory, each
// row offset by some words so that 16-byte boundaries of the output are 16-byte boundaries there: stores to global
// memory are aligned vectors, funnel-shifted by less than a word. Tile boundaries are rounded up, per output row, to a
// multiple of 32 bytes: each sector is written in full, by one block.

#include <cstdint>

#include "device.hpp"
#include "misaligned_pairs.hpp"
#include "misaligned_tile.hpp"
#include "uninitialised_reads.hpp"

namespace twill::TWILL_BACKEND::kernels {

// Epilogue: the head and tail of output rows that aligned vectors do not cover, in the first and the last tile, less
// than 16 bytes each. Of each 32 / Bytes threads the first half stores the head, the second half the tail.
template <int Bytes, class Shape>
__device__ void store_ends(unsigned char* out, const unsigned char* tile, const word_matrices& m, int width, int valid,
                           bool top, bool last) {
  using unit = typename unit_of_bytes<Bytes>::type;
  constexpr int units = 16 / Bytes;
  for (int i = threadIdx.x; i < width * 2 * units; i += Shape::threads) {
    const int column = i / (2 * units), at = i % units * Bytes;
    unsigned char* to = out + column * m.out_ld;
    const int shift = static_cast<int>(-reinterpret_cast<std::uintptr_t>(to) & (tile_overlap - 1)), first = shift & 15;
    const bool head = i % (2 * units) < units;
    const int byte = head ? at : first + ((valid - first) & -16) + at;
    const bool mine =
        head ? top && byte < first
             : valid >= first && (top || byte >= shift) && (last || byte < shift + Shape::length - tile_overlap);
    if (mine && byte < valid) {
      const unsigned char* from = tile + Shape::row_of(column) + 16 - (first & -Shape::word_bytes);
      *reinterpret_cast<unit*>(to + byte) = *reinterpret_cast<const unit*>(from + byte);
    }
  }
}

template <int Bytes, bool Aligned, class Shape>
__global__ void __launch_bounds__(Shape::threads, Shape::least_blocks)
    transpose_misaligned(unsigned char* out, const unsigned char* in, word_matrices m) {
  auto* tile = dynamic_shared<unsigned char>();
  unsigned place = blockIdx.y * gridDim.x + blockIdx.x;
  if (place >= m.tiles) return;  // uniform exit: padding block of the 2-D grid
  place = m.tiles - 1 - place;   // tiles at the lower edge take longest: they start first
  const std::int64_t row0 = static_cast<std::int64_t>(place % m.tiles_r) * Shape::written;
  place /= m.tiles_r;
  const std::int64_t col0 = static_cast<std::int64_t>(place % m.tiles_c) * Shape::width;
  const std::int64_t matrix = place / m.tiles_c;
  out += matrix * m.out_stride + col0 * m.out_ld + row0 * Bytes;
  if constexpr (Shape::lane_bytes > Shape::word_bytes) {
    load_pairs<Bytes, Aligned, Shape>(tile, in + matrix * m.in_stride, out, m, row0, col0);
  } else {
    load_tile<Bytes, Aligned, Shape>(tile, in + matrix * m.in_stride, out, m, row0, col0);
  }
  allow_uninitialised_reads();  // columns beyond the edge, and of the word behind a chunk what the selector leaves out
  __syncthreads();

  const std::int64_t rows_left = m.rows - row0, cols_left = m.cols - col0;
  const int width = cols_left < Shape::width ? static_cast<int>(cols_left) : Shape::width;
  const int valid = rows_left < Shape::height ? static_cast<int>(rows_left) * Bytes : Shape::length;
  // A thread stores every `step`th output row: these have equal alignment.
  constexpr int lanes = Shape::length / 16, step = Shape::threads / lanes, steps = 32 * Shape::per_lane / step;
  static_assert(step * Bytes % tile_overlap == 0 && step % (Shape::per_lane * Shape::spread) == 0);
  const int lane = threadIdx.x % lanes, column = threadIdx.x / lanes;
  unsigned char* to = out + column * m.out_ld;
  const int first = static_cast<int>(-reinterpret_cast<std::uintptr_t>(to) & (tile_overlap - 1));
  const int most = rows_left <= Shape::height ? valid : first + Shape::length - tile_overlap;
  // Two lanes are idle: in the first tile, one stores the vector before `first`, if there is one.
  const bool before = row0 == 0 && lane == lanes - 1 && first >= 16;
  const int place16 = before ? first - 16 : first + lane * 16;
  if (place16 + 16 <= most) {
    to += place16;
    const unsigned char* from = tile + Shape::row_of(column) + 16 + (place16 & -16);
    const std::uint32_t selector = 0x3210 + 0x1111 * (first & (Shape::word_bytes - 1));
#pragma unroll
    for (int i = 0; i < steps; ++i) {
      const auto* chunk =
          reinterpret_cast<const word16*>(from + i * (step / Shape::per_lane / Shape::spread) * Shape::pitch);
      word16 v = *chunk;
      if (Bytes < 4) {
        const auto next = *reinterpret_cast<const std::uint32_t*>(chunk + 1);
        v = make_word16(byte_permute(word<0>(v), word<1>(v), selector), byte_permute(word<1>(v), word<2>(v), selector),
                        byte_permute(word<2>(v), word<3>(v), selector), byte_permute(word<3>(v), next, selector));
      }
      if (column + i * step < width) *reinterpret_cast<word16*>(to) = v;
      to += step * m.out_ld;
    }
  }
  if (row0 == 0 || rows_left <= Shape::height) {
    store_ends<Bytes, Shape>(out, tile, m, width, valid, row0 == 0, rows_left <= Shape::height);
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
