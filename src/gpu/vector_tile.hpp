#pragma once

// The tile that a block transposes 16 bytes at a time on every access, where all rows begin and end at multiples of 16
// bytes. With R = 16 / element bytes, a thread loads R vectors, one from each of R rows, transposes this R x R block in
// registers, and stores it into the transposed tile; after the barrier the tile leaves row by row.

#include <cstdint>

#include "device.hpp"
#include "register_block.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// A batch of matrices, and the tile that a block moves: 2^lines x 2^chunks blocks of R x R elements.
struct tile_matrices {
  std::int64_t rows, cols;                            // elements
  std::int64_t in_ld, out_ld, in_stride, out_stride;  // bytes
  int lines_shift, chunks_shift;
  int pad;  // chunks of shared memory after each R tile rows
};

/// Chunks of padding after each R tile rows, which are `chunks_between` chunks in shared memory. Eight neighbouring
/// lanes hold 8 / chunks lines of each of `chunks` blocks: the distance from one of those blocks to the next is 8 /
/// chunks, mod 8.
constexpr std::int64_t tile_pad(std::int64_t chunks, std::int64_t chunks_between) {
  return (((chunks >= 8 ? 1 : 8 / chunks) - chunks_between) % 8 + 8) % 8;
}

/// Shared memory of a tile of `lines` x `chunks` blocks of R = `edge` rows.
constexpr std::int64_t tile_bytes(std::int64_t lines, std::int64_t chunks, std::int64_t edge) {
  return chunks * (edge * (lines + 1) + tile_pad(chunks, edge * (lines + 1))) * 16;
}

// Blocks that a thread moves.
template <int Bytes>
inline constexpr int tile_depth = Bytes == 16  ? 4
                                  : Bytes == 8 ? 2
                                               : 1;

// Where output row y of the tile begins in shared memory, in chunks. The pitch is an odd number of vectors, and `pad`
// is chosen so that the eight lanes of one phase of a 16-byte shared access touch all banks, on writing and
// reading.
template <int Bytes>
__device__ int tile_place(const tile_matrices& m, int y) {
  return y * ((1 << m.lines_shift) + 1) + y / (16 / Bytes) * m.pad;
}

// Moves the blocks of a thread, each so many threads behind the one before, to the transposed tile.
template <int Bytes, bool Around, bool Full>
__device__ void load_tile(word16* tile, const unsigned char* in, const tile_matrices& m, int lines_here,
                          int chunks_here) {
  constexpr int edge = 16 / Bytes, depth = tile_depth<Bytes>;
  std::uint32_t w[depth][edge][4];
  const int thread = threadIdx.x, threads = blockDim.x, mask = (1 << m.chunks_shift) - 1;
  const auto line_of = [&](int d) { return (thread + d * threads) >> m.chunks_shift; };
  const auto chunk_of = [&](int d) { return (thread + d * threads) & mask; };
  // Issue all loads before the first use: a predicate between them would serialise them.
#pragma unroll
  for (int d = 0; d < depth; ++d) {
    if (!Full && (line_of(d) >= lines_here || chunk_of(d) >= chunks_here)) continue;
    const unsigned char* from = in + line_of(d) * edge * m.in_ld + chunk_of(d) * 16;
#pragma unroll
    for (int i = 0; i < edge; ++i) unpack_words(w[d][i], load_chunk<Around>(from + i * m.in_ld));
  }
#pragma unroll
  for (int d = 0; d < depth; ++d) {
    if (!Full && (line_of(d) >= lines_here || chunk_of(d) >= chunks_here)) continue;
    register_block<Bytes>::transpose(w[d]);
    word16* to = tile + tile_place<Bytes>(m, chunk_of(d) * edge) + line_of(d);
#pragma unroll
    for (int i = 0; i < edge; ++i) to[i * ((1 << m.lines_shift) + 1)] = pack_words(w[d][i]);
  }
}

// Writes `width` output rows of `lines_here` chunks, a chunk a thread at a time, `Group` of them read before the first
// is stored.
template <int Bytes, bool Full, int Group = 4>
__device__ void store_tile(unsigned char* out, const word16* tile, const tile_matrices& m, int lines_here, int width) {
  constexpr int chunks = tile_depth<Bytes> * (16 / Bytes);
  const int thread = threadIdx.x, threads = blockDim.x, mask = (1 << m.lines_shift) - 1;
#pragma unroll
  for (int d = 0; d < chunks; d += Group) {
    word16 held[Group];
#pragma unroll
    for (int g = 0; g < Group; ++g) {
      const int at = thread + (d + g) * threads, y = at >> m.lines_shift, c = at & mask;
      if (Full || (y < width && c < lines_here)) held[g] = tile[tile_place<Bytes>(m, y) + c];
    }
#pragma unroll
    for (int g = 0; g < Group; ++g) {
      const int at = thread + (d + g) * threads, y = at >> m.lines_shift, c = at & mask;
      if (Full || (y < width && c < lines_here)) *reinterpret_cast<word16*>(out + y * m.out_ld + c * 16) = held[g];
    }
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
