#pragma once

// Reduces arrays and long rows in one launch. Access: 16-byte vectors, coalesced, 8 independent loads a thread.
// Each block reduces chunks of the tree (tree.hpp) to a partial result; the last block of a row to finish, determined
// by an atomic ticket, combines the partials and resets the ticket for the next call.

#include "epilogue.hpp"
#include "gpu/dependent_launch.hpp"
#include "load_vectors.hpp"
#include "tree.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// How rows map to lanes, warps and blocks.
enum class work_mapping : int {
  vectors,   ///< short rows, several a warp: short_rows.hpp
  medium,    ///< longer rows, several a block: short_rows.hpp
  tasks,     ///< `tasks` blocks share a row
  segments,  ///< a warp a short row, the block a long row
};

/// `rows` arrays, each reduced to one result.
struct reduce_problem {
  const unsigned char* in;
  std::int64_t rows;
  std::int64_t bytes;           ///< of a row
  std::int64_t stride;          ///< bytes from row to row
  const std::int64_t* offsets;  ///< segments: instead of these, row r has elements offsets[r] to offsets[r + 1] - 1
  work_mapping mapping;
  unsigned tasks;
  int chunk_shift;         ///< log2 of the chunks that a task combines
  int width;               ///< lanes of a short row: a power of two up to 32
  int vectors_shift;       ///< log2 of the vectors a lane, up to 8; of medium rows, 2 or 4 a thread
  bool filled;             ///< rows of `vectors` or `medium` fill their lanes
  bool full_vectors;       ///< every row consists of aligned vectors, or is long and begins with one
  bool contiguous;         ///< rows follow each other without gaps
  void* partials;          ///< a value for each task
  std::uint32_t* tickets;  ///< one for each row that tasks share: zero before and after
  std::uint32_t pad[4];    ///< a vector of elements that change nothing
  std::uint32_t empty[4];  ///< a vector that begins with the result of no elements
  op_params params;
  epilogue_params output;
};

inline constexpr int partials_per_thread = 16;
inline constexpr unsigned max_tasks = reduce_threads * partials_per_thread;
/// Rows up to this are short: a warp reads them at once.
inline constexpr std::int64_t short_row_bytes = reduce_threads * vector_bytes;
/// A warp has at most so many short rows.
inline constexpr int short_rows_per_warp = 8 * reduce_lanes;

/// The linear index of this block in the 2-D grid, whose padding blocks exit uniformly.
__device__ inline unsigned block_number() {
  return blockIdx.y * gridDim.x + blockIdx.x;
}

/// What may be read of a row that begins at `row`: other rows too, but no gaps.
__device__ inline byte_range readable_of(const reduce_problem& p, const unsigned char* row) {
  if (p.contiguous) return {p.in, p.in + p.rows * p.stride};
  return {row, row + p.bytes};
}

/// The first vector, if there is any.
__device__ inline vector_place first_vector(const reduce_problem& p) {
  return {p.in, 0, p.rows == 0 ? 0 : valid_bytes(p.bytes)};
}

/// A vector's elements, combined.
template <class Kind>
__device__ inline typename Kind::value vector_value(word16 raw, std::int64_t index, const op_params& params) {
  typename Kind::value slots[Kind::slots];
  Kind::vector(slots, raw, index, params);
  combine_neighbours<Kind>(slots, params);
  return slots[0];
}

/// A row, or a segment, and how it is read. Exact operations begin with the aligned vector that contains its first
/// element; others take vectors from the first element on, since their order counts.
struct row_place {
  const unsigned char* in;  ///< aligned for exact operations
  int head;                 ///< bytes from there to the first element
  std::int64_t bytes;       ///< from `in` on
  byte_range readable;
};

template <class Kind>
__device__ inline row_place place_of(const unsigned char* row, std::int64_t bytes, const byte_range& readable) {
  const int head = Kind::exact ? misalignment(row) : 0;
  return {row - head, head, bytes + head, readable};
}

