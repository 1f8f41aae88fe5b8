#pragma once

// Reductions of a matrix over its rows: one result a column. The tree is again fixed by the shape and the element's
// size alone. A block has `lanes` vectors of neighbouring columns and 256 / lanes parts. A chunk is `batches` times 8
// times as many rows as there are parts; row r of it belongs to part r % parts. A part combines its rows 8 at a time as
// neighbours, and the eights one after another; then the parts are combined as neighbours. Chunks, too, are dealt out
// to the parts, one after another, and the parts combined as neighbours.

#include "kernels/reduce.hpp"

namespace twill::TWILL_BACKEND::kernels {

struct column_problem {
  reduce_problem rows;  ///< stride: bytes from row to row; rows.rows; rows.tickets: one for each tile
  std::int64_t cols;
  int lanes;    ///< vectors that a tile is wide, a power of two up to 32
  int batches;  ///< eights of rows that a part of a chunk combines
  unsigned chunks;
};

/// The values of a tile's parts, slot by slot, combined; in part 0.
template <class Op, int Slots>
__device__ inline void combine_parts(typename Op::value (&mine)[Slots], int lanes) {
  __shared__ typename Op::value shared[reduce_threads];
  const int t = static_cast<int>(threadIdx.x), part = t / lanes, parts = reduce_threads / lanes;
#pragma unroll
  for (int s = 0; s < Slots; ++s) {
    __syncthreads();
    shared[t] = mine[s];
    __syncthreads();
    for (int step = 1; step < parts; step *= 2) {
      if (part % (2 * step) == 0) shared[t] = Op::combine(shared[t], shared[t + step * lanes]);
      __syncthreads();
    }
    mine[s] = shared[t];
  }
}

template <class Load, class Op, int Slots>
__device__ inline void split(typename Op::value (&to)[Slots], word16 raw, std::int64_t row, const reduce_terms& terms) {
  const auto all = bits_as<elements_of<typename Load::unit>>(raw);
#pragma unroll
  for (int s = 0; s < Slots; ++s) to[s] = Load::one(all.element[s], row, terms);
}

/// 8 rows of a part, `step` apart from `row` on, combined slot by slot.
template <class Load, class Op, int Slots>
__device__ inline void combine_batch(typename Op::value (&to)[Slots], const column_problem& p, std::int64_t row,
                                     int step, std::int64_t column_byte, std::int64_t left) {
  const auto& r = p.rows;
  word16 raw[8];
  load_vectors<typename Load::unit>(raw, has_whole_vectors(r, r.bytes), vector_of(r.pad), [&](int i) {
    const std::int64_t at = row + i * step;
    return vector_place{r.in + at * r.stride + column_byte, at < r.rows ? left : 0};
  });
  typename Op::value held[2][Slots], one[Slots], two[Slots];
#pragma unroll
  for (int i = 0; i < 8; i += 2) {
    split<Load, Op>(one, raw[i], row + i * step, r.terms);
    split<Load, Op>(two, raw[i + 1], row + (i + 1) * step, r.terms);
#pragma unroll
    for (int s = 0; s < Slots; ++s) {
      auto pair = Op::combine(one[s], two[s]);
      if (i % 4 == 2) pair = Op::combine(held[0][s], pair);
      if (i == 6) pair = Op::combine(held[1][s], pair);
      if (i == 6) {
        to[s] = pair;
      } else {
        held[i % 4 == 2 ? 1 : 0][s] = pair;
      }
    }
  }
}

/// The chunks' values of a tile, `width` of them in a row of the partials, combined; in part 0.
template <class Op, int Slots>
__device__ inline void combine_chunk_values(typename Op::value (&mine)[Slots], const column_problem& p,
                                            const typename Op::value* tile, int width, int lane, int part,
                                            typename Op::value identity) {
  const int parts = reduce_threads / p.lanes;
#pragma unroll
  for (int s = 0; s < Slots; ++s) mine[s] = identity;
#pragma unroll 4
  for (unsigned chunk = static_cast<unsigned>(part); chunk < p.chunks; chunk += static_cast<unsigned>(parts)) {
#pragma unroll
    for (int s = 0; s < Slots; ++s) {
      mine[s] = Op::combine(mine[s], tile[static_cast<std::int64_t>(chunk) * width + lane * Slots + s]);
    }
  }
  combine_parts<Op>(mine, p.lanes);
}

// Block x is a tile of columns, of which p.chunks blocks take chunks of rows.
template <class Load, class Op>
__global__ void __launch_bounds__(reduce_threads) reduce_columns(column_problem p) {
  using value = typename Op::value;
  constexpr int slots = elements_of<typename Load::unit>::count;
  const int t = static_cast<int>(threadIdx.x), lane = t % p.lanes, part = t / p.lanes, parts = reduce_threads / p.lanes;
  const std::int64_t tile = blockIdx.x / p.chunks;
  const unsigned chunk = blockIdx.x % p.chunks;
  const std::int64_t column = (tile * p.lanes + lane) * slots;
  const std::int64_t left = (p.cols - column) * static_cast<std::int64_t>(sizeof(typename Load::unit));
  const std::int64_t column_byte = column * static_cast<std::int64_t>(sizeof(typename Load::unit));
  const std::int64_t first = static_cast<std::int64_t>(chunk) * p.batches * 8 * parts + part;

  value mine[slots], batch[slots];
  combine_batch<Load, Op>(mine, p, first, parts, column_byte, left);
  for (int b = 1; b < p.batches; ++b) {
    const std::int64_t row = first + static_cast<std::int64_t>(b) * 8 * parts;
    if (row >= p.rows.rows) break;
    combine_batch<Load, Op>(batch, p, row, parts, column_byte, left);
#pragma unroll
    for (int s = 0; s < slots; ++s) mine[s] = Op::combine(mine[s], batch[s]);
  }
  combine_parts<Op>(mine, p.lanes);

  if (p.chunks > 1) {
    const int width = p.lanes * slots;
    value* partials = static_cast<value*>(p.rows.partials) + tile * p.chunks * width;
    if (part == 0) {
#pragma unroll
      for (int s = 0; s < slots; ++s) partials[static_cast<std::int64_t>(chunk) * width + lane * slots + s] = mine[s];
    }
    __syncthreads();
    if (!comes_last(p.rows.tickets + tile, p.chunks)) return;
    const value identity = vector_value<Load, Op>(vector_of(p.rows.pad), INT64_MAX / 2, p.rows.terms);
    combine_chunk_values<Op>(mine, p, partials, width, lane, part, identity);
    if (t == 0) p.rows.tickets[tile] = 0;
  }
  if (part == 0) {
#pragma unroll
    for (int s = 0; s < slots; ++s) {
      if (column + s < p.cols) store_result(p.rows.finish, column + s, mine[s]);
    }
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
