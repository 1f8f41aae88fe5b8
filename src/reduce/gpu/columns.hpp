#pragma once

// Reductions of a matrix over its rows: one result a column. The tree is fixed by the shape, the element size and
// whether there are gaps between rows; that of rows is tree.hpp.
//
//   A tile is `lanes` vectors of neighbouring columns wide; a block has 256 / lanes parts. A chunk is `batches` times 8
//   times as many rows as there are parts; row r of it belongs to part r % parts. A part combines its rows 8 at a time
//   as neighbours, and the eights one after another. Then the parts are combined as neighbours, and the chunks as
//   neighbours. What is missing is the operation's identity. Where short rows without gaps do not fill vectors, a power
//   of two of them counts as one row, a fold; at the end the rows that do not fill a fold follow, and the columns of a
//   fold are combined as neighbours. Folds and widths of tiles: reduce/column_tree.hpp.
//
// The last block of a group of chunks to finish combines the partials of the group, 256 bytes a thread; groups are
// combined the same way. Exact operations choose the tree by the device.

#include "reduce.hpp"
#include "reduce/column_tree.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// How the rows of a matrix lie to vectors of 16 bytes.
enum class row_alignment : int {
  full_vectors,    ///< each consists of aligned ones
  alike_in_parts,  ///< those of a part begin at the same distance behind one
  any,
};

struct column_problem {
  reduce_problem rows;
  std::int64_t results;  ///< columns of the matrix
  std::int64_t cols;     ///< of a fold
  int fold = 1;          ///< rows of the matrix that one of `rows` consists of
  int rest = 0;          ///< elements that do not fill a fold
  int lanes = 1;         ///< vectors that a tile is wide: a power of two
  int batches = 1;       ///< eights of rows that a part of a chunk combines
  unsigned chunks = 1;
  std::int64_t tiles = 1;
  row_alignment alignment = row_alignment::any;
};

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

/// Of contiguous rows: whether `bytes` bytes, `before` bytes after the begin of each of the rows row, row + step ...
/// that are there, of 8 and at least one, may be read.
__device__ inline bool are_inside(const reduce_problem& p, std::int64_t before, int bytes, std::int64_t row, int step) {
  if (row >= p.rows) return false;
  if (before >= 0 && before + bytes <= p.bytes) return true;
  const std::int64_t end = row + 7 * step, last = end < p.rows ? end : p.rows - 1;
  return row * p.stride + before >= 0 && last * p.stride + before + bytes <= p.rows * p.stride;
}

/// 8 vectors, at any address, of rows row, row + step, ...
template <class Kind, row_alignment Alignment>
__device__ inline void load_misaligned_columns(word16 (&raw)[8], const reduce_problem& p, std::int64_t before,
                                               std::int64_t left, std::int64_t row, int step) {
  const word16 pad = vector_of(p.pad);
  const auto place = [&](int i) {
    const std::int64_t at = row + i * step;
    return vector_place{p.in + at * p.stride + before, before < 0 ? static_cast<int>(-before) : 0,
                        at < p.rows ? valid_bytes(left) : 0};
  };
  if constexpr (Alignment == row_alignment::any && Kind::unit_bytes >= 4) {
    load_elements<Kind>(raw, pad, first_vector(p), left >= vector_bytes && row + 7 * step < p.rows, place);
  } else if (Alignment == row_alignment::any && p.contiguous &&
             are_inside(p, before - vector_bytes, 3 * vector_bytes, row, step)) {
    load_realigned<Kind::unit_bytes>(
        raw, [&](int i) { return p.in + before + (row + i * step < p.rows ? row + i * step : row) * p.stride; });
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (row + i * step >= p.rows) raw[i] = pad;
    }
  } else {
    load_edges<Kind>(raw, pad, p.params, place);
  }
}

/// A vector of columns a lane.
template <class Kind>
struct vector_columns : Kind {
  using value = typename Kind::value;
  static constexpr int slots = Kind::slots;
  static __device__ value identity(const reduce_problem& p) { return identity_of<Kind>(p); }

