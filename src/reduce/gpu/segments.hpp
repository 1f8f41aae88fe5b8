#pragma once

// Reduces segments of any length: 8 a block, a warp each; a long one by the entire block.

#include "reduce.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// Where a segment lies. Its vectors may reach into other segments of the block, `first` to `end`.
template <class Kind>
__device__ inline row_place segment_place(const reduce_problem& p, std::int64_t segment, std::int64_t first,
                                          std::int64_t end) {
  // Multiplied, not shifted: with decreasing offsets, a contract violation, the difference is negative.
  const std::int64_t size = std::int64_t{1} << p.params.shift, begin = p.offsets[segment] * size;
  return place_of<Kind>(p.in + begin, p.offsets[segment + 1] * size - begin,
                        {p.in + p.offsets[first] * size, p.in + p.offsets[end] * size});
}

/// The value of no elements.
template <class Value>
__device__ inline Value without_index(Value value) {
  return value;
}
__device__ inline indexed_key without_index(indexed_key value) {
  return {value.key, -1};
}

/// A short segment by a warp, 8 vectors a lane; in lane 0.
template <class Kind>
__device__ inline typename Kind::value combine_short_segment(const reduce_problem& p, const row_place& at) {
  constexpr int step = reduce_lanes * vector_bytes;
  if (at.bytes <= at.head) return without_index(vector_value<Kind>(vector_of(p.empty), 0, p.params));
  const int from = static_cast<int>(threadIdx.x) % reduce_lanes * vector_bytes;
  const int index = (from - at.head) >> p.params.shift, elements = step >> p.params.shift;
  const unsigned char* first = at.in + from;
  const std::int64_t left = at.bytes - from;
  word16 raw[8];
  if constexpr (Kind::exact) {
    load_vectors<Kind>(raw, first, step, from == 0 ? at.head : 0, left, vector_of(p.pad), p.params);
  } else {
    load_misaligned<Kind>(raw, p, at, first, step, left);
  }
  typename Kind::value parts[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) parts[i] = vector_value<Kind>(raw[i], index + i * elements, p.params);
  combine_neighbours<Kind>(parts, p.params);
  return combine_lanes<Kind>(parts[0], p.params);
}

template <class Kind>
__global__ void __launch_bounds__(reduce_threads) reduce_segments(reduce_problem p) {
  wait_then_trigger_dependents();
  const std::int64_t first = static_cast<std::int64_t>(block_number()) * reduce_parts;
  const std::int64_t end = first + reduce_parts < p.rows ? first + reduce_parts : p.rows;
  const std::int64_t own = first + threadIdx.x / reduce_lanes;
  if (own < end) {
    const row_place at = segment_place<Kind>(p, own, first, end);
    if (at.bytes <= short_row_bytes) {
      const auto mine = combine_short_segment<Kind>(p, at);
      if (threadIdx.x % reduce_lanes == 0) store_result(p.output, own, mine);
    }
  }
#pragma unroll 1
  for (std::int64_t segment = first; segment < end; ++segment) {
    const row_place at = segment_place<Kind>(p, segment, first, end);
    if (at.bytes <= short_row_bytes) continue;
    __syncthreads();
    const auto all = combine_chunks<Kind, false>(p, at, 0, at.bytes);
    if (threadIdx.x == 0) store_result(p.output, segment, all);
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