/// Loads 8 vectors at a stride of `step` bytes from any address, of which `left` bytes follow.
template <class Kind>
__device__ inline void load_misaligned(word16 (&raw)[8], const reduce_problem& p, const row_place& row,
                                       const unsigned char* first, int step, std::int64_t left) {
  const word16 pad = vector_of(p.pad);
  const auto place = [&](int i) { return vector_place{first + i * step, 0, valid_bytes(left - i * step)}; };
  if constexpr (Kind::unit_bytes >= 4) {
    const bool full = left >= 7 * step + vector_bytes;
    load_elements<Kind>(raw, pad, {row.in, 0, valid_bytes(row.bytes)}, full, place);
  } else {
    const std::int64_t last = left > 7 * step ? 7 * step : left <= 0 ? 0 : (left - 1) / step * step;
    if (left <= 0 || first - row.readable.begin < vector_bytes || row.readable.end - first < last + 2 * vector_bytes) {
      return load_edges<Kind>(raw, pad, p.params, place);
    }
    load_realigned<Kind::unit_bytes>(raw, [&](int i) { return first + (i * step <= last ? i * step : 0); });
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (place(i).to < vector_bytes) raw[i] = joined(raw[i], pad, place(i).to);
    }
  }
}

/// This thread's part of the chunk that is `begin` bytes after row.in and has `left` valid bytes: 8 vectors combined
/// element by element, then pairwise.
template <class Kind, bool Aligned>
__device__ inline typename Kind::value chunk_part(const reduce_problem& p, const row_place& row, std::int64_t begin,
                                                  std::int64_t left) {
  constexpr int step = reduce_threads * vector_bytes;
  const int from = static_cast<int>(threadIdx.x) * vector_bytes, elements = step >> p.params.shift;
  const unsigned char* first = row.in + begin + from;
  const std::int64_t index = (begin + from - row.head) >> p.params.shift;
  word16 raw[8];
  if constexpr (Aligned || Kind::exact) {
    load_vectors<Kind>(raw, first, step, begin + from == 0 ? row.head : 0, left - from, vector_of(p.pad), p.params);
  } else {
    load_misaligned<Kind>(raw, p, row, first, step, left - from);
  }
  typename Kind::value set[Kind::slots];
  if constexpr (combines_eight_packed<Kind>) {
    Kind::eight_packed(set, raw, index, elements, p.params);
  } else {
    eight_sets<Kind, Kind::slots> eight;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      Kind::vector(set, raw[i], index + i * elements, p.params);
      eight.push(set, i, p.params);
    }
  }
  combine_neighbours<Kind>(set, p.params);
  return set[0];
}

/// Combines the values of the block's 256 threads; result in thread 0. `shared` may be reused after the second barrier
/// from here.
template <class Kind>
__device__ inline typename Kind::value combine_threads(typename Kind::value* shared, typename Kind::value mine,
                                                       const op_params& params) {
  shared[threadIdx.x] = mine;
  __syncthreads();
  if (threadIdx.x >= reduce_lanes) return mine;
  typename Kind::value parts[reduce_parts];
#pragma unroll
  for (int i = 0; i < reduce_parts; ++i) parts[i] = shared[i * reduce_lanes + threadIdx.x];
  combine_neighbours<Kind>(parts, params);
  return combine_lanes<Kind>(parts[0], params);
}

/// The block combines the bytes `begin` to `end` from row.in on, full chunks except for the last; result in thread 0.
template <class Kind, bool Aligned>
__device__ inline typename Kind::value combine_chunks(const reduce_problem& p, const row_place& row, std::int64_t begin,
                                                      std::int64_t end) {
  using value = typename Kind::value;
  __shared__ value shared[2][reduce_threads];
  __shared__ value levels[48];
  neighbour_stack<Kind> stack(levels);
  value mine{};
  int buffer = 0;
#pragma unroll 1
  for (std::int64_t at = begin; at < end; at += chunk_bytes, buffer ^= 1) {
    const value part = chunk_part<Kind, Aligned>(p, row, at, end - at);
    if (Kind::exact) {
      mine = at == begin ? part : Kind::combine(mine, part, p.params);
    } else {
      mine = combine_threads<Kind>(shared[buffer], part, p.params);
      if (threadIdx.x == 0 && begin + chunk_bytes < end) stack.push(mine, p.params);
    }
  }
  if (Kind::exact) return combine_threads<Kind>(shared[0], mine, p.params);
  return threadIdx.x == 0 && begin + chunk_bytes < end ? stack.all(p.params) : mine;
}

