#pragma once

// Kernel of exchanges for pieces with misaligned rows, such as those of uneven parts. Tiles are loaded and stored to
// shared memory as transpose_misaligned does; their boundaries are rounded up, per output row, to a multiple of 128
// bytes: a link carries each line to a peer once, complete.
//
// Access pattern: loads of 124 to 256 contiguous bytes, word by word; a warp stores 256 to 512 contiguous bytes of an
// output row in aligned vectors, and the ends of rows element by element.

#include "exchange.hpp"
#include "gpu/misaligned_tile.hpp"
#include "uninitialised_reads.hpp"

namespace twill::TWILL_BACKEND::kernels {

template <int Bytes, int Length, int Threads, int Rows>
struct line_tile : word_tile<Bytes, (Bytes >= 4), Length, Threads, Rows, 2> {
  static constexpr bool aligned = Bytes >= 4;  // rows begin at multiples of a word
  static constexpr int line = 128, written = (Length - line) / Bytes;
};

// Of a piece's tiles: where the output rows begin, and where they end.
struct tile_ends {
  bool first, last;
  int valid;  // bytes of an output row that are in the tile
};

// An output row, by a warp: aligned vectors from the first line that begins in the tile to the first that begins behind
// it; in the first tile, what is before them, in the last one, what is behind them.
template <int Bytes, class Shape>
__device__ void store_row(unsigned char* to, const unsigned char* row, const tile_ends& ends) {
  using unit = typename unit_of_bytes<Bytes>::type;
  const int lane = threadIdx.x % 32, line = until_aligned(to, Shape::line);
  const int begin = ends.first ? line & 15 : line;
  const int end = ends.last ? ends.valid : line + Shape::length - Shape::line;
  for (int byte = begin + lane * 16; byte + 16 <= end; byte += 32 * 16) {
    *reinterpret_cast<word16*>(to + byte) = shifted_chunk<Bytes>(row + 16 + (byte & -16), line);
  }
  const unsigned char* from = row + 16 - (line & 15 & -Shape::word_bytes);
  const auto store = [&](int byte) {
    *reinterpret_cast<unit*>(to + byte) = *reinterpret_cast<const unit*>(from + byte);
  };
  const int head = lane * Bytes, tail = begin + ((end - begin) & -16) + head;
  if (ends.first && head < begin && head < end) store(head);
  if (ends.last && end >= begin && tail < end) store(tail);
}

template <int Bytes, class Shape>
__device__ void move_misaligned_tile(unsigned char* tile, const exchange_part& part, unsigned place) {
  const counted_tiles& m = part.tiles;
  const std::int64_t row0 = static_cast<std::int64_t>(place % m.tiles_r) * Shape::written;
  place /= m.tiles_r;
  const std::int64_t col0 = static_cast<std::int64_t>(place % m.tiles_c) * Shape::width;
  const std::int64_t matrix = place / m.tiles_c;
  unsigned char* const out = part.out + matrix * m.out_stride + col0 * m.out_ld + row0 * Bytes;
  load_tile<Bytes, Shape::aligned, Shape>(tile, part.in + matrix * m.in_stride, out, m, row0, col0);
  allow_uninitialised_reads();  // of the word behind a chunk what the funnel shift discards
  __syncthreads();
  const std::int64_t rows_left = m.rows - row0, cols_left = m.cols - col0;
  const int width = cols_left < Shape::width ? static_cast<int>(cols_left) : Shape::width;
  const bool last = rows_left <= Shape::height;
  const tile_ends ends{row0 == 0, last, last ? static_cast<int>(rows_left) * Bytes : Shape::length};
  for (int column = warp_index(); column < width; column += Shape::threads / 32) {
    store_row<Bytes, Shape>(out + column * m.out_ld, tile + Shape::row_of(column), ends);
  }
}

template <int Bytes, class Shape>
__global__ void __launch_bounds__(Shape::threads, Shape::least_blocks) exchange_misaligned(exchange_parts all) {
  each_tile(all, [](const exchange_part& part, unsigned place) {
    move_misaligned_tile<Bytes, Shape>(dynamic_shared<unsigned char>(), part, place);
  });
}

}  // namespace twill::TWILL_BACKEND::kernels
