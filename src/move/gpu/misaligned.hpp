#pragma once

// Transpose of 1, 2, 4 and 8 byte elements with misaligned rows: the kernels misaligned-2d of matrices, and misaligned
// of rows and columns of several dimensions. A warp loads consecutive words (4 bytes; 8 for 8-byte elements; or pairs
// of words) of each of several rows; where a row is not aligned to words, a lane extracts its word from two aligned
// ones, its own and the next lane's. The tile is stored transposed in shared memory, each row offset by some words so
// that 16-byte boundaries of the output are 16-byte boundaries there: stores to global memory are aligned vectors,
// funnel-shifted by less than a word. Tile boundaries are rounded up, per output row, to a multiple of 32 bytes: each
// sector is written in full, by one block.

#include <cstdint>

#include "device.hpp"
#include "gpu/dependent_launch.hpp"
#include "gpu/misaligned_tile.hpp"
#include "matrix_tiles.hpp"
#include "uninitialised_reads.hpp"

namespace twill::TWILL_BACKEND::kernels {

// Epilogue: the head and tail of output rows that aligned vectors do not cover, in the first and the last tile, less
// than 16 bytes each, a word at a time: of each 8 indices the first half stores the head, the second half the tail.
template <int Bytes, class Shape, class Rows>
__device__ void store_row_ends(unsigned char* out, const unsigned char* tile, Rows rows, int width, int valid, bool top,
                               bool last) {
#pragma unroll 1
  for (int i = threadIdx.x; i < width * 8; i += Shape::threads) {
    const int column = i / 8, at = i % 4 * 4;
    unsigned char* to = output_row(out, rows, column);
    const int shift = until_aligned(to, tile_overlap), first = shift & 15;
    const bool head = i % 8 < 4;
    const int place = head ? at : 16 + ((valid - first) & -16) + at, begin = first - 16 + place;
    const int end = head && first < valid ? first : valid;
    const bool mine =
        head ? top && begin + 4 > 0
             : valid >= first && (top || begin >= shift) && (last || begin < shift + Shape::length - tile_overlap);
    if (!mine || begin >= end) continue;
    const auto* from = reinterpret_cast<const std::uint32_t*>(tile + Shape::row_of(column) + place);
    const std::uint32_t word = Bytes < 4 ? funnel_shift(from[0], from[1], static_cast<std::uint32_t>(first)) : from[0];
    to += begin;
    if (Bytes >= 4 || (begin >= 0 && begin + 4 <= end)) {
      *reinterpret_cast<std::uint32_t*>(to) = word;
    } else if constexpr (Bytes < 4) {
      using unit = typename unit_of_bytes<Bytes>::type;
#pragma unroll
      for (int k = 0; k < 4; k += Bytes) {
        if (begin + k >= 0 && begin + k < end) *reinterpret_cast<unit*>(to + k) = static_cast<unit>(word >> 8 * k);
      }
    }
  }
}

template <int Bytes, bool Aligned, class Shape>
__global__ void __launch_bounds__(Shape::threads, Shape::least_blocks)
    transpose_misaligned(unsigned char* out, const unsigned char* in, matrix_tiles m) {
  auto* tile = dynamic_shared<unsigned char>();
  const unsigned place = blockIdx.y * gridDim.x + blockIdx.x;
  const tile_index at = tile_at(m.order, place);
  if (place >= m.tiles) return;  // uniform exit: padding block of the 2-D grid
  const std::int64_t row0 = std::int64_t{at.down} * Shape::written, col0 = std::int64_t{at.across} * Shape::width;
  const std::int64_t matrix = at.matrix;
  out += matrix * m.out_stride + col0 * m.out_ld + row0 * Bytes;
  wait_then_trigger_dependents();
  load_tile<Bytes, Aligned, Shape>(tile, in + matrix * m.in_stride, out, m, row0, col0);
  allow_uninitialised_reads();  // columns beyond the edge, and of the word behind a chunk what the funnel shift
                                // discards
  __syncthreads();

  const std::int64_t rows_left = m.rows - row0, cols_left = m.cols - col0;
  const int width = cols_left < Shape::width ? static_cast<int>(cols_left) : Shape::width;
  const int valid = rows_left < Shape::height ? static_cast<int>(rows_left) * Bytes : Shape::length;
  // A thread stores every `step`th output row: these have equal alignment.
  constexpr int lanes = Shape::length / 16, step = Shape::threads / lanes, steps = 32 * Shape::per_lane / step;
  static_assert(step * Bytes % tile_overlap == 0 && step % (Shape::per_lane * Shape::spread) == 0);
  static_assert(Shape::threads % lanes == 0 && 32 * Shape::per_lane % step == 0);
  const int lane = threadIdx.x % lanes, column = threadIdx.x / lanes;
  unsigned char* to = out + column * m.out_ld;
  const int first = until_aligned(to, tile_overlap);
  const int most = rows_left <= Shape::height ? valid : first + Shape::length - tile_overlap;
  // Two lanes are idle except in the last tile: in the first one, one of them stores the vector before `first`, if
  // there is one.
  const bool before = row0 == 0 && lane == lanes - 1 && first >= 16;
  const int place16 = before ? first - 16 : first + lane * 16;
  if (place16 + 16 <= most) {
    to += place16;
    const unsigned char* from = tile + Shape::row_of(column) + 16 + (place16 & -16);
#pragma unroll
    for (int i = 0; i < steps; ++i) {
      const word16 v = shifted_chunk<Bytes>(from + i * (step / Shape::per_lane / Shape::spread) * Shape::pitch, first);
      if (column + i * step < width) *reinterpret_cast<word16*>(to) = v;
      to += step * m.out_ld;
    }
  }
  if (row0 == 0 || rows_left <= Shape::height) {
    store_row_ends<Bytes, Shape>(out, tile, m.out_ld, width, valid, row0 == 0, rows_left <= Shape::height);
  }
}

// Permutation of 1, 2, 4 and 8 byte elements as a transpose of rows and columns that are several dimensions each: the
// columns are the dimensions that are contiguous in the input, the rows those that are contiguous in the output, of any
// extents. The address of an input row is computed by one lane for its warp, that of an output row by one thread for
// its block, while the input's loads are in flight.

struct word_permutation {
  strided_dims row, col, batch;
  tile_order order;
  unsigned tiles;
  int rows, cols;  // elements
  int width;       // columns of a tile
  // Where the input's first and last element are: their words may hold bytes outside of it.
  int first_batch, last_batch, first_row, last_row;
};

// The tile of a block, and what of it exists.
struct permuted_tile {
  int batch, row0, col0, height, width;
  bool last;    // the output rows end in it
  bool at_end;  // words of it may lie outside of the input: it holds the first element, or ends less than a word before
                // the last
};

template <class Shape>
__device__ permuted_tile permuted_tile_at(const word_permutation& m, const tile_index& at) {
  permuted_tile t;
  t.batch = static_cast<int>(at.matrix);
  t.row0 = static_cast<int>(at.down) * Shape::written;
  t.col0 = static_cast<int>(at.across) * m.width;
  t.height = m.rows - t.row0 < Shape::height ? m.rows - t.row0 : Shape::height;
  t.width = m.cols - t.col0 < m.width ? m.cols - t.col0 : m.width;
  t.last = t.row0 + t.height == m.rows;
  const auto holds = [&](int row) { return t.row0 <= row && row < t.row0 + t.height; };
  t.at_end = (t.batch == m.first_batch && t.col0 == 0 && holds(m.first_row)) ||
             (t.batch == m.last_batch && m.cols - t.col0 - t.width < Shape::per_word && holds(m.last_row));
  return t;
}

// The rows of a tile that the lanes of a row load, `rows_at_once` side by side and then some further down; the i-th of
// these lanes knows where the i-th begins. Where a warp has 16 lanes a row, its halves take rows 64 bytes from each
// other, so that they write to different banks.
template <class Shape>
struct warp_rows {
  static constexpr int some = Shape::rows_at_once, warps = Shape::threads / 32, lanes = Shape::lanes;
  static constexpr int halves = 32 / lanes, at_once = warps * some;                               // of a half
  static constexpr int half_offset = halves == 1 ? at_once : 64 * Shape::height / Shape::length;  // in rows
  static constexpr int count = Shape::height / (halves * at_once) * some;
  static_assert(count <= lanes && Shape::height % (halves * half_offset) == 0 && half_offset % at_once == 0);
  std::int64_t mine;

