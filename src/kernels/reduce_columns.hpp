#pragma once

// Reductions of a matrix over its rows: one result a column. The tree is fixed by the shape and the element's size
// alone, as that of rows (reduce_tree.hpp).
//
//   A tile is `lanes` vectors of neighbouring columns wide; a block has 256 / lanes parts. A chunk is `batches` times 8
//   times as many rows as there are parts; row r of it belongs to part r % parts. A part combines its rows 8 at a time
//   as neighbours, and the eights one after another. Then the parts are combined as neighbours, and the chunks as
//   neighbours. What is missing is the operation's identity.
//
// Of chunks, the block that comes last of a group combines those of the group, 8 a thread, and the groups likewise.
// Operations whose order does not matter have tiles of single elements, and a plan of their own.

#include "kernels/reduce.hpp"

namespace twill::TWILL_BACKEND::kernels {

struct column_problem {
  reduce_problem rows;  ///< stride: bytes from row to row
  std::int64_t cols;
  int lanes;    ///< vectors, or elements, that a tile is wide: a power of two
  int batches;  ///< eights of rows that a part of a chunk combines
  unsigned chunks;
  std::int64_t tiles;
};

// Kinds for columns have besides:
//   batch      8 rows, `step` apart from `row` on, combined as neighbours; `left` bytes are there from `in` on
//   identity   a value that changes no other

template <class Kind>
struct vector_columns : Kind {
  using value = typename Kind::value;
  static __device__ value identity(const reduce_problem& p) { return identity_of<Kind>(p); }
  static __device__ void batch(value (&to)[Kind::slots], const reduce_problem& p, const unsigned char* in,
                               std::int64_t left, std::int64_t row, int step) {
    eight_sets<Kind, Kind::slots> eight;
    if (p.aligned && left >= vector_bytes) {
      word16 raw[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        raw[i] = vector_of(p.pad);
        if (row + i * step < p.rows) raw[i] = *reinterpret_cast<const word16*>(in + (row + i * step) * p.stride);
      }
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        Kind::vector(to, raw[i], row + i * step, p.terms);
        eight.push(to, i, p.terms);
      }
    } else {
#pragma unroll 1
      for (int i = 0; i < 8; ++i) {
        const std::int64_t at = row + i * step;
        Kind::vector(to, any_vector<Kind>(p, in + at * p.stride, at < p.rows ? left : 0), at, p.terms);
        eight.push(to, i, p.terms);
      }
    }
  }
};

/// 8 elements of a column, those that are not there as the pad.
template <class Unit>
__device__ inline void load_column(std::uint64_t (&to)[8], const reduce_problem& p, const unsigned char* in,
                                   std::int64_t row, int step) {
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    to[i] = static_cast<Unit>(p.pad[0] | std::uint64_t{p.pad[1]} << 32);
    if (row + i * step < p.rows) to[i] = *reinterpret_cast<const Unit*>(in + (row + i * step) * p.stride);
  }
}

struct pair_of_words {
  std::uint64_t a, b;
};

/// The bits of 8 elements of 1 to 16 bytes; those of 16 as any bit of one of their halves.
__device__ inline void load_elements(std::uint64_t (&to)[8], const reduce_problem& p, const unsigned char* in,
                                     std::int64_t row, int step) {
  switch (p.terms.bytes) {
    case 1:
      return load_column<std::uint8_t>(to, p, in, row, step);
    case 2:
      return load_column<std::uint16_t>(to, p, in, row, step);
    case 4:
      return load_column<std::uint32_t>(to, p, in, row, step);
    default:
      load_column<std::uint64_t>(to, p, in, row, step);
  }
  if (p.terms.bytes != 16) return;
  std::uint64_t other[8];
  load_column<std::uint64_t>(other, p, in + 8, row, step);
#pragma unroll
  for (int i = 0; i < 8; ++i) to[i] |= other[i];
}

/// Whatever integers are made of elements of any size: the least key included.
struct viewed_columns : viewed_elements {
  static __device__ value identity(const reduce_problem& p) { return identity_of<viewed_elements>(p); }
  static __device__ void batch(value (&to)[1], const reduce_problem& p, const unsigned char* in, std::int64_t left,
                               std::int64_t row, int step) {
    to[0] = {};
    if (left <= 0) return;
    std::uint64_t bits[8];
    load_elements(bits, p, in, row, step);
#pragma unroll 1
    for (int i = 0; i < 8; ++i) {
      const value one = viewed(bits[0], p.terms);
      to[0] = i == 0 ? one : calculated(to[0], one, p.terms.rule);
#pragma unroll
      for (int k = 0; k < 7; ++k) bits[k] = bits[k + 1];
    }
  }
};

/// The places of the least keys, of elements of any size.
struct place_columns {
  using value = placed_key;
  static constexpr int slots = 1;
  static constexpr bool exact = true;
  static __device__ value combine(value a, value b, const reduce_terms&) { return first_least(a, b); }
  static __device__ value identity(const reduce_problem&) { return {~std::uint64_t{0}, INT64_MAX / 2}; }
  static __device__ void batch(value (&to)[1], const reduce_problem& p, const unsigned char* in, std::int64_t left,
                               std::int64_t row, int step) {
    to[0] = {};
    if (left <= 0) return;
    std::uint64_t bits[8];
    load_elements(bits, p, in, row, step);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const value one{viewed(bits[i], p.terms), row + i * step};
      to[0] = i == 0 ? one : first_least(to[0], one);
    }
  }
};

