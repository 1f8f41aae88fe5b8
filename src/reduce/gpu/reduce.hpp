#pragma once

// Reduces arrays, rows and segments in one launch. Access: 16-byte vectors, coalesced, 8 independent loads a thread.
// Each block reduces chunks of the tree (tree.hpp) to a partial result; the last block of a row to finish, determined
// by an atomic ticket, combines the partials and resets the ticket for the next call.

#include "epilogue.hpp"
#include "gpu/dependent_launch.hpp"
#include "tree.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// How rows map to lanes, warps and blocks.
enum class work_mapping : int {
  vectors,   ///< short aligned rows of full vectors, several a warp: short_rows.hpp
  medium,    ///< longer aligned rows of full vectors, several a block: short_rows.hpp
  lanes,     ///< other short rows: `width` lanes a row, 8 rows one after another
  warps,     ///< other short rows: a warp a row
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
  bool packed;             ///< rows of `vectors` or `medium` fill their lanes and are contiguous
  bool aligned;            ///< every row begins at a multiple of 16 bytes
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

__device__ inline word16 vector_of(const std::uint32_t (&words)[4]) {
  return make_word16(words[0], words[1], words[2], words[3]);
}

/// A vector's elements, combined.
template <class Kind>
__device__ inline typename Kind::value vector_value(word16 raw, std::int64_t index, const op_params& params) {
  typename Kind::value slots[Kind::slots];
  Kind::vector(slots, raw, index, params);
  combine_neighbours<Kind>(slots, params);
  return slots[0];
}

/// Loads 8 vectors at a stride of `step` bytes from an aligned row with `left` valid bytes. A predicate between the
/// loads would serialise them, so the one vector that may be partial is loaded separately.
template <class Kind>
__device__ inline void load_vectors(word16 (&raw)[8], const unsigned char* first, int step, std::int64_t left,
                                    word16 pad, const op_params& params) {
  if (left >= 7 * step + vector_bytes) {
#pragma unroll
    for (int i = 0; i < 8; ++i) raw[i] = *reinterpret_cast<const word16*>(first + i * step);
    return;
  }
  const int there = left < 0 ? 0 : static_cast<int>(left), cut = there % step;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    raw[i] = pad;
    if (there - i * step >= vector_bytes) raw[i] = *reinterpret_cast<const word16*>(first + i * step);
  }
  if (cut == 0 || cut >= vector_bytes) return;
  const word16 edge = Kind::edge(first + (there - cut), cut, pad, params);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (there - i * step == cut) raw[i] = edge;
  }
}

/// A vector of a misaligned row with `left` valid bytes.
template <class Kind>
__device__ inline word16 load_misaligned(const reduce_problem& p, const unsigned char* first, std::int64_t left) {
  const word16 pad = vector_of(p.pad);
  return left > 0 ? Kind::edge(first, left < vector_bytes ? left : vector_bytes, pad, p.params) : pad;
}

