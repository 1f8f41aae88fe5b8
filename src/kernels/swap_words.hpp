#pragma once

// Square matrices whose rows begin anywhere, transposed where they are: as swap_tiles, but in pieces that rows of any
// alignment allow. Elements of 1 and 2 bytes move as words, cut and put together as in transpose_words; larger ones
// move one by one, all of a thread's loads on their way together.

#include <cstdint>

#include "device.hpp"
#include "kernels/swap_tiles.hpp"
#include "kernels/transpose_words.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int swap_words_threads = 256;

/// 32 words wide, and as many rows as columns.
template <int Bytes>
using swap_word_tile = word_tile<Bytes, 128, 16>;

// Writes `width` rows of `bytes` bytes from a transposed tile to `out`: aligned chunks of 16 bytes, and what lies
// before the first and behind the last element by element.
template <int Bytes>
__device__ void store_turned(unsigned char* out, const unsigned char* tile, std::int64_t ld, int width, int bytes) {
  using shape = swap_word_tile<Bytes>;
  using unit = typename unit_of_bytes<Bytes>::type;
  constexpr int lanes = shape::length / 16, step = swap_words_threads / lanes, units = 16 / Bytes;
  const int lane = threadIdx.x % lanes;
#pragma unroll
  for (int i = 0; i < shape::width / step; ++i) {
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
  for (int i = threadIdx.x; i < width * units; i += swap_words_threads) {
    const int column = i / units, at = i % units * Bytes;
    unsigned char* to = out + column * ld;
    const int address_first = static_cast<int>(-reinterpret_cast<std::uintptr_t>(to) & 15);
    const int first = address_first < bytes ? address_first : bytes, tail = first + (bytes - first) / 16 * 16 + at;
    const unsigned char* from = tile + shape::row_of(column) + 16 - (address_first & -4);
    if (at < first) *reinterpret_cast<unit*>(to + at) = *reinterpret_cast<const unit*>(from + at);
    if (tail < bytes) *reinterpret_cast<unit*>(to + tail) = *reinterpret_cast<const unit*>(from + tail);
  }
}

template <int Bytes, bool Whole>
__global__ void __launch_bounds__(swap_words_threads) swap_words(unsigned char* data, square_matrices m) {
  using shape = swap_word_tile<Bytes>;
  constexpr int edge = shape::width;
  static_assert(shape::height == edge, "tiles are square");
  const tile_pair pair = pair_of(m);
  if (pair.matrix >= m.batch) return;  // the whole block: the grid is a rectangle
  auto* tile = dynamic_shared<unsigned char>();
  auto* other = tile + shape::bytes + 16;
  data += pair.matrix * m.stride;
  word_matrices whole{};
  whole.rows = whole.cols = m.extent;
  whole.in_ld = whole.out_ld = m.ld;
  const std::int64_t row0 = pair.i * edge, col0 = pair.j * edge;
  unsigned char* below = data + col0 * m.ld + row0 * Bytes;
  unsigned char* above = data + row0 * m.ld + col0 * Bytes;
  load_tile<Bytes, 128, 16, swap_words_threads, Whole>(tile, data, below, whole, row0, col0);
  if (row0 != col0) load_tile<Bytes, 128, 16, swap_words_threads, Whole>(other, data, above, whole, col0, row0);
  __syncthreads();
  const int height = static_cast<int>(m.extent - row0 < edge ? m.extent - row0 : edge);
  const int width = static_cast<int>(m.extent - col0 < edge ? m.extent - col0 : edge);
  store_turned<Bytes>(below, tile, m.ld, width, height * Bytes);
  if (row0 != col0) store_turned<Bytes>(above, other, m.ld, height, width * Bytes);
}

/// The tile of swap_units: 256 bytes wide, or 512.
template <class Unit>
inline constexpr int swap_units_edge = sizeof(Unit) == 4 ? 64 : 32;

template <class Unit>
__global__ void __launch_bounds__(256) swap_units(unsigned char* data, square_matrices m) {
  constexpr int edge = swap_units_edge<Unit>, pitch = edge + 1, across = edge / 32, each = edge * edge / 256;
  const tile_pair pair = pair_of(m);
  if (pair.matrix >= m.batch) return;  // the whole block: the grid is a rectangle
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
        held[t][i] = reinterpret_cast<const Unit*>(from + y * m.ld)[x];
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
