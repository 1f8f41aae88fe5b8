#pragma once

// Square matrices with misaligned rows, transposed in place: as in_place_square, but in pieces that rows of any
// alignment allow. Elements of 1 and 2 bytes move as words, cut from two where needed; larger ones
// move one by one, all of a thread's loads in flight together.

#include <cstdint>

#include "device.hpp"
#include "gpu/realign.hpp"
#include "in_place_square.hpp"
#include "uninitialised_reads.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int square_misaligned_threads = 256, square_misaligned_rows = 8;

/// 32 words wide, and as many rows as columns; transposed in shared memory. Each of its rows there is moved by some
/// words so that multiples of 16 bytes of the matrix lie at multiples of 16; so that lanes side by side still write to
/// different banks, the rows of each four lanes have a stride of eight rows.
template <int Bytes>
struct square_misaligned_tile {
  static constexpr int per_word = 4 / Bytes, edge = 32 * per_word, length = 128;  // elements, bytes
  static constexpr int pitch = length + 16, bytes = edge * pitch;

  // The row for column `element` of word `lane`, in bytes.
  static __device__ int row(int element, int lane) { return (element * 32 + lane / 4 + lane % 4 * 8) * pitch; }
  static __device__ int row_of(int column) { return row(column % per_word, column / per_word); }
};

// A word of each of eight rows, cut from two where rows begin inside of words: every fourth row alike. All loads are in
// flight together.
template <bool Aligned, bool Around>
__device__ void read_words(std::uint32_t (&w)[square_misaligned_rows], const unsigned char* from, std::int64_t ld) {
  constexpr int phases = Aligned ? 1 : 4;
  std::uint32_t next[square_misaligned_rows], selector[phases];
#pragma unroll
  for (int p = 0; p < phases; ++p) {
    const auto skip = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(from + p * ld) & 3);
    const unsigned char* row = from + p * ld - skip;
    selector[p] = 0x3210 + 0x1111 * skip;
#pragma unroll
    for (int i = p; i < square_misaligned_rows; i += phases) {
      const auto* word = reinterpret_cast<const std::uint32_t*>(row);
      w[i] = Around ? load_prefetch_l2<128>(word) : word[0];
      if (!Aligned) next[i] = Around ? load_prefetch_l2<128>(word + 1) : word[1];
      row += phases * ld;
    }
  }
  if constexpr (!Aligned) {
#pragma unroll
    for (int i = 0; i < square_misaligned_rows; ++i) w[i] = byte_permute(w[i], next[i], selector[i % phases]);
  }
}

// The same at the matrix's edges, element by element; what lies outside is 0.
template <int Bytes>
__device__ void read_elements(std::uint32_t (&w)[square_misaligned_rows], const unsigned char* from, std::int64_t ld,
                              std::int64_t rows, std::int64_t bytes) {
  using unit = typename unit_of_bytes<Bytes>::type;
#pragma unroll
  for (int i = 0; i < square_misaligned_rows; ++i) {
    w[i] = 0;
#pragma unroll
    for (int u = 0; u < 4 / Bytes; ++u) {
      if (i >= rows || u * Bytes >= bytes) continue;
      w[i] |= static_cast<std::uint32_t>(*reinterpret_cast<const unit*>(from + i * ld + u * Bytes)) << (u * 8 * Bytes);
    }
  }
}

// The words of the column `element` that eight rows' words hold, to `to`.
template <int Bytes>
__device__ void write_column(std::uint32_t* to, const std::uint32_t (&w)[square_misaligned_rows], int element) {
#pragma unroll
  for (int q = 0; q < square_misaligned_rows * Bytes / 4; ++q) {
    if constexpr (Bytes == 2) {
      to[q] = byte_permute(w[2 * q], w[2 * q + 1], element == 0 ? 0x5410 : 0x7632);
    } else {
      const std::uint32_t pair = element < 2 ? 0x5140 : 0x7362;
      to[q] = byte_permute(byte_permute(w[4 * q], w[4 * q + 1], pair), byte_permute(w[4 * q + 2], w[4 * q + 3], pair),
                           element % 2 == 0 ? 0x5410 : 0x7632);
    }
  }
}

