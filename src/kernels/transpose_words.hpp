#pragma once

// Transpose of matrices of 1, 2, 4 and 8 byte elements whose rows begin anywhere. A warp reads words side by side (4
// bytes; 8 for 8-byte elements) from each of eight rows; where rows begin inside of words, a word is cut from two. The
// tile in shared memory is transposed, and each of its rows is moved by some words so that the output's multiples of 16
// bytes lie at multiples of 16 bytes there: it leaves in aligned chunks, shifted by less than a word. The boundaries
// between tiles move likewise, output row by output row, to the next multiple of 16: all chunks are written whole.

#include <cstdint>

#include "device.hpp"
#include "kernels/realign.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int words_rows = 8;

struct word_matrices {
  std::int64_t rows, cols;                            // elements
  std::int64_t in_ld, out_ld, in_stride, out_stride;  // bytes
  unsigned tiles_r, tiles_c, tiles;                   // down, across, in all
};

// A thread holds a word of each of eight rows, a warp 32 words side by side. Output rows 16 / Bytes apart are aligned
// alike; so that lanes side by side, whose tile rows are moved by different numbers of words, write to different banks,
// the rows of each `spread` lanes lie 32 / spread rows apart.
template <int Bytes, int Length, int Shear>
struct word_tile {
  static constexpr int word_bytes = Bytes < 4 ? 4 : Bytes, per_word = word_bytes / Bytes;
  static constexpr int length = Length;  // bytes of an output row
  static constexpr int height = length / Bytes, written = height - Shear / Bytes, width = 32 * per_word;  // elements
  static constexpr int pitch = length + 16, bytes = width * pitch;
  static constexpr int spread = 16 / word_bytes;

  // The tile's row for column `element` of word `lane`, in bytes.
  static __device__ int row(int element, int lane) {
    return (element * 32 + lane / spread + lane % spread * (32 / spread)) * pitch;
  }
  static __device__ int row_of(int column) { return row(column % per_word, column / per_word); }
};

template <int Bytes>
using word_type = typename unit_of_bytes < Bytes<4 ? 4 : Bytes>::type;

// Word q of the column `element` of eight rows' words.
template <int Bytes>
struct word_column;
template <>
struct word_column<8> {
  static __device__ std::uint64_t word(const std::uint64_t (&w)[8], int q, int) { return w[q]; }
};
template <>
struct word_column<4> {
  static __device__ std::uint32_t word(const std::uint32_t (&w)[8], int q, int) { return w[q]; }
};
template <>
struct word_column<2> {
  static __device__ std::uint32_t word(const std::uint32_t (&w)[8], int q, int element) {
    return byte_permute(w[2 * q], w[2 * q + 1], element == 0 ? 0x5410 : 0x7632);
  }
};
template <>
struct word_column<1> {
  static __device__ std::uint32_t word(const std::uint32_t (&w)[8], int q, int element) {
    const std::uint32_t pair = element < 2 ? 0x5140 : 0x7362;
    return byte_permute(byte_permute(w[4 * q], w[4 * q + 1], pair), byte_permute(w[4 * q + 2], w[4 * q + 3], pair),
                        element % 2 == 0 ? 0x5410 : 0x7632);
  }
};

// Where a thread reads: a word of each of eight rows that lie within the matrix, then of eight rows further down. Where
// rows begin inside of words it cuts each from two.
template <int Bytes, bool Whole>
struct word_reader {
  static constexpr int phases = Whole ? 1 : 4 / Bytes;  // rows after which words begin alike
  const unsigned char* at[phases];
  std::uint32_t selector[phases];

  __device__ word_reader(const unsigned char* from, std::int64_t ld) {
#pragma unroll
    for (int p = 0; p < phases; ++p) {
      const auto skip = Whole ? 0 : static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(from + p * ld) & 3);
      at[p] = from + p * ld - skip;
      selector[p] = 0x3210 + 0x1111 * skip;
    }
  }

  // All loads are on their way together. Then moves on by `step` bytes.
  __device__ void load(word_type<Bytes> (&w)[8], std::int64_t ld, std::int64_t step) {
    using word = word_type<Bytes>;
    word next[8];
#pragma unroll
    for (int p = 0; p < phases; ++p) {
      const unsigned char* row = at[p];
#pragma unroll
      for (int i = p; i < words_rows; i += phases) {
        w[i] = reinterpret_cast<const word*>(row)[0];
        if (!Whole) next[i] = reinterpret_cast<const word*>(row)[1];
        row += phases * ld;
      }
      at[p] += step;
    }
    if constexpr (!Whole) {
#pragma unroll
      for (int i = 0; i < words_rows; ++i) w[i] = byte_permute(w[i], next[i], selector[i % phases]);
    }
  }
};

