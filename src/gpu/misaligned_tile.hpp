#pragma once

// How misaligned kernels load a tile to shared memory, a word a lane or, for 2 and 4 byte elements, a pair of words:
// see transpose_misaligned. A warp that loads pairs reads 256 bytes of each row; where rows begin inside of a pair, one
// is cut from two: a lane's own and its neighbour's.

#include <cstdint>

#include "device.hpp"
#include "gpu/realign.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int tile_overlap = 32;

// The warp's place in its block, as a value that compilers see to be the same in all lanes: branches on it need no code
// for divergent lanes. For loads of single words it costs registers: 1-byte tiles would spill.
__device__ inline int warp_index() {
  return shuffle(static_cast<int>(threadIdx.x) / 32, 0);
}

// A tile, and the block that moves it. A warp takes 32 words, or pairs of words, side by side of each of `rows_at_once`
// rows; where these are cut from two (not Aligned) the last lane loads for its neighbour alone. Each (16 / Bytes)th
// output row has the same alignment; so that neighbouring lanes, whose tile rows are sheared by different numbers of
// words, write to other banks, the rows of each `spread` lanes have a stride of Lanes / spread rows. Lanes: of an input
// row; where they are 16, a warp takes twice as many rows at once.
template <int Bytes, bool Aligned, int Length, int Threads, int Rows, int Blocks, int Words = 1, int Lanes = 32>
struct word_tile {
  static constexpr int word_bytes = Bytes < 4 ? 4 : Bytes, per_word = word_bytes / Bytes;
  static constexpr int threads = Threads, lanes = Lanes;
  static constexpr int lane_bytes = Words * word_bytes, per_lane = lane_bytes / Bytes;
  static constexpr int length = Length, rows_at_once = Rows;                              // bytes of an output row
  static constexpr int height = length / Bytes, written = height - tile_overlap / Bytes;  // elements
  static constexpr int width = (Aligned ? Lanes : Lanes - 1) * per_lane;
  static constexpr int pitch = length + 16, bytes = Lanes * per_lane * pitch + 16;
  static constexpr int spread = 16 / word_bytes, least_blocks = blocks_at_once(Threads, Blocks);
  static_assert(height % (threads / Lanes * rows_at_once) == 0 && length % tile_overlap == 0);

  // The tile's row for column `element` of lane `lane`, in bytes.
  static __device__ int row(int element, int lane) {
    return (element * Lanes + lane / spread + lane % spread * (Lanes / spread)) * pitch;
  }
  static __device__ int row_of(int column) { return row(column % per_lane, column / per_lane); }
};

// Where a row of the output begins: rows are at a pitch, or in a table of places.
template <class Byte>
__device__ Byte* output_row(Byte* out, std::int64_t ld, int column) {
  return out + column * ld;
}
template <class Byte>
__device__ Byte* output_row(Byte* out, const std::int64_t* col_at, int column) {
  return out + col_at[column];
}

// Where a lane leaves element `k` of its words: in the row of its column, sheared by words so that multiples of 16
// bytes of the output lie at multiples of 16.
template <class Shape, class Rows>
__device__ unsigned char* sheared_row(unsigned char* tile, int k, int lane, const unsigned char* out, Rows rows) {
  const unsigned char* row = output_row(out, rows, lane * Shape::per_lane + k);
  return tile + Shape::row(k, lane) + 16 - (until_aligned(row) & -Shape::word_bytes);
}

// The 16 bytes that begin `first` % 4 bytes into the chunk at `from`; elements of 4 bytes and more need no shift.
template <int Bytes>
__device__ word16 shifted_chunk(const unsigned char* from, int first) {
  const auto* chunk = reinterpret_cast<const word16*>(from);
  if (Bytes >= 4) return *chunk;
  return realigned(*chunk, *reinterpret_cast<const std::uint32_t*>(chunk + 1), static_cast<std::uint32_t>(first));
}

template <int Bytes>
using word_type = typename unit_of_bytes < Bytes<4 ? 4 : Bytes>::type;

// Word q of the column `element` of the rows whose words are w.
template <int Bytes>
__device__ word_type<Bytes> word_of_column(const word_type<Bytes>* w, int q, int element) {
  if constexpr (Bytes == 1) {
    const std::uint32_t pair = element < 2 ? 0x5140 : 0x7362;
    return byte_permute(byte_permute(w[4 * q], w[4 * q + 1], pair), byte_permute(w[4 * q + 2], w[4 * q + 3], pair),
                        element % 2 == 0 ? 0x5410 : 0x7632);
  } else if constexpr (Bytes == 2) {
    return byte_permute(w[2 * q], w[2 * q + 1], element == 0 ? 0x5410 : 0x7632);
  } else {
    return w[q];
  }
}