// Loads the tile at (row0, col0) to shared memory, transposed. `out` is where it goes to.
template <int Bytes, bool Aligned>
__device__ void load_transposed(unsigned char* tile, const unsigned char* matrix, const unsigned char* out,
                                const square_matrices& m, std::int64_t row0, std::int64_t col0) {
  using shape = square_misaligned_tile<Bytes>;
  const int lane = threadIdx.x % 32;
  unsigned char* to[shape::per_word];
#pragma unroll
  for (int k = 0; k < shape::per_word; ++k) {
    const auto address = reinterpret_cast<std::uintptr_t>(out + (lane * shape::per_word + k) * m.ld);
    to[k] = tile + shape::row(k, lane) + 16 - (static_cast<int>(-address & 15) & -4);
  }
  // Words that are cut from two begin up to 3 bytes early and end up to 4 late: that stays in the row.
  const std::int64_t offset = col0 * Bytes + lane * 4, bytes = m.extent * Bytes;
  const bool inside = Aligned ? offset + 4 <= bytes : offset >= 4 && offset + 8 <= bytes;
#pragma unroll 2
  for (int y = static_cast<int>(threadIdx.x) / 32 * square_misaligned_rows; y < shape::edge;
       y += square_misaligned_threads / 32 * 8) {
    const unsigned char* from = matrix + (row0 + y) * m.ld + offset;
    std::uint32_t w[square_misaligned_rows];
    if (inside && row0 + y + square_misaligned_rows <= m.extent) {
      read_words<Aligned, Bytes == 2>(w, from, m.ld);  // for 1 byte it costs registers, and time
    } else {
      read_elements<Bytes>(w, from, m.ld, m.extent - row0 - y, bytes - offset);
    }
#pragma unroll
    for (int k = 0; k < shape::per_word; ++k)
      write_column<Bytes>(reinterpret_cast<std::uint32_t*>(to[k] + y * Bytes), w, k);
  }
}

// Writes `width` rows of `bytes` bytes from a transposed tile to `out`: aligned chunks of 16 bytes, and what lies
// before the first and behind the last element by element.
template <int Bytes>
__device__ void store_transposed(unsigned char* out, const unsigned char* tile, std::int64_t ld, int width, int bytes) {
  using shape = square_misaligned_tile<Bytes>;
  using unit = typename unit_of_bytes<Bytes>::type;
  constexpr int lanes = shape::length / 16, step = square_misaligned_threads / lanes, units = 16 / Bytes;
  const int lane = threadIdx.x % lanes;
#pragma unroll
  for (int i = 0; i < shape::edge / step; ++i) {
    const int column = static_cast<int>(threadIdx.x) / lanes + i * step;
    unsigned char* to = out + column * ld;
    const int first = static_cast<int>(-reinterpret_cast<std::uintptr_t>(to) & 15);
    if (column >= width || first + lane * 16 + 16 > bytes) continue;
    const auto* chunk = reinterpret_cast<const word16*>(tile + shape::row_of(column) + 16 + lane * 16);
    const std::uint32_t selector = 0x3210 + 0x1111 * (first & 3);
    const word16 v = chunk[0];
    const auto next = *reinterpret_cast<const std::uint32_t*>(chunk + 1);
    *reinterpret_cast<word16*>(to + first + lane * 16) =
        make_word16(byte_permute(word<0>(v), word<1>(v), selector), byte_permute(word<1>(v), word<2>(v), selector),
                    byte_permute(word<2>(v), word<3>(v), selector), byte_permute(word<3>(v), next, selector));
  }
  for (int i = threadIdx.x; i < width * units; i += square_misaligned_threads) {
    const int column = i / units, at = i % units * Bytes;
    unsigned char* to = out + column * ld;
    const int address_first = static_cast<int>(-reinterpret_cast<std::uintptr_t>(to) & 15);
    const int first = address_first < bytes ? address_first : bytes, tail = first + (bytes - first) / 16 * 16 + at;
    const unsigned char* from = tile + shape::row_of(column) + 16 - (address_first & -4);
    if (at < first) *reinterpret_cast<unit*>(to + at) = *reinterpret_cast<const unit*>(from + at);
    if (tail < bytes) *reinterpret_cast<unit*>(to + tail) = *reinterpret_cast<const unit*>(from + tail);
  }
}

