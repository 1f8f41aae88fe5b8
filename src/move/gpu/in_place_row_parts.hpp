#pragma once

// The row pass of in_place_passes for rows too long for shared memory whose elements, cut into a few parts, are not: a
// block takes a row, and one part of all its elements after the other. All parts move the same way.

#include <cstdint>

#include "device.hpp"
#include "in_place_passes.hpp"

namespace twill::TWILL_BACKEND::kernels {

struct row_parts {
  in_place_grid grid;  // a part counts as its unit, so `units` is 1
  row_step step;       // from an element of a thread to its next
  int parts;           // of an element
  std::int64_t batch;
};

template <class Part>
__global__ void __launch_bounds__(1024) in_place_row_parts(unsigned char* data, row_parts m) {
  const in_place_grid& g = m.grid;
  const std::int64_t place = static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x, matrix = place / g.height;
  if (matrix >= m.batch) return;  // uniform exit: padding block of the 2-D grid
  const int row = static_cast<int>(place - matrix * g.height), length = static_cast<int>(g.length);
  const int first = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x);
  Part* line = reinterpret_cast<Part*>(data + matrix * g.stride) + row * g.length * m.parts;
  Part* shared = dynamic_shared<Part>();

  row_position start{};
  start.to = static_cast<int>(first * g.height % g.length);
  start.block = static_cast<int>(first / g.b);
  start.in_block = static_cast<int>(first - start.block * g.b);
  for (int part = 0; part < m.parts; ++part) {
    row_position at = start;
    for (int j = first; j < length; j += step) {
      shared[g.backwards ? j : at.place(g, row)] = line[static_cast<std::int64_t>(j) * m.parts + part];
      at.move(g, m.step);
    }
    __syncthreads();
    at = start;
    for (int j = first; j < length; j += step) {
      line[static_cast<std::int64_t>(j) * m.parts + part] = shared[g.backwards ? at.place(g, row) : j];
      at.move(g, m.step);
    }
    __syncthreads();
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