  // The i-th of the warp's first lanes.
  static __device__ int first_row(int i) {
    constexpr int steps = half_offset / at_once;
    const int step = i / some;
    return step / steps * (halves * half_offset) + step % steps * at_once + static_cast<int>(threadIdx.x) / 32 * some +
           i % some;
  }
  static __device__ int row(int i) { return first_row(i) + static_cast<int>(threadIdx.x) % 32 / lanes * half_offset; }
  __device__ warp_rows(const word_permutation& m, const permuted_tile& t) {
    const int lane = threadIdx.x % lanes, wanted = row(lane < count ? lane : 0);
    mine = place_of(m.row, t.row0 + (wanted < t.height ? wanted : t.height - 1)).in;
  }
  __device__ std::int64_t at(int i) const {
    return shuffle(mine, lanes == 32 ? i : i + static_cast<int>(threadIdx.x) % 32 / lanes * lanes);
  }
};

// The words of some rows. `from`: the lane's word in a row at offset 0.
template <int Bytes, bool Aligned, class Shape>
__device__ void load_permuted(word_type<Bytes> (&w)[Shape::rows_at_once], const unsigned char* from,
                              const warp_rows<Shape>& rows, int first) {
  std::uint32_t skip[Shape::rows_at_once];
#pragma unroll
  for (int i = 0; i < Shape::rows_at_once; ++i) {
    const unsigned char* at = from + rows.at(first + i);
    skip[i] = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(at));
    const auto* word = reinterpret_cast<const word_type<Bytes>*>(Aligned ? at : rounded_down<4>(at));
    w[i] = Bytes == 8 ? *word : load_prefetch_l2<128>(word);  // a warp's load of 8-byte words is contiguous: no hint
  }
  if constexpr (!Aligned) {
#pragma unroll
    for (int i = 0; i < Shape::rows_at_once; ++i) {
      w[i] = funnel_shift(w[i], shuffle_down(w[i], 1), skip[i]);
    }
  }
}

