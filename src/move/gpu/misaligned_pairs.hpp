#pragma once

// How transpose_misaligned loads a tile of 2 or 4 byte elements to shared memory, a pair of words a lane: a warp reads
// 256 bytes of each row. Where rows begin inside of a pair, one is cut from two: a lane's own and its neighbour's.

#include <cstdint>

#include "device.hpp"
#include "misaligned_tile.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// As word_tile, with lanes of two words. Aligned: rows begin at multiples of 8 bytes.
template <int Bytes, bool Aligned, int Length, int Threads, int Rows, int Blocks>
struct pair_tile {
  static constexpr int word_bytes = 4, per_word = word_bytes / Bytes, threads = Threads;
  static constexpr int lane_bytes = 8, per_lane = lane_bytes / Bytes;
  static constexpr int length = Length, rows_at_once = Rows;                              // bytes of an output row
  static constexpr int height = length / Bytes, written = height - tile_overlap / Bytes;  // elements
  static constexpr int width = (Aligned ? 32 : 31) * per_lane;
  static constexpr int pitch = length + 16, bytes = 32 * per_lane * pitch + 16;
  static constexpr int spread = 16 / word_bytes, least_blocks = blocks_at_once(Threads, Blocks);
  static_assert(Bytes <= 4 && height % (threads / 32 * rows_at_once) == 0);

  // The tile's row for column `element` of lane `lane`, in bytes.
  static __device__ int row(int element, int lane) {
    return (element * 32 + lane / spread + lane % spread * (32 / spread)) * pitch;
  }
  static __device__ int row_of(int column) { return row(column % per_lane, column / per_lane); }
};

// The first and the second words of some rows.
template <int Rows>
struct word_pairs {
  std::uint32_t first[Rows], second[Rows];

  // Those of row i begin `skip` bytes into this lane's, and end in the next lane's.
  template <int Bytes>
  __device__ void cut(int i, std::uint32_t skip) {
    const std::uint32_t next = shuffle_down(first[i], 1), low = skip & 4 ? second[i] : first[i];
    const std::uint32_t middle = skip & 4 ? next : second[i];
    first[i] = low;
    second[i] = middle;
    if constexpr (Bytes < 4) {
      const std::uint32_t high = shuffle_down(low, 1), selector = 0x3210 + 0x1111 * (skip & 3);
      first[i] = byte_permute(low, middle, selector);
      second[i] = byte_permute(middle, high, selector);
    }
  }

  // `at(i)` is where row i begins. Issues all loads before the first use.
  template <int Bytes, bool Aligned, class Address>
  __device__ void load(Address at) {
#pragma unroll
    for (int i = 0; i < Rows; ++i) {
      const auto address = reinterpret_cast<std::uintptr_t>(at(i)) & ~std::uintptr_t{Aligned ? 0 : 7};
      // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the row, rounded down.
      const std::uint64_t pair = load_prefetch_l2<128>(reinterpret_cast<const std::uint64_t*>(address));
      first[i] = static_cast<std::uint32_t>(pair);
      second[i] = static_cast<std::uint32_t>(pair >> 32);
    }
    if constexpr (!Aligned) {
#pragma unroll
      for (int i = 0; i < Rows; ++i)
        cut<Bytes>(i, static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(at(i))) & 7);
    }
  }
};

// Where the columns of a lane's words go to in the tile; `out` is where it goes to.
template <class Shape>
struct pair_columns {
  unsigned char *first[Shape::per_word], *second[Shape::per_word];

  __device__ pair_columns(unsigned char* tile, const unsigned char* out, std::int64_t out_ld) {
    const int lane = threadIdx.x % 32;
    const auto place = [&](int k) {
      const auto address = reinterpret_cast<std::uintptr_t>(out + (lane * Shape::per_lane + k) * out_ld);
      return tile + Shape::row(k, lane) + 16 - (static_cast<int>(-address & 15) & -4);
    };
#pragma unroll
    for (int k = 0; k < Shape::per_word; ++k) {
      first[k] = place(k);
      second[k] = place(Shape::per_word + k);
    }
  }
};

// Loads the tile at (row0, col0) of the matrix, transposed, to shared memory. `out` is where it goes to.
template <int Bytes, bool Aligned, class Shape>
__device__ void load_pairs(unsigned char* tile, const unsigned char* in, const unsigned char* out,
                           const word_matrices& m, std::int64_t row0, std::int64_t col0) {
  constexpr int rows = Shape::rows_at_once, warps = Shape::threads / 32;
  const int lane = threadIdx.x % 32, begin = static_cast<int>(threadIdx.x) / 32 * rows;
  const pair_columns<Shape> to(tile, out, m.out_ld);
  const std::int64_t offset = col0 * Bytes, left = m.cols * Bytes - offset - lane * 8;
  const tile_rows r = rows_of_tile<Bytes, Aligned, Shape>(in, m, row0, offset);
  const unsigned char* from = in + row0 * m.in_ld + offset + lane * 8;
  word_pairs<rows> w;
  if (r.first_full == 0 && r.last_full == Shape::height - 1) {
    from += begin * m.in_ld;
#pragma unroll
    for (int row = 0; row < Shape::height; row += warps * rows) {
      w.template load<Bytes, Aligned>([&](int i) { return from + i * m.in_ld; });
      store_words<Bytes>(to.first, w.first, (row + begin) * Bytes);
      store_words<Bytes>(to.second, w.second, (row + begin) * Bytes);
      from += warps * rows * m.in_ld;
    }
    return;
  }
  // At the matrix's edges: rows beyond repeat the first or last, and some go element by element (load_edge).
#pragma unroll 1
  for (int row = begin; row < Shape::height; row += warps * rows) {
    if (r.first_full <= r.last_full) {
      w.template load<Bytes, Aligned>([&](int i) {
        return from + (row + i < r.first_full ? r.first_full : row + i > r.last_full ? r.last_full : row + i) * m.in_ld;
      });
      store_words<Bytes>(to.first, w.first, row * Bytes);
      store_words<Bytes>(to.second, w.second, row * Bytes);
    }
#pragma unroll 1
    for (int four = row; four < row + rows && four <= r.last; four += 4) {
      if (four >= r.first_full && (four + 3 <= r.last_full || r.last == r.last_full)) continue;
      std::uint32_t e[4];
      load_edge<Bytes>(e, from + four * m.in_ld, m.in_ld, r.last + 1 - four, left);
      store_words<Bytes>(to.first, e, four * Bytes);
      load_edge<Bytes>(e, from + four * m.in_ld + 4, m.in_ld, r.last + 1 - four, left - 4);
      store_words<Bytes>(to.second, e, four * Bytes);
    }
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
