#pragma once

// Reductions of a matrix over its rows: one result a column. The tree is fixed by the shape and the element size
// alone, like that of rows (tree.hpp).
//
//   A tile is `lanes` vectors of neighbouring columns wide; a block has 256 / lanes parts. A chunk is `batches` times 8
//   times as many rows as there are parts; row r of it belongs to part r % parts. A part combines its rows 8 at a time
//   as neighbours, and the eights one after another. Then the parts are combined as neighbours, and the chunks as
//   neighbours. What is missing is the operation's identity.
//
// The last block of a group of chunks to finish combines the partials of the group, 256 bytes a thread; groups are
// combined the same way. Exact operations use tiles of single elements and a work mapping of their own.

#include "reduce.hpp"
#include "reduce/column_tree.hpp"

namespace twill::TWILL_BACKEND::kernels {

struct column_problem {
  reduce_problem rows;  ///< stride: bytes from row to row
  std::int64_t cols;
  int lanes;    ///< vectors, or elements, that a tile is wide: a power of two
  int batches;  ///< eights of rows that a part of a chunk combines
  unsigned chunks;
  std::int64_t tiles;
};

// Policies for columns additionally have:
//   batch      8 rows, row, row + step ..., combined pairwise; `left` bytes are valid from `in` on
//   identity   the identity element

/// 8 vectors of rows row, row + step, ...
__device__ inline void load_rows(word16 (&raw)[8], const reduce_problem& p, const unsigned char* at, std::int64_t row,
                                 int step) {
  const std::int64_t row_bytes = step * p.stride;
  if (row + 7 * step < p.rows) {
#pragma unroll
    for (int i = 0; i < 8; ++i, at += row_bytes) raw[i] = *reinterpret_cast<const word16*>(at);
    return;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i, at += row_bytes) {
    raw[i] = vector_of(p.pad);
    if (row + i * step < p.rows) raw[i] = *reinterpret_cast<const word16*>(at);
  }
}

/// Kinds that combine 8 vectors before they unpack the elements: eight_packed(to, raw, row, step, params), of rows row,
/// row + step, ...
template <class Kind, class = void>
inline constexpr bool combines_eight_packed = false;
template <class Kind>
inline constexpr bool combines_eight_packed<Kind, std::enable_if_t<(Kind::packs_eight)>> = true;

/// A vector of columns a lane.
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
      if constexpr (combines_eight_packed<Kind>) {
        Kind::eight_packed(to, raw, row, step, p.params);
      } else if constexpr (Kind::exact && slots > 4) {
        // Not unrolled: compilers would convert all elements of all vectors first and spill.
#pragma unroll 1
        for (int i = 0; i < 8; ++i) {
          add(to, eight, i, raw[0], row + i * step, p.params);
#pragma unroll
          for (int k = 0; k < 7; ++k) raw[k] = raw[k + 1];
        }
      } else {
#pragma unroll
        for (int i = 0; i < 8; ++i) add(to, eight, i, raw[i], row + i * step, p.params);
      }
    } else {
#pragma unroll 1
      for (int i = 0; i < 8; ++i) {
        const std::int64_t at = row + i * step;
        add(to, eight, i, load_misaligned<Kind>(p, in + at * p.stride, at < p.rows ? left : 0), at, p.params);
      }
    }
  }

 private:
  static __device__ void add(value (&to)[slots], eight_sets<Kind, slots>& eight, int i, word16 raw, std::int64_t index,
                             const op_params& params) {
    if constexpr (Kind::exact) {
      value next[slots];
      Kind::vector(next, raw, index, params);
#pragma unroll
      for (int s = 0; s < slots; ++s) to[s] = i == 0 ? next[s] : Kind::combine(to[s], next[s], params);
    } else {
      Kind::vector(to, raw, index, params);
      eight.push(to, i, params);
    }
  }
};

/// 8 elements of a column, out-of-range ones replaced by the identity.
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

/// The bits of 8 elements of 1 to 16 bytes; the halves of 16-byte elements are ORed.
__device__ inline void load_elements(std::uint64_t (&to)[8], const reduce_problem& p, const unsigned char* in,
                                     std::int64_t row, int step) {
  switch (p.params.bytes) {
    case 1:
      return load_column<std::uint8_t>(to, p, in, row, step);
    case 2:
      return load_column<std::uint16_t>(to, p, in, row, step);
    case 4:
      return load_column<std::uint32_t>(to, p, in, row, step);
    default:
      load_column<std::uint64_t>(to, p, in, row, step);
  }
  if (p.params.bytes != 16) return;
  std::uint64_t other[8];
  load_column<std::uint64_t>(other, p, in + 8, row, step);
#pragma unroll
  for (int i = 0; i < 8; ++i) to[i] |= other[i];
}

/// mapped_elements for columns; minimum and maximum of misaligned rows too.
struct mapped_columns : mapped_elements {
  static __device__ value identity(const reduce_problem& p) { return identity_of<mapped_elements>(p); }
  static __device__ void batch(value (&to)[1], const reduce_problem& p, const unsigned char* in, std::int64_t left,
                               std::int64_t row, int step) {
    to[0] = {};
    if (left <= 0) return;
    std::uint64_t bits[8];
    load_elements(bits, p, in, row, step);
#pragma unroll 1
    for (int i = 0; i < 8; ++i) {
      const value one = mapped(bits[0], p.params);
      to[0] = i == 0 ? one : combined(to[0], one, p.params.combine);
#pragma unroll
      for (int k = 0; k < 7; ++k) bits[k] = bits[k + 1];
    }
  }
};

