#pragma once

// Small matrices, transposed in place: a block stages as many full matrices as shared memory holds, all of them
// one run of bytes, and writes the same run back in the other order. Both ways in aligned chunks of 16 bytes, so that
// odd extents cost nothing.

#include <cstdint>

#include "device.hpp"
#include "gpu/dependent_launch.hpp"
#include "gpu/divider.hpp"
#include "gpu/grid.hpp"
#include "gpu/realign.hpp"
#include "gpu/staged_run.hpp"

namespace twill::TWILL_BACKEND::kernels {

struct small_in_place_matrices {
  std::int64_t batch, stride;  // matrices; bytes from one to the next
  int rows, cols;
  int units;      // of an element
  int bytes;      // of a matrix
  int at_once;    // matrices of a block; 1 unless they lie without gaps
  int pad_shift;  // 16 bytes more of shared memory after each 2^this bytes; 31: none
  int period;  // chunks after which the misalignment of matrices repeats, no more than the threads of a block; 0: more
  divider by_rows, by_cols, by_units;
};

// Offset in the run of the unit that goes to offset `byte` of the transposed run, a line of which is a column.
template <class Unit>
__device__ int source_of(const small_in_place_matrices& m, int byte) {
  constexpr int size = static_cast<int>(sizeof(Unit));
  const int unit = byte / size, element = static_cast<int>(divide(unit, m.by_units));
  const int line = static_cast<int>(divide(element, m.by_rows)), row = element - line * m.rows;
  const int matrix = static_cast<int>(divide(line, m.by_cols)), col = line - matrix * m.cols;
  return matrix * m.bytes + ((row * m.cols + col) * m.units + unit - element * m.units) * size;
}

template <class Unit>
__global__ void __launch_bounds__(1024) in_place_small(unsigned char* data, small_in_place_matrices m) {
  constexpr int size = static_cast<int>(sizeof(Unit)), count = 16 / size;
  unsigned char* shared = dynamic_shared<unsigned char>();
  const std::int64_t first = block_index() * m.at_once;
  if (first >= m.batch) return;  // uniform exit: padding block of the 2-D grid
  wait_then_trigger_dependents();
  const int end = static_cast<int>(m.batch - first < m.at_once ? m.batch - first : m.at_once) * m.bytes;
  data += first * m.stride;
  const int skip = misalignment(data), threads = blockDim.x;

  const run_padding padding{16, m.pad_shift};
  copy_run<Unit>(shared, data, end, skip, padding);
  wait_for_copies();
  __syncthreads();

  const int step = m.period == 0 ? threads : threads / m.period * m.period;
  if (static_cast<int>(threadIdx.x) >= step) return;
  int source[count];
  for (int chunk = threadIdx.x, iteration = 0; chunk * 16 < end + skip; chunk += step, ++iteration) {
    const int begin = chunk * 16 - skip;
    unit_chunk<Unit> v;
#pragma unroll
    for (int u = 0; u < count; ++u) {
      const int byte = begin + u * size;
      // The first chunk may begin before the run: there it takes the places of the next iteration, moved back.
      const int moved = byte < 0 ? step * 16 : 0;
      if (m.period == 0 || iteration == 0) {
        source[u] = (byte < 0 && m.period == 0 ? 0 : source_of<Unit>(m, byte + moved) - moved) + skip;
      } else {
        source[u] += step * 16;
      }
      if (byte >= 0 && byte < end) v.unit[u] = *reinterpret_cast<const Unit*>(shared + padded(source[u], padding));
    }
    if (begin >= 0 && begin + 16 <= end) {
      *reinterpret_cast<word16*>(data + begin) = v.packed();
      continue;
    }
#pragma unroll
    for (int u = 0; u < count; ++u) {
      if (begin + u * size >= 0 && begin + u * size < end)
        *reinterpret_cast<Unit*>(data + begin + u * size) = v.unit[u];
    }
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
