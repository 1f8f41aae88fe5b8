#pragma once

// Transpose 16 bytes at a time on every access, where all rows begin and end at multiples of 16 bytes.

#include <cstdint>

#include "device.hpp"
#include "gpu/vector_tile.hpp"

namespace twill::TWILL_BACKEND::kernels {

// Blocks walk along the output's rows: what one block leaves of a line, or of a DRAM page, the next one completes.
template <int Bytes, bool Around>
__global__ void __launch_bounds__(256) transpose_tiled(unsigned char* out, const unsigned char* in, tile_matrices m) {
  constexpr int edge = 16 / Bytes;
  word16* tile = dynamic_shared<word16>();
  unsigned place = blockIdx.y * gridDim.x + blockIdx.x;
  if (place >= m.tiles) return;  // uniform exit: padding block of the 2-D grid
  const std::int64_t row0 = static_cast<std::int64_t>(place % m.tiles_r) * edge << m.lines_shift;
  place /= m.tiles_r;
  const std::int64_t col0 = static_cast<std::int64_t>(place % m.tiles_c) * edge << m.chunks_shift;
  const std::int64_t matrix = place / m.tiles_c;
  const int lines = 1 << m.lines_shift, chunks = 1 << m.chunks_shift;
  const std::int64_t lines_left = (m.rows - row0) / edge, chunks_left = (m.cols - col0) / edge;
  const int lines_here = lines_left < lines ? static_cast<int>(lines_left) : lines;
  const int chunks_here = chunks_left < chunks ? static_cast<int>(chunks_left) : chunks;
  const bool full = lines_here == lines && chunks_here == chunks;

  in += matrix * m.in_stride + row0 * m.in_ld + col0 * Bytes;
  if (full) {
    load_tile<Bytes, Around, true>(tile, in, m, lines_here, chunks_here);
  } else {
    load_tile<Bytes, Around, false>(tile, in, m, lines_here, chunks_here);
  }
  __syncthreads();

  out += matrix * m.out_stride + col0 * m.out_ld + row0 * Bytes;
  if (full) {
    store_tile<Bytes, true>(out, tile, m, lines_here, chunks_here * edge);
  } else {
    store_tile<Bytes, false>(out, tile, m, lines_here, chunks_here * edge);
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