// A tile at the ends of the input, element by element.
template <int Bytes, class Shape>
__device__ void load_elements(unsigned char* const (&to)[Shape::per_word], const unsigned char* from,
                              const warp_rows<Shape>& rows, const permuted_tile& t) {
  using unit = typename unit_of_bytes<Bytes>::type;
  constexpr int depth = 4 / Shape::per_word;  // rows whose loads are in flight together: more would spill
  static_assert(warp_rows<Shape>::count % depth == 0);
  const int column = static_cast<int>(threadIdx.x % Shape::lanes) * Shape::per_word;
#pragma unroll 1
  for (int first = 0; first < rows.count; first += depth) {
    unit held[depth][Shape::per_word];
    const auto has = [&](int d, int k) { return rows.row(first + d) < t.height && column + k < t.width; };
#pragma unroll
    for (int d = 0; d < depth; ++d) {
      const unsigned char* at = from + rows.at(first + d) + column * Bytes;
#pragma unroll
      for (int k = 0; k < Shape::per_word; ++k) {
        if (has(d, k)) held[d][k] = *reinterpret_cast<const unit*>(at + k * Bytes);
      }
    }
#pragma unroll
    for (int d = 0; d < depth; ++d) {
#pragma unroll
      for (int k = 0; k < Shape::per_word; ++k) {
        if (has(d, k)) *reinterpret_cast<unit*>(to[k] + rows.row(first + d) * Bytes) = held[d][k];
      }
    }
  }
}