/// This thread's part of a chunk with `left` valid bytes: 8 vectors combined element by element, then pairwise.
template <class Kind>
__device__ inline typename Kind::value chunk_part(const reduce_problem& p, const unsigned char* chunk,
                                                  std::int64_t left, std::int64_t index, bool aligned) {
  constexpr int step = reduce_threads * vector_bytes;
  const int from = static_cast<int>(threadIdx.x) * vector_bytes, elements = step >> p.params.shift;
  const unsigned char* first = chunk + from;
  index += from >> p.params.shift;
  typename Kind::value set[Kind::slots];
  eight_sets<Kind, Kind::slots> eight;
  if (aligned) {
    word16 raw[8];
    load_vectors<Kind>(raw, first, step, left - from, vector_of(p.pad), p.params);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      Kind::vector(set, raw[i], index + i * elements, p.params);
      eight.push(set, i, p.params);
    }
  } else {
#pragma unroll 1
    for (int i = 0; i < 8; ++i) {
      const word16 raw = load_misaligned<Kind>(p, first + i * step, left - from - i * step);
      Kind::vector(set, raw, index + i * elements, p.params);
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

/// The block combines the bytes `begin` to `end` of a row, full chunks except for the last; result in thread 0.
template <class Kind>
__device__ inline typename Kind::value combine_chunks(const reduce_problem& p, const unsigned char* row,
                                                      std::int64_t begin, std::int64_t end, bool aligned) {
  using value = typename Kind::value;
  __shared__ value shared[2][reduce_threads];
  __shared__ value levels[48];
  neighbour_stack<Kind> stack(levels);
  value mine{};
  int buffer = 0;
#pragma unroll 1
  for (std::int64_t at = begin; at < end; at += chunk_bytes, buffer ^= 1) {
    const value part = chunk_part<Kind>(p, row + at, end - at, at >> p.params.shift, aligned);
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

/// A short row by a warp, 8 vectors a lane; in lane 0.
template <class Kind>
__device__ inline typename Kind::value combine_short_row(const reduce_problem& p, const unsigned char* row,
                                                         std::int64_t bytes, bool aligned) {
  constexpr int step = reduce_lanes * vector_bytes;
  const int from = static_cast<int>(threadIdx.x) % reduce_lanes * vector_bytes;
  const int index = from >> p.params.shift, elements = step >> p.params.shift;
  typename Kind::value parts[8];
  if (aligned) {
    word16 raw[8];
    load_vectors<Kind>(raw, row + from, step, bytes - from, vector_of(p.pad), p.params);
#pragma unroll
    for (int i = 0; i < 8; ++i) parts[i] = vector_value<Kind>(raw[i], index + i * elements, p.params);
    combine_neighbours<Kind>(parts, p.params);
  } else {
    eight_sets<Kind, 1> eight;
#pragma unroll 1
    for (int i = 0; i < 8; ++i) {
      const word16 raw = load_misaligned<Kind>(p, row + from + i * step, bytes - from - i * step);
      typename Kind::value set[1] = {vector_value<Kind>(raw, index + i * elements, p.params)};
      eight.push(set, i, p.params);
      parts[0] = set[0];
    }
  }
  return combine_lanes<Kind>(parts[0], p.params);
}

/// Rows of at most p.width vectors: 8 for each group of p.width lanes.
template <class Kind>
__device__ inline void reduce_lane_rows(const reduce_problem& p) {
  const int t = static_cast<int>(threadIdx.x), lane = t % p.width, groups = reduce_threads / p.width;
  const std::int64_t first = static_cast<std::int64_t>(block_number()) * (groups * 8) + t / p.width;
  const int from = lane * vector_bytes, index = from >> p.params.shift;
  const unsigned char* in = p.in + first * p.stride + from;
  typename Kind::value mine[8];
#pragma unroll 1
  for (int i = 0; i < 8; ++i) {
    const std::int64_t left = first + i * groups < p.rows ? p.bytes - from : 0;
    // Shifted, so that all register indices are compile-time constants.
#pragma unroll
    for (int k = 0; k < 7; ++k) mine[k] = mine[k + 1];
    mine[7] = vector_value<Kind>(load_misaligned<Kind>(p, in + i * groups * p.stride, left), index, p.params);
  }
  for (int step = p.width / 2; step > 0; step /= 2) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      mine[i] = Kind::combine(mine[i], lane_above(mine[i], static_cast<unsigned>(step)), p.params);
    }
  }
#pragma unroll 1
  for (int i = 0; i < 8; ++i) {
    if (lane == 0 && first + i * groups < p.rows) store_result(p.output, first + i * groups, mine[0]);
#pragma unroll
    for (int k = 0; k < 7; ++k) mine[k] = mine[k + 1];
  }
}

/// First byte and size of a row.
struct row_range {
  std::int64_t begin, bytes;
};
__device__ inline row_range range_of(const reduce_problem& p, std::int64_t row) {
  if (p.mapping != work_mapping::segments) return {row * p.stride, p.bytes};
  // Multiplied, not shifted: with decreasing offsets, a contract violation, the difference is negative.
  const std::int64_t size = std::int64_t{1} << p.params.shift;
  return {p.offsets[row] * size, (p.offsets[row + 1] - p.offsets[row]) * size};
}
__device__ inline bool is_aligned(const reduce_problem& p, const row_range& range) {
  return p.aligned && range.begin % vector_bytes == 0;
}

/// The row of this warp, if short.
template <class Kind>
__device__ inline void reduce_warp_row(const reduce_problem& p) {
  const std::int64_t row = static_cast<std::int64_t>(block_number()) * reduce_parts + threadIdx.x / reduce_lanes;
  if (row >= p.rows) return;
  const row_range range = range_of(p, row);
  if (range.bytes > short_row_bytes) return;
  auto mine = combine_short_row<Kind>(p, p.in + range.begin, range.bytes, is_aligned(p, range));
  if (p.mapping == work_mapping::segments && range.bytes <= 0) {
    mine = vector_value<Kind>(vector_of(p.empty), -1, p.params);
  }
  if (threadIdx.x % reduce_lanes == 0) store_result(p.output, row, mine);
}

/// One task of a row; the last task to finish stores the result.
template <class Kind>
__device__ inline void reduce_task(const reduce_problem& p, const row_range& range, std::int64_t row, unsigned task) {
  using value = typename Kind::value;
  const std::int64_t a_task = chunk_bytes << p.chunk_shift, begin = task * a_task, rest = range.bytes - begin;
  value mine = combine_chunks<Kind>(p, p.in + range.begin, begin, begin + (rest < a_task ? rest : a_task), p.aligned);
  if (p.tasks > 1) {
    value* partials = static_cast<value*>(p.partials);
    if (threadIdx.x == 0) partials[row * p.tasks + task] = mine;
    if (!is_last_block(p.tickets + row, p.tasks)) return;
    mine = combine_partials<Kind>(partials + row * p.tasks, p.tasks, identity_of<Kind>(p), p.params);
    if (threadIdx.x == 0) p.tickets[row] = 0;
  }
  if (threadIdx.x == 0) store_result(p.output, row, mine);
}

// Long rows, one task a block. A kernel of its own: the other mappings need more registers and lower its occupancy.
template <class Kind>
__global__ void __launch_bounds__(reduce_threads) reduce_tasks(reduce_problem p) {
  wait_then_trigger_dependents();
  const unsigned block = block_number();
  const std::int64_t row = block / p.tasks;
  if (row < p.rows) reduce_task<Kind>(p, {row * p.stride, p.bytes}, row, block % p.tasks);
}

// Short rows, and segments of any length: 8 a block, long segments by the entire block.
template <class Kind>
__global__ void __launch_bounds__(reduce_threads) reduce_rows(reduce_problem p) {
  wait_then_trigger_dependents();
  if (p.mapping == work_mapping::lanes) return reduce_lane_rows<Kind>(p);
  reduce_warp_row<Kind>(p);
  if (p.mapping == work_mapping::warps) return;
  const std::int64_t first = static_cast<std::int64_t>(block_number()) * reduce_parts;
  const std::int64_t end = first + reduce_parts < p.rows ? first + reduce_parts : p.rows;
#pragma unroll 1
  for (std::int64_t row = first; row < end; ++row) {
    const row_range range = range_of(p, row);
    if (range.bytes <= short_row_bytes) continue;
    __syncthreads();
    const auto all = combine_chunks<Kind>(p, p.in + range.begin, 0, range.bytes, is_aligned(p, range));
    if (threadIdx.x == 0) store_result(p.output, row, all);
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