// Leaves the words of some rows in the tile rows of their columns.
template <int Bytes, int Rows>
__device__ void store_words(unsigned char* const (&to)[sizeof(word_type<Bytes>) / Bytes],
                            const word_type<Bytes> (&w)[Rows], int offset) {
  constexpr int per_word = sizeof(word_type<Bytes>) / Bytes;
#pragma unroll
  for (int k = 0; k < per_word; ++k) {
#pragma unroll
    for (int q = 0; q < Rows / per_word; ++q) {
      reinterpret_cast<word_type<Bytes>*>(to[k] + offset)[q] = word_of_column<Bytes>(w, q, k);
    }
  }
}

// Loads a word of each of the first `count` rows. Rows from `count` on repeat an earlier row, so that no branch
// serialises the loads; their words must not reach the output. All: count >= Rows, known at compile time, which takes
// fewer registers.
template <int Bytes, bool Aligned, bool All, int Rows>
__device__ void load_words(word_type<Bytes> (&w)[Rows], const unsigned char* from, std::int64_t ld, int count) {
  constexpr int phases = Aligned ? 1 : 4 / Bytes;  // rows after which the misalignment repeats
  std::uint32_t skip[phases];
#pragma unroll
  for (int p = 0; p < phases; ++p) {  // all loads before the first use
    skip[p] = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(from + p * ld) & 3);
    const unsigned char* row = from + (All || p < count ? p : 0) * ld;
    if (!Aligned) row = rounded_down<4>(row);
#pragma unroll
    for (int i = p; i < Rows; i += phases) {
      w[i] = load_prefetch_l2<128>(reinterpret_cast<const word_type<Bytes>*>(row));
      if (All || i + phases < count) row += phases * ld;
    }
  }
  if constexpr (!Aligned) {
#pragma unroll
    for (int i = 0; i < Rows; ++i) w[i] = funnel_shift(w[i], shuffle_down(w[i], 1), skip[i % phases]);
  }
}

// Words of four rows at the matrix's edges, element by element; what lies outside is 0.
template <int Bytes>
__device__ void load_edge(word_type<Bytes> (&w)[4], const unsigned char* from, std::int64_t ld, std::int64_t rows,
                          std::int64_t bytes) {
  using unit = typename unit_of_bytes<Bytes>::type;
  constexpr int units = sizeof(w[0]) / Bytes;
  unit held[4][units];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int u = 0; u < units; ++u) {
      held[i][u] = 0;
      if (i < rows && u * Bytes < bytes) held[i][u] = *reinterpret_cast<const unit*>(from + i * ld + u * Bytes);
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    w[i] = held[i][0];
#pragma unroll
    for (int u = 1; u < units; ++u) w[i] |= static_cast<word_type<Bytes>>(held[i][u]) << (u * 8 * Bytes % 64);
  }
}

// The rows of a tile that lie in the matrix, 0 to `last`, and of those the ones of which full words can be read.
struct tile_rows {
  int last, first_full, last_full;

  // Of the `rows` rows from `begin` on, how many leading ones can be read in words.
  __device__ int in_words(int begin, int rows) const {
    const int left = last_full + 1 - begin;
    return begin < first_full || left <= 0 ? 0 : left < rows ? left : rows;
  }
};