// Writes the aligned chunks of the output rows.
template <int Bytes, class Shape>
__device__ void store_permuted(unsigned char* out, const unsigned char* tile, const permuted_tile& t,
                               const std::int64_t* col_at) {
  constexpr int lanes = Shape::length / 16, step = Shape::threads / lanes;
  constexpr int steps = Shape::lanes * Shape::per_word / step;
  static_assert(step % (Shape::per_word * Shape::spread) == 0);
  static_assert(Shape::threads % lanes == 0 && Shape::lanes * Shape::per_word % step == 0);
  const int lane = threadIdx.x % lanes, column = threadIdx.x / lanes;
  // Two lanes are idle except in the last tile: in the first one, one of them stores the vector before `first`, if
  // there is one.
  const bool top = t.row0 == 0 && lane == lanes - 1;
  if (!top && !t.last && lane >= lanes - tile_overlap / 16) return;
  // In other tiles than the last, length - 1 admits all vectors but that of a lane without one before `first`.
  const int most = (t.last ? t.height * Bytes : Shape::length - 1) - 16;
  const unsigned char* from = tile + Shape::row_of(column) + 16;
#pragma unroll
  for (int i = 0; i < steps; ++i) {
    if (column + i * step >= t.width) return;
    unsigned char* to = out + col_at[column + i * step];
    const int first = until_aligned(to, tile_overlap);
    const int at = top && first >= 16 ? first - 16 : first + lane * 16;
    if (at > most) continue;
    const unsigned char* chunk = from + i * (step / Shape::per_word / Shape::spread) * Shape::pitch + (at & -16);
    *reinterpret_cast<word16*>(to + at) = shifted_chunk<Bytes>(chunk, first);
  }
}

template <int Bytes, bool Aligned, class Shape>
__global__ void __launch_bounds__(Shape::threads, Shape::least_blocks)
    permute_misaligned(unsigned char* out, const unsigned char* in, word_permutation by_value) {
  const word_permutation& m = argument_after(by_value, out, in);
  constexpr int some = Shape::rows_at_once;
  auto* tile = dynamic_shared<unsigned char>();
  auto* const col_at = reinterpret_cast<std::int64_t*>(tile + Shape::bytes);
  const unsigned place = blockIdx.y * gridDim.x + blockIdx.x;
  const tile_index at = tile_at(m.order, place);
  if (place >= m.tiles) return;  // uniform exit: padding block of the 2-D grid
  const permuted_tile t = permuted_tile_at<Shape>(m, at);
  const warp_rows<Shape> rows(m, t);
  const strided_place base = place_of(m.batch, t.batch);
  in += base.in + static_cast<std::int64_t>(t.col0) * Bytes;
  out += base.out + static_cast<std::int64_t>(t.row0) * Bytes;
  wait_then_trigger_dependents();
  const int lane = threadIdx.x % Shape::lanes, mine = lane * Shape::word_bytes;
  // Lanes behind the tile's columns repeat the last word that a row may end in.
  const int last = (t.width * Bytes + (Aligned ? -1 : 2)) & -Shape::word_bytes;
  const unsigned char* from = in + (mine < last ? mine : last);
  word_type<Bytes> w[some];
  if (!t.at_end) load_permuted<Bytes, Aligned, Shape>(w, from, rows, 0);
  for (int i = threadIdx.x; i < Shape::lanes * Shape::per_word; i += Shape::threads) {
    col_at[i] = place_of(m.col, t.col0 + (i < t.width ? i : t.width - 1)).out;
  }
  __syncthreads();
  unsigned char* to[Shape::per_word];
#pragma unroll
  for (int k = 0; k < Shape::per_word; ++k) to[k] = sheared_row<Shape>(tile, k, lane, out, col_at);
  if (t.at_end) {
    load_elements<Bytes, Shape>(to, in, rows, t);
  } else {
    store_words<Bytes>(to, w, rows.row(0) * Bytes);
#pragma unroll 1
    for (int i = some; i < rows.count && rows.first_row(i) < t.height; i += some) {  // uniform: the warp shuffles
      load_permuted<Bytes, Aligned, Shape>(w, from, rows, i);
      store_words<Bytes>(to, w, rows.row(i) * Bytes);
    }
  }
  allow_uninitialised_reads();  // columns beyond the edge, and of the word behind a chunk what the funnel shift
                                // discards
  __syncthreads();
  store_permuted<Bytes, Shape>(out, tile, t, col_at);
  if (t.row0 == 0 || t.last) {
    store_row_ends<Bytes, Shape>(out, tile, col_at, t.width, t.height * Bytes, t.row0 == 0, t.last);
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
