#pragma once

// Permutation without a tile: a thread moves one unit, a word of 1 to 16 bytes. Stores are coalesced, loads in general
// are not. The fallback for all permutations; chosen for rows of aligned vectors, and for tiny 16-byte matrices with
// gaps, whose lines stay in cache.

#include <cstdint>

#include "device.hpp"
#include "gpu/dependent_launch.hpp"
#include "gpu/divider.hpp"
#include "gpu/fast_division.hpp"
#include "gpu/grid.hpp"
#include "gpu/packed_units.hpp"
#include "gpu/realign.hpp"
#include "matrix_tiles.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int elementwise_threads = 256;

struct elementwise_dims {
  int units;         // in total
  fast_divisor run;  // units of a run
  strided_dims runs;
};

template <class Unit>
__global__ void __launch_bounds__(elementwise_threads)
    permute_elementwise(unsigned char* out, const unsigned char* in, elementwise_dims by_value) {
  const elementwise_dims& d = argument_after(by_value, out, in);
  const std::int64_t place = block_index() * elementwise_threads + threadIdx.x;
  if (place >= d.units) return;
  wait_then_trigger_dependents();
  const int unit = static_cast<int>(place), run = quotient(unit, d.run);
  const strided_place at = place_of(d.runs, run);
  const std::int64_t within = (unit - run * d.run.divisor) * static_cast<std::int64_t>(sizeof(Unit));
  *reinterpret_cast<Unit*>(out + at.out + within) = *reinterpret_cast<const Unit*>(in + at.in + within);
}

// A thread assembles a vector of 16 bytes of the output from single units that are strided or in reverse order in the
// input: flipped rows, channels left out or swapped.

struct vector_dims {
  unsigned vectors;         // in total, of runs that are contiguous in the output
  int units;                // of a run
  fast_divisor per_run;     // upper bound of vectors per run, a partial first one included
  fast_divisor extent[2];   // of the first two dimensions of a run
  std::int64_t in_step[3];  // bytes to add when an index advances: its stride, less what the index inside it covered
  std::int64_t in_stride[3];
  strided_dims runs;
};

/// Goes through the units of a run of the output.
struct input_walk {
  const unsigned char* from;
  int left0, left1;  // steps left until the first and the second index wrap to 0

  __device__ input_walk(const unsigned char* run, const vector_dims& d, int unit) {
    const int rest = quotient(unit, d.extent[0]), index0 = unit - rest * d.extent[0].divisor;
    const int index2 = quotient(rest, d.extent[1]), index1 = rest - index2 * d.extent[1].divisor;
    from = run + index0 * d.in_stride[0] + index1 * d.in_stride[1] + index2 * d.in_stride[2];
    left0 = d.extent[0].divisor - index0;
    left1 = d.extent[1].divisor - index1;
  }

  __device__ void advance(const vector_dims& d) {
    from += d.in_step[0];
    if (--left0 > 0) return;
    left0 = d.extent[0].divisor;
    from += d.in_step[1];
    if (--left1 > 0) return;
    left1 = d.extent[1].divisor;
    from += d.in_step[2];
  }
};

template <class Unit>
__global__ void __launch_bounds__(elementwise_threads)
    permute_elementwise_vectors(unsigned char* out, const unsigned char* in, vector_dims by_value) {
  constexpr int size = static_cast<int>(sizeof(Unit)), units = 16 / size;
  const vector_dims& d = argument_after(by_value, out, in);
  const std::int64_t place = block_index() * elementwise_threads + threadIdx.x;
  if (place >= d.vectors) return;
  wait_then_trigger_dependents();
  const int vector = static_cast<int>(place), run = quotient(vector, d.per_run);
  const strided_place at = place_of(d.runs, run);
  unsigned char* to = out + at.out;
  const int lead = misalignment(to) / size;
  const int first = (vector - run * d.per_run.divisor) * units - lead, begin = first > 0 ? first : 0;
  const int end = first + units < d.units ? first + units : d.units;
  if (begin >= end) return;
  to += static_cast<std::int64_t>(begin) * size;
  input_walk walk(in + at.in, d, begin);
  if (end - begin == units) {
    Unit held[units];
#pragma unroll
    for (int k = 0; k < units; ++k) {
      held[k] = *reinterpret_cast<const Unit*>(walk.from);
      walk.advance(d);
    }
    *reinterpret_cast<word16*>(to) = pack(held);
    return;
  }
  constexpr int in_flight = units < 8 ? units : 8;  // loads before the first store
#pragma unroll 1
  for (int k = begin; k < end; k += in_flight, to += in_flight * size) {
    Unit held[in_flight];
#pragma unroll
    for (int i = 0; i < in_flight; ++i) {
      held[i] = k + i < end ? *reinterpret_cast<const Unit*>(walk.from) : Unit{};
      walk.advance(d);
    }
#pragma unroll
    for (int i = 0; i < in_flight; ++i) {
      if (k + i < end) reinterpret_cast<Unit*>(to)[i] = held[i];
    }
  }
}

// Many tiny square matrices with gaps, in them or between them, in place: a thread swaps two units of one matrix after
// the other.

struct elementwise_matrices {
  std::int64_t batch, ld, stride;   // matrices; units
  int at_once, units;               // matrices of a block; units of an element
  divider matrix, column, element;  // units of a matrix, of its column, of an element
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
    in_place_elementwise(unsigned char* data, elementwise_matrices m) {
  const std::int64_t first = block_index() * m.at_once;
  const int count = units_of_block(first, m);
  wait_then_trigger_dependents();
  Unit* block = reinterpret_cast<Unit*>(data) + first * m.stride;
  for (int i = threadIdx.x; i < count; i += elementwise_threads) {
    const elementwise_place p = place_of(i, m);
    if (p.row >= p.column) continue;
    Unit* matrix = block + p.matrix * m.stride + p.unit;
    Unit &one = matrix[p.row * m.ld + p.column * m.units], &other = matrix[p.column * m.ld + p.row * m.units];
    const Unit held = one;
    one = other;
    other = held;
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