  /// Of rows row, row + step ... the vector `before` bytes after their begin. For parts it begins as much before the
  /// tile as the rows of the part begin behind a vector.
  template <row_alignment Alignment>
  static __device__ void batch(value (&to)[slots], const reduce_problem& p, std::int64_t before, std::int64_t left,
                               std::int64_t row, int step) {
    eight_sets<Kind, slots> eight;
    word16 raw[8];
    if (Alignment == row_alignment::full_vectors ||
        (Alignment == row_alignment::alike_in_parts &&
         (left <= 0 || row >= p.rows || are_inside(p, before, vector_bytes, row, step)))) {
      load_rows(raw, p, p.in + before + row * p.stride, left > 0 ? row : p.rows, step);
    } else {
      load_misaligned_columns<Kind, Alignment>(raw, p, before, left, row, step);
    }
    if constexpr (combines_eight_packed<Kind>) {
      Kind::eight_packed(to, raw, row, step, p.params);
    } else {
#pragma unroll
      for (int i = 0; i < 8; ++i) add(to, eight, i, raw[i], row + i * step, p.params);
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

/// Of `groups` groups of `width` values, threads t, t + width, t + 2 * width ... have neighbours: combined in threads
/// below `width`.
template <class Kind>
__device__ inline typename Kind::value combine_groups(typename Kind::value* shared, typename Kind::value mine,
                                                      int width, int groups, const op_params& params) {
  const int t = static_cast<int>(threadIdx.x), group = t / width;
#pragma unroll 1
  for (int step = 1; step < groups; step *= 2) {
    __syncthreads();
    shared[t] = mine;
    __syncthreads();
    if (group % (2 * step) == 0 && group < groups) mine = Kind::combine(mine, shared[t + step * width], params);
  }
  return mine;
}

/// A value of row `row` of a fold as one of the matrix.
template <class Value>
__device__ inline Value unfolded(Value value, int /*fold*/, int /*row*/) {
  return value;
}
__device__ inline indexed_key unfolded(indexed_key value, int fold, int row) {
  return {value.key, value.index * fold + row};
}

/// Shared memory for the slots of all threads. The pitch avoids bank conflicts of neighbouring threads and of
/// neighbouring columns.
template <class Kind>
struct shared_slots {
  static constexpr int banks = 128 / static_cast<int>(sizeof(typename Kind::value));
  static constexpr int pitch = reduce_threads + (Kind::slots == 1 ? 0 : banks / Kind::slots);
  typename Kind::value at[Kind::slots * pitch];

  __device__ void store(const typename Kind::value (&mine)[Kind::slots]) {
#pragma unroll
    for (int s = 0; s < Kind::slots; ++s) at[s * pitch + threadIdx.x] = mine[s];
    __syncthreads();
  }
};

/// The values of a tile's parts combined; those of column `t` of the tile in thread t. Slots of a thread are
/// neighbouring columns.
template <class Kind, row_alignment Alignment>
__device__ inline typename Kind::value combine_parts(shared_slots<Kind>& shared,
                                                     typename Kind::value (&mine)[Kind::slots],
                                                     const column_problem& p) {
  constexpr int slots = Kind::slots;
  const op_params& params = p.rows.params;
  const int t = static_cast<int>(threadIdx.x), width = p.lanes * slots;
  if constexpr (slots > 1) {
    // Parts part * slots and the following of one column.
    const int column = t % width, part = t / width * slots;
    const int at = column % slots * shared.pitch + part * p.lanes + column / slots;
#pragma unroll
    for (int s = 0; s < slots; ++s) {
      if (Alignment == row_alignment::alike_in_parts) {
        const int ahead = misalignment(p.rows.in + (part + s) * p.rows.stride) >> params.shift;
        const int from = column + ahead < width ? column + ahead : width - 1;  // or beyond the tile
        mine[s] = shared.at[from % slots * shared.pitch + (part + s) * p.lanes + from / slots];
      } else {
        mine[s] = shared.at[at + s * p.lanes];
      }
    }
    combine_neighbours<Kind>(mine, params);
  }
  return combine_groups<Kind>(shared.at, mine[0], width, reduce_threads / width, params);
}

/// The columns of folded rows, one a thread, and of the rest: combined for the columns of the matrix in threads below
/// their number.
template <class Kind>
__device__ inline typename Kind::value combine_folds(shared_slots<Kind>& shared, typename Kind::value mine,
                                                     const column_problem& p) {
  const reduce_problem& r = p.rows;
  const int t = static_cast<int>(threadIdx.x), cols = static_cast<int>(p.results);
  if (t < p.rest) {
    const unsigned char* at = r.in + r.rows * r.stride + (t << r.params.shift);
    typename Kind::value set[Kind::slots];
    Kind::vector(set, Kind::edge(at, 0, r.params.bytes, vector_of(r.pad), r.params), r.rows, r.params);
    mine = Kind::combine(mine, set[0], r.params);
  }
  if (t < p.cols) mine = unfolded(mine, p.fold, t / cols);
  return combine_groups<Kind>(shared.at, mine, cols, p.fold, r.params);
}

/// Stores a tile of more columns than threads, which has fewer parts than slots, from the values of its parts.
template <class Kind>
__device__ inline void store_wide_tile(const shared_slots<Kind>& shared, const column_problem& p, std::int64_t tile) {
  constexpr int slots = Kind::slots, most_parts = slots > 1 ? slots / 2 : 1;
  const int width = p.lanes * slots, parts = reduce_threads / p.lanes;
  const std::int64_t first = tile * width, left = p.cols - first;
#pragma unroll 1
  for (int column = static_cast<int>(threadIdx.x); column < width && column < left; column += reduce_threads) {
    const typename Kind::value* at = &shared.at[column % slots * shared.pitch + column / slots];
    typename Kind::value all[most_parts];
#pragma unroll
    for (int i = 0; i < most_parts; ++i) all[i] = at[i < parts ? i * p.lanes : 0];
#pragma unroll
    for (int step = 1; step < most_parts; step *= 2) {
#pragma unroll
      for (int i = 0; i < most_parts; i += 2 * step) {
        if (i + step < parts) all[i] = Kind::combine(all[i], all[i + step], p.rows.params);
      }
    }
    store_result(p.rows.output, first + column, all[0]);
  }
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

/// Blocks a multiprocessor that the registers allow, of kinds that do not say how many.
template <class Kind, class = void>
inline constexpr int column_blocks =
    blocks_of_accumulators(reduce_threads, Kind::slots > 4 ? (sizeof(typename Kind::value) == 4 ? 3
                                                              : Kind::slots > 8                 ? 1
                                                                                                : 2)
                                                           : (sizeof(typename Kind::value) == 16 ? 3 : 4));
template <class Kind>
inline constexpr int column_blocks<Kind, std::enable_if_t<(Kind::blocks > 0)>> =
    blocks_of_accumulators(reduce_threads, Kind::blocks);

template <class Kind, row_alignment Alignment>
inline constexpr int column_blocks_of =
    Alignment == row_alignment::full_vectors ? column_blocks<Kind>
    : Alignment == row_alignment::alike_in_parts
        ? (Kind::exact && column_blocks<Kind> > 1 ? column_blocks<Kind> - 1 : column_blocks<Kind>)
        : blocks_of_accumulators(reduce_threads,
                                 Kind::exact || Kind::unit_bytes < 4 || sizeof(typename Kind::value) == 16 ? 2 : 3);

/// A thread's rows of a chunk, from `first` on, eight by eight; `before`: bytes of a row before its vector.
template <class Kind, row_alignment Alignment>
__device__ inline void combine_batches(typename Kind::value (&mine)[Kind::slots], const column_problem& p,
                                       std::int64_t before, std::int64_t first, int parts) {
  const reduce_problem& r = p.rows;
  const std::int64_t left = r.bytes - before;
  typename Kind::value batch[Kind::slots];
  Kind::template batch<Alignment>(mine, r, before, left, first, parts);
#pragma unroll 1
  for (int b = 1; b < p.batches; ++b) {
    const std::int64_t row = first + static_cast<std::int64_t>(b) * 8 * parts;
    if (row >= r.rows) break;
    Kind::template batch<Alignment>(batch, r, before, left, row, parts);
#pragma unroll
    for (int s = 0; s < Kind::slots; ++s) mine[s] = Kind::combine(mine[s], batch[s], r.params);
  }
}

// A tile of columns has p.chunks blocks, which take chunks of rows.
template <class Kind, row_alignment Alignment>
__global__ void __launch_bounds__(reduce_threads, (column_blocks_of<Kind, Alignment>))
    reduce_columns(column_problem p) {
  using value = typename Kind::value;
  __shared__ shared_slots<Kind> shared;
  constexpr int slots = Kind::slots;
  const reduce_problem& r = p.rows;
  const unsigned lanes = static_cast<unsigned>(p.lanes), block = block_number();
  const int t = static_cast<int>(threadIdx.x), lane = static_cast<int>(threadIdx.x % lanes);
  const int part = static_cast<int>(threadIdx.x / lanes), parts = static_cast<int>(reduce_threads / lanes);
  const std::int64_t tile = block / p.chunks;
  if (tile >= p.tiles) return;  // uniform exit: padding block of the 2-D grid
  wait_then_trigger_dependents();
  constexpr int shift = Alignment == row_alignment::alike_in_parts ? 1 : 0;
  const int tile_vectors = p.lanes - shift;
  const std::int64_t before =
      (tile * tile_vectors + lane) * vector_bytes - shift * misalignment(r.in + part * r.stride);
  std::int64_t index = block % p.chunks;
  const std::int64_t first = index * p.batches * 8 * parts + part;

  value mine[slots];
  combine_batches<Kind, Alignment>(mine, p, before, first, parts);
  if constexpr (slots > 1) shared.store(mine);
  if (p.lanes * slots > reduce_threads) return store_wide_tile<Kind>(shared, p, tile);
  value all = combine_parts<Kind, Alignment>(shared, mine, p);

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
    all = combine_groups<Kind>(shared.at, all, width, reduce_threads / width, r.params);
    partials += p.tiles * members * width;
    tickets += p.tiles * groups;
    index = group;
  }
  if (Alignment != row_alignment::alike_in_parts && p.fold > 1) all = combine_folds<Kind>(shared, all, p);
  const std::int64_t at = tile * tile_vectors * slots + t;
  if (t < tile_vectors * slots && at < p.results) store_result(r.output, at, all);
}

}  // namespace twill::TWILL_BACKEND::kernels
