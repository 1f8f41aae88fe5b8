#pragma once

// The row pass of in_place_passes, to scratch memory, for rows too long for shared memory. `stretch` consecutive
// elements of the permuted row correspond to `height` runs of the row, interleaved with a stride of `height`: a block
// stages a stretch in shared memory, accesses it in full words, and the runs element by element, coalesced.

#include <cstdint>

#include "device.hpp"
#include "gpu/dependent_launch.hpp"
#include "gpu/divider.hpp"
#include "in_place_passes.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int long_row_threads = 256;

struct long_rows {
  in_place_grid grid;
  std::int64_t pitch;             // bytes between rows in scratch memory
  unsigned row, rows, stretches;  // the first one, how many; of a row
  int stretch;                    // elements; full vectors of 16 bytes
  int run;                        // at most so many of a run belong to a stretch
  divider runs;                   // by `run`
  divider b;                      // by grid.b
};

// Padding of 4 bytes, or a unit, after each 128 puts elements at a stride of `height` into different banks.
template <class Unit>
__device__ int spread_out(int byte) {
  constexpr int size = static_cast<int>(sizeof(Unit));
  return byte + (byte >> 7) * (size < 4 ? 4 : size);
}

// Copies a stretch from shared memory to scratch memory. That begins at a multiple of 16, and so does each stretch of
// it.
template <class Unit>
__device__ void write_stretch(unsigned char* scratch, const unsigned char* shared, int bytes) {
  constexpr int size = static_cast<int>(sizeof(Unit));
  using word = typename unit_of_bytes<(size < 4 ? 4 : size)>::type;
  for (int chunk = threadIdx.x * 16; chunk < bytes; chunk += long_row_threads * 16) {
    if (chunk + 16 <= bytes) {
      unit_chunk<word> v;
#pragma unroll
      for (int k = 0; k < static_cast<int>(16 / sizeof(word)); ++k) {
        v.unit[k] = *reinterpret_cast<const word*>(shared + spread_out<Unit>(chunk) + k * sizeof(word));
      }
      *reinterpret_cast<word16*>(scratch + chunk) = v.packed();
      continue;
    }
    for (int byte = chunk; byte < bytes; byte += size) {
      *reinterpret_cast<Unit*>(scratch + byte) = *reinterpret_cast<const Unit*>(shared + spread_out<Unit>(byte));
    }
  }
}

template <class Unit>
__global__ void __launch_bounds__(long_row_threads)
    in_place_long_row(unsigned char* scratch, const unsigned char* from, long_rows m) {
  constexpr int size = static_cast<int>(sizeof(Unit));
  unsigned char* shared = dynamic_shared<unsigned char>();
  const in_place_grid& g = m.grid;
  const int bytes = g.units * size, height = static_cast<int>(g.height);
  const unsigned block = blockIdx.y * gridDim.x + blockIdx.x, row = block / m.stretches;
  if (row >= m.rows) return;  // uniform exit: padding block of the 2-D grid
  wait_then_trigger_dependents();
  const std::int64_t first = static_cast<std::int64_t>(block - row * m.stretches) * m.stretch;
  from += row * g.length * bytes;
  scratch += row * m.pitch;
  const int count = static_cast<int>(g.length - first < m.stretch ? g.length - first : m.stretch);

  if (g.backwards) {
    for (int unit = threadIdx.x; unit < count * g.units; unit += long_row_threads) {
      *reinterpret_cast<Unit*>(shared + spread_out<Unit>(unit * size)) =
          *reinterpret_cast<const Unit*>(from + first * bytes + unit * size);
    }
    __syncthreads();
  }
  // Run w: the columns j with j * height + (0 to height - 1) - w * length in the stretch.
  for (int i = threadIdx.x; i < height * m.run; i += long_row_threads) {
    const int w = static_cast<int>(divide(static_cast<std::uint32_t>(i), m.runs));
    const std::int64_t low = w * g.length + first - height;  // j * height is above
    const std::int64_t above = low < 0 ? -1 : low / height, j = above + 1 + (i - w * m.run);
    if (j >= g.length) continue;
    const auto column = m.row + row + divide(static_cast<std::uint32_t>(j), m.b);
    const auto around = static_cast<int>(column < static_cast<std::uint32_t>(height) ? column : column - height);
    const std::int64_t place = j * height - w * g.length + around - first;
    if (place < 0 || place >= count) continue;
    for (int unit = 0; unit < g.units; ++unit) {
      auto* at = reinterpret_cast<Unit*>(shared + spread_out<Unit>(static_cast<int>(place) * bytes + unit * size));
      if (g.backwards) {
        *reinterpret_cast<Unit*>(scratch + j * bytes + unit * size) = *at;
      } else {
        *at = *reinterpret_cast<const Unit*>(from + j * bytes + unit * size);
      }
    }
  }
  if (g.backwards) return;
  __syncthreads();
  write_stretch<Unit>(scratch + first * bytes, shared, count * bytes);
}

}  // namespace twill::TWILL_BACKEND::kernels