// Leaves eight rows' words in the tile rows of their columns.
template <int Bytes>
__device__ void store_words(unsigned char* const (&to)[sizeof(word_type<Bytes>) / Bytes],
                            const word_type<Bytes> (&w)[8], int offset) {
  constexpr int per_word = sizeof(word_type<Bytes>) / Bytes;
#pragma unroll
  for (int k = 0; k < per_word; ++k) {
#pragma unroll
    for (int q = 0; q < words_rows / per_word; ++q) {
      reinterpret_cast<word_type<Bytes>*>(to[k] + offset)[q] = word_column<Bytes>::word(w, q, k);
    }
  }
}

// The eight words at the matrix's edges, element by element; what lies outside is 0.
template <int Bytes>
__device__ void load_edge(word_type<Bytes> (&w)[8], const unsigned char* from, std::int64_t ld, std::int64_t rows,
                          std::int64_t bytes) {
  using unit = typename unit_of_bytes<Bytes>::type;
  using word = word_type<Bytes>;
  constexpr int units = sizeof(word) / Bytes, together = units == 1 ? 8 : 4;
#pragma unroll 1
  for (int i = 0; i < words_rows; i += together) {
    unit held[together][units];
#pragma unroll
    for (int j = 0; j < together; ++j) {
#pragma unroll
      for (int u = 0; u < units; ++u) {
        held[j][u] = 0;
        if (i + j < rows && u * Bytes < bytes) {
          held[j][u] = *reinterpret_cast<const unit*>(from + (i + j) * ld + u * Bytes);
        }
      }
    }
#pragma unroll
    for (int j = 0; j < together; ++j) {
      word all = held[j][0];
#pragma unroll
      for (int u = 1; u < units; ++u) all |= static_cast<word>(held[j][u]) << (u * 8 * Bytes % 64);
      if (i == 0) w[j] = all;
      if (i != 0) w[(together + j) % words_rows] = all;
    }
  }
}

// Brings the tile at (row0, col0) of the matrix, transposed, to shared memory. `out` is where it goes to.
template <int Bytes, int Length, int Shear, int Threads, bool Whole>
__device__ void load_tile(unsigned char* tile, const unsigned char* in, const unsigned char* out,
                          const word_matrices& m, std::int64_t row0, std::int64_t col0) {
  using shape = word_tile<Bytes, Length, Shear>;
  using word = word_type<Bytes>;
  constexpr int size = shape::word_bytes;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned char* to[shape::per_word];
#pragma unroll
  for (int k = 0; k < shape::per_word; ++k) {
    const auto address = reinterpret_cast<std::uintptr_t>(out + (lane * shape::per_word + k) * m.out_ld);
    to[k] = tile + shape::row(k, lane) + 16 - (static_cast<int>(-address & 15) & -size);
  }
  const std::int64_t offset = col0 * Bytes + lane * size, bytes = m.cols * Bytes;
  // Words that are cut from two begin up to 3 bytes early and end up to 4 late: in the row, or in packed neighbours.
  const bool packed = m.in_ld == bytes && bytes >= 8;
  const bool before = Whole || offset >= 4 || (packed && row0 > 0);
  const bool behind = offset + size + (Whole ? 0 : 4) <= bytes || (packed && row0 + shape::height + 128 < m.rows);
  constexpr int groups = shape::height / words_rows, warps = Threads / 32;
  const unsigned char* from = in + (row0 + warp * words_rows) * m.in_ld + offset;
  word w[8];
  if (before && behind && row0 + shape::height <= m.rows) {
    word_reader<Bytes, Whole> reader(from, m.in_ld);
#pragma unroll
    for (int group = 0; group < groups / warps; ++group) {
      reader.load(w, m.in_ld, warps * words_rows * m.in_ld);
      store_words<Bytes>(to, w, (group * warps + warp) * words_rows * Bytes);
    }
  } else {
#pragma unroll 1
    for (int group = warp; group < groups; group += warps) {
      load_edge<Bytes>(w, from, m.in_ld, m.rows - row0 - group * words_rows, bytes - offset);
      store_words<Bytes>(to, w, group * words_rows * Bytes);
      from += warps * words_rows * m.in_ld;
    }
  }
}

