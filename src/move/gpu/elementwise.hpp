#pragma once

// Movements without tiles: a thread moves units, words of 1 to 16 bytes. Stores are coalesced, loads in general are
// not. The kernel elementwise is the fallback of all permutations; elementwise-batch is for many tiny matrices.

#include <cstdint>

#include "device.hpp"
#include "gpu/dependent_launch.hpp"
#include "gpu/divider.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int elementwise_threads = 256;

/// Dimensions in the output's order, the first being the units of a run.
struct elementwise_dims {
  std::int64_t units;  // in all
  int rank;
  std::int64_t extent[9], in_stride[9], out_stride[9];  // strides in bytes
};

template <class Unit>
__global__ void __launch_bounds__(elementwise_threads)
    permute_elementwise(unsigned char* out, const unsigned char* in, elementwise_dims d) {
  const std::int64_t block = static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  std::int64_t place = block * elementwise_threads + threadIdx.x;
  if (place >= d.units) return;
  wait_then_trigger_dependents();
  for (int i = 0; i < d.rank; ++i) {
    const std::int64_t rest = place / d.extent[i], index = place - rest * d.extent[i];
    in += index * d.in_stride[i];
    out += index * d.out_stride[i];
    place = rest;
  }
  *reinterpret_cast<Unit*>(out) = *reinterpret_cast<const Unit*>(in);
}

// Many tiny matrices with gaps, in them or between them: a thread moves a unit of one matrix after the other. Adjacent
// threads store adjacent units; their loads are not coalesced, but fall into a few lines, which stay in the cache. In
// place, a thread swaps two units.

struct elementwise_matrices {
  std::int64_t batch, in_ld, out_ld, in_stride, out_stride;  // matrices; units
  int at_once, units;                                        // matrices of a block; units of an element
  divider matrix, column, element;                           // units of a matrix, of its column, of an element
};

/// A unit of the output.
struct elementwise_place {
  int matrix, column, row, unit;
};

__device__ inline elementwise_place place_of(int index, const elementwise_matrices& m) {
  const auto i = static_cast<std::uint32_t>(index);
  const std::uint32_t matrix = divide(i, m.matrix), within = i - matrix * m.matrix.divisor;
  const std::uint32_t column = divide(within, m.column), below = within - column * m.column.divisor;
  const std::uint32_t row = divide(below, m.element);
  return {static_cast<int>(matrix), static_cast<int>(column), static_cast<int>(row),
          static_cast<int>(below - row * m.element.divisor)};
}

// Units of the block's matrices; 0 where the grid, a rectangle, goes beyond them.
__device__ inline int units_of_block(std::int64_t first, const elementwise_matrices& m) {
  if (first >= m.batch) return 0;
  const std::int64_t left = m.batch - first;
  return static_cast<int>(left < m.at_once ? left : m.at_once) * static_cast<int>(m.matrix.divisor);
}

template <class Unit>
__global__ void __launch_bounds__(elementwise_threads)
    transpose_elementwise_batch(unsigned char* out, const unsigned char* in, elementwise_matrices m) {
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x) * m.at_once;
  const int count = units_of_block(first, m);
  wait_then_trigger_dependents();
  const Unit* from = reinterpret_cast<const Unit*>(in) + first * m.in_stride;
  Unit* to = reinterpret_cast<Unit*>(out) + first * m.out_stride;
#pragma unroll 4
  for (int i = threadIdx.x; i < count; i += elementwise_threads) {
    const elementwise_place p = place_of(i, m);
    to[p.matrix * m.out_stride + p.column * m.out_ld + p.row * m.units + p.unit] =
        from[p.matrix * m.in_stride + p.row * m.in_ld + p.column * m.units + p.unit];
  }
}

template <class Unit>
__global__ void __launch_bounds__(elementwise_threads)
    in_place_elementwise(unsigned char* data, elementwise_matrices m) {
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x) * m.at_once;
  const int count = units_of_block(first, m);
  wait_then_trigger_dependents();
  Unit* block = reinterpret_cast<Unit*>(data) + first * m.in_stride;
  for (int i = threadIdx.x; i < count; i += elementwise_threads) {
    const elementwise_place p = place_of(i, m);
    if (p.row >= p.column) continue;
    Unit* matrix = block + p.matrix * m.in_stride + p.unit;
    Unit &one = matrix[p.row * m.in_ld + p.column * m.units], &other = matrix[p.column * m.in_ld + p.row * m.units];
    const Unit held = one;
    one = other;
    other = held;
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