template <int Bytes, bool Aligned>
__global__ void __launch_bounds__(square_misaligned_threads)
    in_place_square_misaligned(unsigned char* data, square_matrices m) {
  using shape = square_misaligned_tile<Bytes>;
  constexpr int edge = shape::edge;
  const tile_pair pair = pair_of(m);
  if (pair.matrix >= m.batch) return;  // uniform exit: padding block of the 2-D grid
  auto* tile = dynamic_shared<unsigned char>();
  auto* other = tile + shape::bytes + 16;
  data += pair.matrix * m.stride;
  const std::int64_t row0 = pair.i * edge, col0 = pair.j * edge;
  unsigned char* below = data + col0 * m.ld + row0 * Bytes;
  unsigned char* above = data + row0 * m.ld + col0 * Bytes;
  load_transposed<Bytes, Aligned>(tile, data, below, m, row0, col0);
  if (row0 != col0) load_transposed<Bytes, Aligned>(other, data, above, m, col0, row0);
  allow_uninitialised_reads();
  __syncthreads();
  const int height = static_cast<int>(m.extent - row0 < edge ? m.extent - row0 : edge);
  const int width = static_cast<int>(m.extent - col0 < edge ? m.extent - col0 : edge);
  store_transposed<Bytes>(below, tile, m.ld, width, height * Bytes);
  if (row0 != col0) store_transposed<Bytes>(above, other, m.ld, height, width * Bytes);
}

/// The tile of in_place_square_words: 256 bytes wide, or 512.
template <class Unit>
inline constexpr int square_words_edge = sizeof(Unit) == 4 ? 64 : 32;

template <class Unit, bool Around>
__global__ void __launch_bounds__(256) in_place_square_words(unsigned char* data, square_matrices m) {
  constexpr int edge = square_words_edge<Unit>, pitch = edge + 1, across = edge / 32, each = edge * edge / 256;
  const tile_pair pair = pair_of(m);
  if (pair.matrix >= m.batch) return;  // uniform exit: padding block of the 2-D grid
  data += pair.matrix * m.stride;
  Unit* tiles = dynamic_shared<Unit>();
  const std::int64_t row0[2] = {pair.i * edge, pair.j * edge}, col0[2] = {row0[1], row0[0]};
  const int lane = threadIdx.x % 32, first = static_cast<int>(threadIdx.x) / 32, tile_count = pair.i == pair.j ? 1 : 2;
  Unit held[2][each];
#pragma unroll
  for (int t = 0; t < 2; ++t) {
    const unsigned char* from = data + row0[t] * m.ld + col0[t] * static_cast<int>(sizeof(Unit));
#pragma unroll
    for (int i = 0; i < each; ++i) {
      const int y = first + i / across * 8, x = lane + i % across * 32;
      if (t < tile_count && row0[t] + y < m.extent && col0[t] + x < m.extent)
        held[t][i] = Around ? load_prefetch_l2<256>(reinterpret_cast<const Unit*>(from + y * m.ld) + x)
                            : reinterpret_cast<const Unit*>(from + y * m.ld)[x];
    }
  }
#pragma unroll
  for (int t = 0; t < 2; ++t) {
#pragma unroll
    for (int i = 0; i < each; ++i) {
      const int y = first + i / across * 8, x = lane + i % across * 32;
      tiles[(t * edge + y) * pitch + x] = held[t][i];
    }
  }
  __syncthreads();
#pragma unroll
  for (int t = 0; t < 2; ++t) {
    unsigned char* to = data + col0[t] * m.ld + row0[t] * static_cast<int>(sizeof(Unit));
#pragma unroll
    for (int i = 0; i < each; ++i) {
      const int y = first + i / across * 8, x = lane + i % across * 32;
      if (t < tile_count && col0[t] + y < m.extent && row0[t] + x < m.extent)
        reinterpret_cast<Unit*>(to + y * m.ld)[x] = tiles[(t * edge + x) * pitch + y];
    }
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