// What chunks do not hold of the first and the last tile: less than 16 bytes at the ends of output rows.
template <int Bytes, int Length, int Shear, int Threads>
__device__ void store_ends(unsigned char* out, const unsigned char* tile, const word_matrices& m, int width, int valid,
                           bool top) {
  using shape = word_tile<Bytes, Length, Shear>;
  using unit = typename unit_of_bytes<Bytes>::type;
  constexpr int units = Shear / Bytes;
  for (int i = threadIdx.x; i < width * units; i += Threads) {
    const int column = i / units, at = i % units * Bytes;
    unsigned char* to = out + column * m.out_ld;
    const int first = static_cast<int>(-reinterpret_cast<std::uintptr_t>(to) & (Shear - 1));
    const unsigned char* from = tile + shape::row_of(column) + 16 - (first & 15 & -shape::word_bytes);
    if (top && at < first && at < valid) *reinterpret_cast<unit*>(to + at) = *reinterpret_cast<const unit*>(from + at);
    const int tail = first + (valid - first) / 16 * 16 + at;
    if (at < 16 && valid >= first && tail < valid && tail < first + shape::length - Shear) {
      *reinterpret_cast<unit*>(to + tail) = *reinterpret_cast<const unit*>(from + tail);
    }
  }
}

template <int Bytes, int Length, int Shear, int Threads, int Blocks, bool Whole>
__global__ void __launch_bounds__(Threads, Blocks)
    transpose_words(unsigned char* out, const unsigned char* in, word_matrices m) {
  using shape = word_tile<Bytes, Length, Shear>;
  auto* tile = dynamic_shared<unsigned char>();
  unsigned place = blockIdx.y * gridDim.x + blockIdx.x;
  if (place >= m.tiles) return;  // the whole block: the grid is a rectangle
  const std::int64_t row0 = static_cast<std::int64_t>(place % m.tiles_r) * shape::written;
  place /= m.tiles_r;
  const std::int64_t col0 = static_cast<std::int64_t>(place % m.tiles_c) * shape::width;
  const std::int64_t matrix = place / m.tiles_c;
  out += matrix * m.out_stride + col0 * m.out_ld + row0 * Bytes;
  load_tile<Bytes, Length, Shear, Threads, Whole>(tile, in + matrix * m.in_stride, out, m, row0, col0);
  __syncthreads();

  const std::int64_t rows_left = m.rows - row0, cols_left = m.cols - col0;
  const int width = cols_left < shape::width ? static_cast<int>(cols_left) : shape::width;
  const int valid = rows_left < shape::height ? static_cast<int>(rows_left) * Bytes : shape::length;
  // Each thread takes every `step`th output row: all of them are aligned alike.
  constexpr int lanes = shape::length / 16, step = Threads / lanes, steps = 32 * shape::per_word / step;
  const int lane = threadIdx.x % lanes, column = threadIdx.x / lanes;
  unsigned char* to = out + column * m.out_ld;
  const int first = static_cast<int>(-reinterpret_cast<std::uintptr_t>(to) & (Shear - 1));
  if (lane < lanes - Shear / 16 && first + lane * 16 + 16 <= valid) {
    to += first + lane * 16;
    const unsigned char* from = tile + shape::row_of(column) + 16 + (first & -16) + lane * 16;
    const std::uint32_t selector = 0x3210 + 0x1111 * (first & (shape::word_bytes - 1));
#pragma unroll
    for (int i = 0; i < steps; ++i) {
      const auto* chunk =
          reinterpret_cast<const word16*>(from + i * (step / shape::per_word / shape::spread) * shape::pitch);
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
  if (row0 == 0 || rows_left <= shape::height)
    store_ends<Bytes, Length, Shear, Threads>(out, tile, m, width, valid, row0 == 0);
}

}  // namespace twill::TWILL_BACKEND::kernels