/// Argmin and argmax, for elements of any size.
struct argmin_columns {
  using value = indexed_key;
  static constexpr int slots = 1;
  static constexpr bool exact = true;
  static __device__ value combine(value a, value b, const op_params&) { return argmin(a, b); }
  static __device__ value identity(const reduce_problem&) { return {~std::uint64_t{0}, INT64_MAX / 2}; }
  static __device__ void batch(value (&to)[1], const reduce_problem& p, const unsigned char* in, std::int64_t left,
                               std::int64_t row, int step) {
    to[0] = {};
    if (left <= 0) return;
    std::uint64_t bits[8];
    load_elements(bits, p, in, row, step);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const value one{mapped(bits[i], p.params), row + i * step};
      to[0] = i == 0 ? one : argmin(to[0], one);
    }
  }
};

/// Of `width` values a column group, threads t, t + width, t + 2 * width ... have neighbours: combined in threads below
/// `width`.
template <class Kind>
__device__ inline typename Kind::value combine_groups(typename Kind::value* shared, typename Kind::value mine,
                                                      int width, const op_params& params) {
  const int t = static_cast<int>(threadIdx.x), group = t / width;
#pragma unroll 1
  for (int step = 1; step * width < reduce_threads; step *= 2) {
    __syncthreads();
    shared[t] = mine;
    __syncthreads();
    if (group % (2 * step) == 0) mine = Kind::combine(mine, shared[t + step * width], params);
  }
  return mine;
}

/// The values of a tile's parts combined; those of column `t` of the tile in thread t. Slots of a thread are
/// neighbouring columns.
template <class Kind>
__device__ inline typename Kind::value combine_parts(typename Kind::value (&mine)[Kind::slots], int lanes,
                                                     const op_params& params) {
  // The pitch avoids bank conflicts of neighbouring threads and of neighbouring columns.
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
    combine_neighbours<Kind>(mine, params);
  }
  return combine_groups<Kind>(shared, mine[0], width, params);
}

/// Partials that a thread loads at once: a power of two. It combines twice as many.
template <class Kind>
inline constexpr int chunk_values = detail::column_chunk_bytes / static_cast<int>(sizeof(typename Kind::value));

/// Combines at[0], at[step], ..., of which `count` are valid.
template <class Kind>
__device__ inline typename Kind::value combine_chunk_values(const typename Kind::value* at, int step,
                                                            std::int64_t count, typename Kind::value identity,
                                                            const op_params& params) {
  typename Kind::value all = identity;
#pragma unroll 1
  for (int half = 0; half < 2; ++half, count -= chunk_values<Kind>) {
    typename Kind::value mine[chunk_values<Kind>];
#pragma unroll
    for (int i = 0; i < chunk_values<Kind>; ++i, at += step) {
      mine[i] = identity;
      if (i < count) mine[i] = *at;
    }
    combine_neighbours<Kind>(mine, params);
    all = half == 0 ? mine[0] : Kind::combine(all, mine[0], params);
    if (count <= chunk_values<Kind>) break;
  }
  return all;
}

/// Blocks a multiprocessor that the registers allow; sums of 16 byte-columns need more than 128 VGPRs on AMD: one
/// wave/EU.
template <class Kind, class = void>
inline constexpr int column_blocks =
    blocks_of_accumulators(reduce_threads, Kind::slots > 4 ? (sizeof(typename Kind::value) == 4 ? 3
                                                              : Kind::slots > 8                 ? 1
                                                                                                : 2)
                                                           : (sizeof(typename Kind::value) == 16 ? 3 : 4));
template <class Kind>
inline constexpr int column_blocks<Kind, std::enable_if_t<(Kind::blocks > 0)>> =
    blocks_of_accumulators(reduce_threads, Kind::blocks);

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
  if (tile >= p.tiles) return;  // uniform exit: padding block of the 2-D grid
  wait_then_trigger_dependents();
  const int lane_bytes = bytes_a_lane == 0 ? r.params.bytes : bytes_a_lane;
  const std::int64_t column_byte = (tile * p.lanes + lane) * lane_bytes,
                     left = (p.cols << r.params.shift) - column_byte;
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
    for (int s = 0; s < slots; ++s) mine[s] = Kind::combine(mine[s], batch[s], r.params);
  }
  value all = combine_parts<Kind>(mine, p.lanes, r.params);

  // Groups of chunks, then groups of groups; the partials of each level follow those of the previous one.
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
    if (!is_last_block(ticket, static_cast<unsigned>(count))) return;
    if (t == 0) *ticket = 0;
    const int own = t / width * 2 * chunk_values<Kind>;
    all = combine_chunk_values<Kind>(values + (begin + own) * width + column, width, count - own, Kind::identity(r),
                                     r.params);
    all = combine_groups<Kind>(shared, all, width, r.params);
    partials += p.tiles * members * width;
    tickets += p.tiles * groups;
    index = group;
  }
  const std::int64_t at = tile * width + t;
  if (t < width && at < p.cols) store_result(r.output, at, all);
}

}  // namespace twill::TWILL_BACKEND::kernels