/// Of `width` values a column group, threads t, t + width, t + 2 * width ... have neighbours: combined in threads below
/// `width`.
template <class Kind>
__device__ inline typename Kind::value combine_groups(typename Kind::value* shared, typename Kind::value mine,
                                                      int width, const reduce_terms& terms) {
  const int t = static_cast<int>(threadIdx.x), group = t / width;
#pragma unroll 1
  for (int step = 1; step * width < reduce_threads; step *= 2) {
    __syncthreads();
    shared[t] = mine;
    __syncthreads();
    if (group % (2 * step) == 0) mine = Kind::combine(mine, shared[t + step * width], terms);
  }
  return mine;
}

/// The values of a tile's parts combined; those of column `t` of the tile in thread t. Slots of a thread are
/// neighbouring columns.
template <class Kind>
__device__ inline typename Kind::value combine_parts(typename Kind::value (&mine)[Kind::slots], int lanes,
                                                     const reduce_terms& terms) {
  constexpr int slots = Kind::slots;
  __shared__ typename Kind::value shared[reduce_threads * slots];
  const int t = static_cast<int>(threadIdx.x), width = lanes * slots;
  if constexpr (slots > 1) {
#pragma unroll
    for (int s = 0; s < slots; ++s) shared[t * slots + s] = mine[s];
    __syncthreads();
    // Parts part * slots and the following of one column.
#pragma unroll
    for (int s = 0; s < slots; ++s) mine[s] = shared[(t / width * slots + s) * width + t % width];
    combine_neighbours<Kind>(mine, terms);
  }
  return combine_groups<Kind>(shared, mine[0], width, terms);
}

/// The 8 values of chunks that a thread combines; `at` and those `step` values on, `count` of which are there.
template <class Kind>
__device__ inline typename Kind::value combine_chunk_values(const typename Kind::value* at, int step,
                                                            std::int64_t count, typename Kind::value identity,
                                                            const reduce_terms& terms) {
  typename Kind::value mine[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    mine[i] = identity;
    if (i < count) mine[i] = at[static_cast<std::int64_t>(i) * step];
  }
  combine_neighbours<Kind>(mine, terms);
  return mine[0];
}

// A tile of columns has p.chunks blocks, which take chunks of rows.
template <class Kind>
__global__ void __launch_bounds__(reduce_threads) reduce_columns(column_problem p) {
  using value = typename Kind::value;
  __shared__ value shared[reduce_threads];
  constexpr int slots = Kind::slots, bytes_a_lane = slots == 1 ? 0 : vector_bytes;
  const reduce_problem& r = p.rows;
  const int t = static_cast<int>(threadIdx.x), lane = t % p.lanes, part = t / p.lanes, parts = reduce_threads / p.lanes;
  const unsigned block = block_number();
  const std::int64_t tile = block / p.chunks;
  if (tile >= p.tiles) return;  // the whole block
  const int lane_bytes = bytes_a_lane == 0 ? r.terms.bytes : bytes_a_lane;
  const std::int64_t column_byte = (tile * p.lanes + lane) * lane_bytes, left = (p.cols << r.terms.shift) - column_byte;
  std::int64_t index = block % p.chunks;
  const std::int64_t first = index * p.batches * 8 * parts + part;

  value mine[slots], batch[slots];
  Kind::batch(mine, r, r.in + column_byte, left, first, parts);
#pragma unroll 1
  for (int b = 1; b < p.batches; ++b) {
    const std::int64_t row = first + static_cast<std::int64_t>(b) * 8 * parts;
    if (row >= r.rows) break;
    Kind::batch(batch, r, r.in + column_byte, left, row, parts);
#pragma unroll
    for (int s = 0; s < slots; ++s) mine[s] = Kind::combine(mine[s], batch[s], r.terms);
  }
  value all = combine_parts<Kind>(mine, p.lanes, r.terms);

  // Groups of chunks, then groups of groups: each level has its values after those of the level before.
  const int width = p.lanes * slots, a_group = 8 * (reduce_threads / width), column = t % width;
  value* partials = static_cast<value*>(r.partials);
  std::uint32_t* tickets = r.tickets;
#pragma unroll 1
  for (std::int64_t members = p.chunks; members > 1; members = (members + a_group - 1) / a_group) {
    value* values = partials + tile * members * width;
    if (t < width) values[index * width + t] = all;
    const std::int64_t groups = (members + a_group - 1) / a_group, group = index / a_group;
    const std::int64_t begin = group * a_group, count = members - begin < a_group ? members - begin : a_group;
    __syncthreads();
    std::uint32_t* ticket = tickets + tile * groups + group;
    if (!comes_last(ticket, static_cast<unsigned>(count))) return;
    if (t == 0) *ticket = 0;
    const int own = t / width * 8;
    all = combine_chunk_values<Kind>(values + (begin + own) * width + column, width, count - own, Kind::identity(r),
                                     r.terms);
    all = combine_groups<Kind>(shared, all, width, r.terms);
    partials += p.tiles * members * width;
    tickets += p.tiles * groups;
    index = group;
  }
  const std::int64_t at = tile * width + t;
  if (t < width && at < p.cols) store_result(r.finish, at, all);
}

}  // namespace twill::TWILL_BACKEND::kernels
