#pragma once

// Transpose of matrices whose rows are 2^k chunks of 16 bytes without gaps, k small. A block takes a strip of whole
// rows: contiguous memory, which neighbouring threads read chunk beside chunk into shared memory. A thread then takes
// an R x R block from there, R = 16 / element bytes, transposes it in registers and writes its chunks where they
// belong: neighbouring threads take blocks one below the other, whose chunks lie side by side in the output.

#include <cstdint>

#include "device.hpp"
#include "gpu/register_block.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int strip_threads = 256;

struct strip_matrices {
  std::int64_t lines;                          // of R rows
  std::int64_t out_ld, in_stride, out_stride;  // bytes
  unsigned tiles, all_tiles;                   // of a matrix, of all of them
  int lines_shift;                             // 2^this lines are a strip
  int chunks_shift;                            // 2^this chunks are a row
};

template <int Bytes>
__global__ void __launch_bounds__(strip_threads)
    transpose_strip(unsigned char* out, const unsigned char* in, strip_matrices m) {
  constexpr int edge = 16 / Bytes, together = edge < 4 ? 4 : edge;
  word16* shared = dynamic_shared<word16>();
  const unsigned place = blockIdx.y * gridDim.x + blockIdx.x, matrix = place / m.tiles;
  if (place >= m.all_tiles) return;  // uniform exit: padding block of the 2-D grid
  const std::int64_t line0 = static_cast<std::int64_t>(place - matrix * m.tiles) << m.lines_shift;
  const std::int64_t left = m.lines - line0;
  const int most = 1 << m.lines_shift, lines = left < most ? static_cast<int>(left) : most;
  const int thread = threadIdx.x, threads = blockDim.x;
  // Shared memory holds the strip with a chunk of padding after each line, so that neighbouring threads read from all
  // banks.
  const int line_shift = m.chunks_shift + (Bytes == 1 ? 4 : Bytes == 2 ? 3 : Bytes == 4 ? 2 : Bytes == 8 ? 1 : 0);
  const int chunks = lines << line_shift;
  in += matrix * m.in_stride + (line0 << line_shift) * 16;
  for (int base = thread; base < chunks; base += together * threads) {
    word16 held[together];
#pragma unroll
    for (int i = 0; i < together; ++i) {
      const int chunk = base + i * threads;
      if (chunk < chunks) held[i] = load_prefetch_l2<128>(reinterpret_cast<const word16*>(in + chunk * 16));
    }
#pragma unroll
    for (int i = 0; i < together; ++i) {
      const int chunk = base + i * threads;
      if (chunk < chunks) shared[chunk + (chunk >> line_shift)] = held[i];
    }
  }
  __syncthreads();
  out += matrix * m.out_stride + line0 * 16;
  for (int block = thread; block < 1 << (m.lines_shift + m.chunks_shift); block += threads) {
    const int line = block & (most - 1), chunk = block >> m.lines_shift;
    if (line >= lines) continue;
    std::uint32_t w[edge][4];
    const word16* from = shared + (line << line_shift) + line + chunk;
#pragma unroll
    for (int i = 0; i < edge; ++i) unpack_words(w[i], from[i << m.chunks_shift]);
    register_block<Bytes>::transpose(w);
    unsigned char* to = out + chunk * edge * m.out_ld + line * 16;
#pragma unroll
    for (int i = 0; i < edge; ++i) {
      *reinterpret_cast<word16*>(to + i * m.out_ld) = make_word16(w[i][0], w[i][1], w[i][2], w[i][3]);
    }
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
