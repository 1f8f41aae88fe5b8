#pragma once

// Permutation whose fastest dimensions on the two sides differ and come in aligned pieces of 16 bytes: the register
// blocks of transpose_tiled, with more dimensions around. A block moves `lines` x `chunks` pieces: `chunks` go along
// the input's fastest dimension, `lines` along the output's; where such a dimension is short, further ones that lie
// next to it in memory are a part of the lines or chunks, so that both sides still have long runs.

#include <cstdint>

#include "device.hpp"
#include "gpu/fast_division.hpp"
#include "tiled.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int permute_tile_dims = 8;

/// A dimension of the lines or of the chunks, or of the grid; strides in bytes.
struct strided_dim {
  fast_divisor extent;
  std::int64_t in_stride, out_stride;
};

struct strided_dims {
  int rank = 0;
  strided_dim dim[permute_tile_dims];
};

/// Of the last tile along a dimension of the grid, `last` of `tile` indices are there.
struct cut_dim {
  int tile = 1, last = 1;
  bool in_lines = false, in_chunks = false;
};

struct tile_permutation {
  int blocks;
  strided_dims grid, line, chunk;
  cut_dim cut[permute_tile_dims];  // of `grid`
  int lines, chunks;               // without the dimensions that the grid cuts
  int most_lines, most_chunks;
  fast_divisor by_chunks;           // most_chunks
  int lanes;                        // threads that write an output run, a power of two
  int pitch, pad;                   // chunks of shared memory of a tile row; after each R rows
  std::int64_t row_step, col_step;  // bytes between rows of a register block in the input; in the output
};

struct strided_place {
  std::int64_t in, out;
};

__device__ inline strided_place place_of(const strided_dims& dims, int index) {
  strided_place p{0, 0};
#pragma unroll
  for (int i = 0; i < permute_tile_dims; ++i) {
    if (i >= dims.rank) break;
    const int rest = i + 1 < dims.rank ? quotient(index, dims.dim[i].extent) : 0;
    const int coordinate = index - rest * dims.dim[i].extent.divisor;
    p.in += coordinate * dims.dim[i].in_stride;
    p.out += coordinate * dims.dim[i].out_stride;
    index = rest;
  }
  return p;
}

// Lines and chunks of this block: fewer at the ends of the dimensions that the grid cuts.
__device__ inline void count_pieces(const tile_permutation& m, int block, int& lines, int& chunks) {
  lines = m.lines;
  chunks = m.chunks;
#pragma unroll
  for (int i = 0; i < permute_tile_dims; ++i) {
    if (i >= m.grid.rank) break;
    const int tiles = m.grid.dim[i].extent.divisor, rest = quotient(block, m.grid.dim[i].extent);
    const int tile = block - rest * tiles == tiles - 1 ? m.cut[i].last : m.cut[i].tile;
    if (m.cut[i].in_lines) lines *= tile;
    if (m.cut[i].in_chunks) chunks *= tile;
    block = rest;
  }
}

// Writes the tile's rows, each by `lanes` threads.
template <int Bytes>
__device__ void store_lines(unsigned char* out, const word16* tile, const tile_permutation& m,
                            const strided_place* line_place, const strided_place* chunk_place, int lines, int chunks) {
  constexpr int edge = 16 / Bytes;
  const int thread = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x) / m.lanes;
  const int line = thread & (m.lanes - 1), row = thread / m.lanes;
  if (line >= lines || row >= step) return;
  out += line_place[line].out;
  for (int y = row; y < chunks * edge; y += step) {
    const int chunk = y / edge, i = y % edge;
    *reinterpret_cast<word16*>(out + chunk_place[chunk].out + i * m.col_step) =
        tile[chunk * (edge * m.pitch + m.pad) + i * m.pitch + line];
  }
}

template <int Bytes>
__global__ void __launch_bounds__(256)
    permute_tile(unsigned char* out, const unsigned char* in, tile_permutation by_value) {
  const tile_permutation& m = argument_after(by_value, out, in);
  constexpr int edge = 16 / Bytes, depth = Bytes == 8 ? 2 : 1;
  const auto place = static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  if (place >= m.blocks) return;  // uniform exit: padding block of the 2-D grid
  const int block = static_cast<int>(place), thread = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  strided_place* const line_place = dynamic_shared<strided_place>();
  strided_place* const chunk_place = line_place + m.most_lines;
  word16* const tile = reinterpret_cast<word16*>(chunk_place + m.most_chunks + 2);  // two: what is found below

  // One thread finds the tile, while the others fill the tables.
  strided_place* const found = chunk_place + m.most_chunks;
  int* const counts = reinterpret_cast<int*>(found + 1);
  if (thread == threads - 1) {
    *found = place_of(m.grid, block);
    count_pieces(m, block, counts[0], counts[1]);
  }
  for (int i = thread; i < m.most_lines; i += threads) line_place[i] = place_of(m.line, i);
  for (int i = thread; i < m.most_chunks; i += threads) chunk_place[i] = place_of(m.chunk, i);
  __syncthreads();

  const strided_place base = *found;
  const int lines = counts[0], chunks = counts[1];
  in += base.in;
  const int pieces = m.most_chunks * lines;
  for (int first = thread; first < pieces; first += depth * threads) {
    std::uint32_t w[depth][edge][4];
#pragma unroll
    for (int d = 0; d < depth; ++d) {
      const int piece = first + d * threads;
      if (depth > 1 && piece >= pieces) break;
      const int line = quotient(piece, m.by_chunks), chunk = piece - line * m.most_chunks;
      if (chunk >= chunks) continue;
      const unsigned char* from = in + line_place[line].in + chunk_place[chunk].in;
#pragma unroll
      for (int i = 0; i < edge; ++i) unpack_words(w[d][i], *reinterpret_cast<const word16*>(from + i * m.row_step));
    }
#pragma unroll
    for (int d = 0; d < depth; ++d) {
      const int piece = first + d * threads;
      if (depth > 1 && piece >= pieces) break;
      const int line = quotient(piece, m.by_chunks), chunk = piece - line * m.most_chunks;
      if (chunk >= chunks) continue;
      register_block<Bytes>::transpose(w[d]);
      word16* to = tile + chunk * (edge * m.pitch + m.pad) + line;
#pragma unroll
      for (int i = 0; i < edge; ++i) {
        to[i * m.pitch] = make_word16(w[d][i][0], w[d][i][1], w[d][i][2], w[d][i][3]);
      }
    }
  }
  __syncthreads();

  store_lines<Bytes>(out + base.out, tile, m, line_place, chunk_place, lines, chunks);
}

}  // namespace twill::TWILL_BACKEND::kernels
