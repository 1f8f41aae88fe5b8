#pragma once

// Reductions of a matrix over its rows: one result a column. The tree is fixed by the shape and the element's size
// alone, as that of rows (reduce_tree.hpp).
//
//   A tile is `lanes` vectors of neighbouring columns wide; a block has 256 / lanes parts. A chunk is `batches` times 8
//   times as many rows as there are parts; row r of it belongs to part r % parts. A part combines its rows 8 at a time
//   as neighbours, and the eights one after another. Then the parts are combined as neighbours, and the chunks as
//   neighbours. What is missing is the operation's identity.
//
// Of chunks, the block that comes last of a group combines those of the group, 256 bytes a thread, and the groups
// likewise. Operations whose order does not matter have tiles of single elements, and a plan of their own.

#include "reduce.hpp"

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

/// 8 vectors, `far` bytes apart, of rows that are `step` apart.
__device__ inline void load_rows(word16 (&raw)[8], const reduce_problem& p, const unsigned char* at, std::int64_t row,
                                 int step) {
  const std::int64_t far = step * p.stride;
  if (row + 7 * step < p.rows) {
#pragma unroll
    for (int i = 0; i < 8; ++i, at += far) raw[i] = *reinterpret_cast<const word16*>(at);
    return;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i, at += far) {
    raw[i] = vector_of(p.pad);
    if (row + i * step < p.rows) raw[i] = *reinterpret_cast<const word16*>(at);
  }
}

/// Of whole vectors.
template <class Kind>
struct vector_columns : Kind {
  using value = typename Kind::value;
  static constexpr int slots = Kind::slots;
  static __device__ value identity(const reduce_problem& p) { return identity_of<Kind>(p); }

  static __device__ void batch(value (&to)[slots], const reduce_problem& p, const unsigned char* in, std::int64_t left,
                               std::int64_t row, int step) {
    eight_sets<Kind, slots> eight;
    if (p.aligned && left >= vector_bytes) {
      word16 raw[8];
      load_rows(raw, p, in + row * p.stride, row, step);
      if constexpr (Kind::exact && slots > 4 && sizeof(value) == 8) {
        Kind::eight_narrow(to, raw, p.terms);
      } else if constexpr (Kind::exact && slots > 4) {
        // Unrolled, compilers make all elements of all vectors into values first, for which registers do not suffice.
#pragma unroll 1
        for (int i = 0; i < 8; ++i) {
          add(to, eight, i, raw[0], row + i * step, p.terms);
#pragma unroll
          for (int k = 0; k < 7; ++k) raw[k] = raw[k + 1];
        }
      } else {
#pragma unroll
        for (int i = 0; i < 8; ++i) add(to, eight, i, raw[i], row + i * step, p.terms);
      }
    } else {
#pragma unroll 1
      for (int i = 0; i < 8; ++i) {
        const std::int64_t at = row + i * step;
        add(to, eight, i, any_vector<Kind>(p, in + at * p.stride, at < p.rows ? left : 0), at, p.terms);
      }
    }
  }

 private:
  static __device__ void add(value (&to)[slots], eight_sets<Kind, slots>& eight, int i, word16 raw, std::int64_t place,
                             const reduce_terms& terms) {
    if constexpr (Kind::exact) {
      value next[slots];
      Kind::vector(next, raw, place, terms);
#pragma unroll
      for (int s = 0; s < slots; ++s) to[s] = i == 0 ? next[s] : Kind::combine(to[s], next[s], terms);
    } else {
      Kind::vector(to, raw, place, terms);
      eight.push(to, i, terms);
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
  // Slots lie so far apart that neither neighbouring threads nor neighbouring columns meet in a bank.
  constexpr int slots = Kind::slots, banks = 128 / static_cast<int>(sizeof(typename Kind::value));
  constexpr int pitch = reduce_threads + (slots == 1 ? 0 : banks / slots);
  __shared__ typename Kind::value shared[slots * pitch];
  const int t = static_cast<int>(threadIdx.x), width = lanes * slots;
  if constexpr (slots > 1) {
#pragma unroll
    for (int s = 0; s < slots; ++s) shared[s * pitch + t] = mine[s];
    __syncthreads();
    // Parts part * slots and the following of one column.
    const int column = t % width, part = t / width * slots;
    const int at = column % slots * pitch + part * lanes + column / slots;
#pragma unroll
    for (int s = 0; s < slots; ++s) mine[s] = shared[at + s * lanes];
    combine_neighbours<Kind>(mine, terms);
  }
  return combine_groups<Kind>(shared, mine[0], width, terms);
}

/// Values of chunks that a thread loads at once: a power of two, 128 bytes of them. It combines two times as many.
template <class Kind>
inline constexpr int chunk_values = 128 / static_cast<int>(sizeof(typename Kind::value));

/// These: `at` and those `step` values on, `count` of which are there.
template <class Kind>
__device__ inline typename Kind::value combine_chunk_values(const typename Kind::value* at, int step,
                                                            std::int64_t count, typename Kind::value identity,
                                                            const reduce_terms& terms) {
  typename Kind::value all = identity;
#pragma unroll 1
  for (int half = 0; half < 2; ++half, count -= chunk_values<Kind>) {
    typename Kind::value mine[chunk_values<Kind>];
#pragma unroll
    for (int i = 0; i < chunk_values<Kind>; ++i, at += step) {
      mine[i] = identity;
      if (i < count) mine[i] = *at;
    }
    combine_neighbours<Kind>(mine, terms);
    all = half == 0 ? mine[0] : Kind::combine(all, mine[0], terms);
    if (count <= chunk_values<Kind>) break;
  }
  return all;
}

/// Blocks at once that registers leave room for; the sums of 16 bytes take more than half of an AMD GPU's.
template <class Kind>
inline constexpr int column_blocks =
    blocks_at_once(reduce_threads, Kind::slots > 4 ? (sizeof(typename Kind::value) == 4 ? 3
                                                      : Kind::slots > 8                 ? 1
                                                                                        : 2)
                                                   : (sizeof(typename Kind::value) == 16 ? 3 : 4));

// A tile of columns has p.chunks blocks, which take chunks of rows.
template <class Kind>
__global__ void __launch_bounds__(reduce_threads, column_blocks<Kind>) reduce_columns(column_problem p) {
  using value = typename Kind::value;
  __shared__ value shared[reduce_threads];
  constexpr int slots = Kind::slots, bytes_a_lane = slots == 1 ? 0 : vector_bytes;
  const reduce_problem& r = p.rows;
  const unsigned lanes = static_cast<unsigned>(p.lanes), block = block_number();
  const int t = static_cast<int>(threadIdx.x), lane = static_cast<int>(threadIdx.x % lanes);
  const int part = static_cast<int>(threadIdx.x / lanes), parts = static_cast<int>(reduce_threads / lanes);
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
  const int width = p.lanes * slots, a_group = 2 * chunk_values<Kind> * (reduce_threads / width), column = t % width;
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
    const int own = t / width * 2 * chunk_values<Kind>;
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