// Each lane loads a word, or a pair of words, of a tile row. The first may begin before the row, the last may end after
// it: in the adjacent packed row, unless that is too short, or, for the matrix's first and last row, out of bounds.
template <int Bytes, bool Aligned, class Shape, class Matrices>
__device__ tile_rows rows_of_tile(const unsigned char* in, const Matrices& m, std::int64_t row0, std::int64_t offset) {
  const std::int64_t bytes = m.cols * Bytes, left = m.rows - row0;
  const std::int64_t end = offset + 32 * Shape::lane_bytes;
  const bool before = !Aligned && offset<Shape::lane_bytes, behind = end> bytes;
  const int last = left < Shape::height ? static_cast<int>(left) - 1 : Shape::height - 1;
  if (!before && !behind) return {last, 0, last};
  if (m.in_ld != bytes || end > 2 * bytes) return {last, 0, -1};
  const bool bare = before && row0 == 0 && (reinterpret_cast<std::uintptr_t>(in) & (Shape::lane_bytes - 1)) != 0;
  return {last, bare ? 1 : 0, behind && left <= Shape::height ? last - 1 : last};
}

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
      const std::uint32_t high = shuffle_down(low, 1);
      first[i] = funnel_shift(low, middle, skip);
      second[i] = funnel_shift(middle, high, skip);
    }
  }

  // `at(i)` is where row i begins. Issues all loads before the first use.
  template <int Bytes, bool Aligned, class Address>
  __device__ void load(Address at) {
#pragma unroll
    for (int i = 0; i < Rows; ++i) {
      const unsigned char* from = Aligned ? at(i) : rounded_down<8>(at(i));
      const std::uint64_t pair = load_prefetch_l2<128>(reinterpret_cast<const std::uint64_t*>(from));
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

// Loads the tile at (row0, col0) of the matrix, transposed, to shared memory. `out` is where it goes to.
template <int Bytes, bool Aligned, class Shape, class Matrices>
__device__ void load_tile(unsigned char* tile, const unsigned char* in, const unsigned char* out, const Matrices& m,
                          std::int64_t row0, std::int64_t col0) {
  constexpr int size = Shape::word_bytes, rows = Shape::rows_at_once, each = Shape::lane_bytes / size;
  constexpr bool pairs = each == 2;
  static_assert(rows * Shape::threads / 32 == Shape::height);
  const int lane = threadIdx.x % 32, begin = (pairs ? warp_index() : static_cast<int>(threadIdx.x) / 32) * rows;
  unsigned char* to[each][Shape::per_word];  // for each word of a lane
#pragma unroll
  for (int k = 0; k < Shape::per_word; ++k) {
    to[0][k] = sheared_row<Shape>(tile, k, lane, out, m.out_ld);
    if constexpr (pairs) to[1][k] = sheared_row<Shape>(tile, Shape::per_word + k, lane, out, m.out_ld);
  }
  const std::int64_t offset = col0 * Bytes, left = m.cols * Bytes - offset - lane * Shape::lane_bytes;
  const tile_rows r = rows_of_tile<Bytes, Aligned, Shape>(in, m, row0, offset);
  const unsigned char* from = in + row0 * m.in_ld + offset + lane * Shape::lane_bytes;
  const int words = r.in_words(begin, rows);
  if constexpr (pairs) {
    const unsigned char* const warp_from = from + begin * m.in_ld;
    const auto move = [&](auto at) {
      word_pairs<rows> w;
      w.template load<Bytes, Aligned>(at);
      store_words<Bytes>(to[0], w.first, begin * Bytes);
      store_words<Bytes>(to[1], w.second, begin * Bytes);
    };
    if (words == rows) return move([&](int i) { return warp_from + i * m.in_ld; });
    if (words > 0) move([&](int i) { return warp_from + (i < words ? i : words - 1) * m.in_ld; });
  } else {
    if (words == rows) {
      word_type<Bytes> w[rows];
      load_words<Bytes, Aligned, true>(w, from + begin * m.in_ld, m.in_ld, rows);
      store_words<Bytes>(to[0], w, begin * Bytes);
      return;
    }
    // Rows that a warp loads at once if not all of its rows can be read in words: more would spill, or take more
    // registers.
    constexpr int most = Aligned ? 64 / size : 8;
    constexpr int at_once = Bytes == 1 ? 4 : rows <= most ? rows : rows % 8 == 0 ? 8 : rows / 2;
    static_assert(rows % at_once == 0 && at_once % Shape::per_word == 0);
#pragma unroll 1
    for (int done = 0; done < rows && done < words; done += at_once) {  // words <= rows: bounds the trip count
      word_type<Bytes> w[at_once];
      load_words<Bytes, Aligned, false>(w, from + (begin + done) * m.in_ld, m.in_ld, words - done);
      store_words<Bytes>(to[0], w, (begin + done) * Bytes);
    }
  }
  if (begin + words > r.last) return;  // all rows of the warp that lie in the matrix
  // In fours: up to three rows are loaded again, with the same values.
#pragma unroll 1
  for (int row = begin + words / 4 * 4; row < begin + rows && row <= r.last; row += 4) {
    word_type<Bytes> e[4];
    load_edge<Bytes>(e, from + row * m.in_ld, m.in_ld, r.last + 1 - row, left);
    store_words<Bytes>(to[0], e, row * Bytes);
    if constexpr (pairs) {
      load_edge<Bytes>(e, from + row * m.in_ld + size, m.in_ld, r.last + 1 - row, left - size);
      store_words<Bytes>(to[1], e, row * Bytes);
    }
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