/// `count` values, at most max_tasks, combined as neighbours by the block; in all threads.
template <class Kind>
__device__ inline typename Kind::value combine_partials(const typename Kind::value* partials, unsigned count,
                                                        typename Kind::value identity, const op_params& params) {
  constexpr int warps = reduce_threads / reduce_lanes;
  __shared__ typename Kind::value shared[warps];
  unsigned each = 1;  // partials a thread, a power of two
  while (each * reduce_threads < count) each *= 2;
  typename Kind::value mine[partials_per_thread];
#pragma unroll
  for (unsigned i = 0; i < partials_per_thread; ++i) {
    const unsigned at = threadIdx.x * each + i;
    mine[i] = identity;  // not `?:`, which chooses between addresses of structures, one of them in scratch memory
    if (i < each && at < count) mine[i] = partials[at];
  }
  combine_neighbours<Kind>(mine, params);
  const auto warp = combine_neighbouring_lanes<Kind>(mine[0], params);
  if (threadIdx.x % reduce_lanes == 0) shared[threadIdx.x / reduce_lanes] = warp;
  __syncthreads();
  typename Kind::value all[warps];
#pragma unroll
  for (int i = 0; i < warps; ++i) all[i] = shared[i];
  combine_neighbours<Kind>(all, params);
  return all[0];
}

/// Whether this block is the last of `count` to arrive. Releases what its thread 0 wrote; the last block acquires what
/// all the others wrote.
__device__ inline bool is_last_block(std::uint32_t* ticket, unsigned count) {
  __shared__ bool last;
  if (threadIdx.x == 0) last = take_ticket(ticket) == count - 1;
  __syncthreads();
  return last;
}

template <class Kind>
__device__ inline typename Kind::value identity_of(const reduce_problem& p) {
  return vector_value<Kind>(vector_of(p.pad), INT64_MAX / 2, p.params);
}

/// One task of a row; the last task to finish stores the result.
template <class Kind, bool Aligned>
__device__ inline void reduce_task(const reduce_problem& p, std::int64_t row, unsigned task) {
  using value = typename Kind::value;
  const unsigned char* in = p.in + row * p.stride;
  const row_place place = place_of<Kind>(in, p.bytes, readable_of(p, in));
  const std::int64_t a_task = chunk_bytes << p.chunk_shift, begin = task * a_task;
  value mine = combine_chunks<Kind, Aligned>(p, place, begin, task == p.tasks - 1 ? place.bytes : begin + a_task);
  if (p.tasks > 1) {
    value* partials = static_cast<value*>(p.partials);
    if (threadIdx.x == 0) partials[row * p.tasks + task] = mine;
    if (!is_last_block(p.tickets + row, p.tasks)) return;
    mine = combine_partials<Kind>(partials + row * p.tasks, p.tasks, identity_of<Kind>(p), p.params);
    if (threadIdx.x == 0) p.tickets[row] = 0;
  }
  if (threadIdx.x == 0) store_result(p.output, row, mine);
}

/// Blocks a multiprocessor that the registers of misaligned vectors allow.
template <class Kind>
inline constexpr int misaligned_blocks =
    blocks_of_accumulators(reduce_threads, Kind::unit_bytes < 4 || Kind::exact ? 3 : 4);

// Long rows, one task a block.
template <class Kind, bool Aligned>
__global__ void __launch_bounds__(reduce_threads) reduce_tasks(reduce_problem p) {
  wait_then_trigger_dependents();
  const unsigned block = block_number();
  const std::int64_t row = block / p.tasks;
  if (row < p.rows) reduce_task<Kind, Aligned>(p, row, block % p.tasks);
}

}  // namespace twill::TWILL_BACKEND::kernels
