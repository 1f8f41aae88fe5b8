#pragma once

// Reductions of arrays, rows and segments in one launch: blocks combine chunks of the tree (reduce_tree.hpp), and the
// block of a row that finishes last combines what the others left. It finds out by a ticket, a counter that it sets
// back to zero for the next call.

#include "epilogue.hpp"
#include "tree.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// How the rows are dealt out to blocks.
enum class reduce_deal : int {
  vectors,   ///< short rows of whole vectors, several a warp: reduce_short_rows.hpp
  medium,    ///< longer rows of whole vectors, several a block: likewise
  lanes,     ///< other short rows: `width` lanes have one, 8 after each other
  warps,     ///< other short rows: a warp has one
  tasks,     ///< `tasks` blocks share a row
  segments,  ///< a warp has each short row, the block together each long one
};

/// `rows` arrays, each reduced to one result.
struct reduce_problem {
  const unsigned char* in;
  std::int64_t rows;
  std::int64_t bytes;           ///< of a row
  std::int64_t stride;          ///< bytes from row to row
  const std::int64_t* offsets;  ///< segments: instead of these, row r has elements offsets[r] to offsets[r + 1] - 1
  reduce_deal deal;
  unsigned tasks;
  int chunk_shift;         ///< log2 of the chunks that a task combines
  int width;               ///< lanes that a short row has: a power of two up to 32
  int vectors_shift;       ///< log2 of the vectors that each of these has, up to 8; of medium rows, 2 or 4 a thread
  bool packed;             ///< rows of `vectors` or `medium` fill their lanes, and follow each other without gaps
  bool aligned;            ///< every row begins at a multiple of 16 bytes
  void* partials;          ///< a value for each task
  std::uint32_t* tickets;  ///< one for each row that tasks share: zero before and after
  std::uint32_t pad[4];    ///< a vector of elements that change nothing
  std::uint32_t empty[4];  ///< a vector that begins with the result of no elements
  reduce_terms terms;
  reduce_finish finish;
};

inline constexpr int partials_a_thread = 16;
inline constexpr unsigned most_tasks = reduce_threads * partials_a_thread;
/// Rows up to this are short: a warp reads them at once.
inline constexpr std::int64_t short_row_bytes = reduce_threads * vector_bytes;
/// A warp has at most so many short rows.
inline constexpr int short_rows_a_warp = 8 * reduce_lanes;

/// The number of this block in the grid, which is a rectangle: blocks behind the last one have nothing to do.
__device__ inline unsigned block_number() {
  return blockIdx.y * gridDim.x + blockIdx.x;
}

__device__ inline word16 vector_of(const std::uint32_t (&words)[4]) {
  return make_word16(words[0], words[1], words[2], words[3]);
}

/// A vector's elements, combined.
template <class Kind>
__device__ inline typename Kind::value vector_value(word16 raw, std::int64_t place, const reduce_terms& terms) {
  typename Kind::value slots[Kind::slots];
  Kind::vector(slots, raw, place, terms);
  combine_neighbours<Kind>(slots, terms);
  return slots[0];
}

/// Loads 8 vectors, `step` bytes apart, of an aligned row of which `left` bytes are there from the first on. Branches
/// between the loads would serialise them, so the one vector that may be cut is fetched apart.
template <class Kind>
__device__ inline void load_vectors(word16 (&raw)[8], const unsigned char* first, int step, std::int64_t left,
                                    word16 pad, const reduce_terms& terms) {
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
  const word16 edge = Kind::edge(first + (there - cut), cut, pad, terms);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (there - i * step == cut) raw[i] = edge;
  }
}

/// Vector `i` of those that are `step` bytes apart in a row that begins anywhere, of which `left` bytes are there.
template <class Kind>
__device__ inline word16 any_vector(const reduce_problem& p, const unsigned char* first, std::int64_t left) {
  const word16 pad = vector_of(p.pad);
  return left > 0 ? Kind::edge(first, left < vector_bytes ? left : vector_bytes, pad, p.terms) : pad;
}

/// This thread's part of a chunk, of which `left` bytes are there: its 8 vectors, combined element by element, and
/// these as neighbours.
template <class Kind>
__device__ inline typename Kind::value chunk_part(const reduce_problem& p, const unsigned char* chunk,
                                                  std::int64_t left, std::int64_t place, bool aligned) {
  constexpr int step = reduce_threads * vector_bytes;
  const int from = static_cast<int>(threadIdx.x) * vector_bytes, elements = step >> p.terms.shift;
  const unsigned char* first = chunk + from;
  place += from >> p.terms.shift;
  typename Kind::value set[Kind::slots];
  eight_sets<Kind, Kind::slots> eight;
  if (aligned) {
    word16 raw[8];
    load_vectors<Kind>(raw, first, step, left - from, vector_of(p.pad), p.terms);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      Kind::vector(set, raw[i], place + i * elements, p.terms);
      eight.push(set, i, p.terms);
    }
  } else {
#pragma unroll 1
    for (int i = 0; i < 8; ++i) {
      const word16 raw = any_vector<Kind>(p, first + i * step, left - from - i * step);
      Kind::vector(set, raw, place + i * elements, p.terms);
      eight.push(set, i, p.terms);
    }
  }
  combine_neighbours<Kind>(set, p.terms);
  return set[0];
}

/// The values of a block's 256 threads, parts and lanes, combined; in thread 0. `shared` may be written again after the
/// next barrier but one.
template <class Kind>
__device__ inline typename Kind::value combine_threads(typename Kind::value* shared, typename Kind::value mine,
                                                       const reduce_terms& terms) {
  shared[threadIdx.x] = mine;
  __syncthreads();
  if (threadIdx.x >= reduce_lanes) return mine;
  typename Kind::value parts[reduce_parts];
#pragma unroll
  for (int i = 0; i < reduce_parts; ++i) parts[i] = shared[i * reduce_lanes + threadIdx.x];
  combine_neighbours<Kind>(parts, terms);
  return combine_lanes<Kind>(parts[0], terms);
}

/// The bytes `begin` to `end` of a row, whole chunks but for the last, combined by the block; in thread 0.
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
    const value part = chunk_part<Kind>(p, row + at, end - at, at >> p.terms.shift, aligned);
    if (Kind::exact) {
      mine = at == begin ? part : Kind::combine(mine, part, p.terms);
    } else {
      mine = combine_threads<Kind>(shared[buffer], part, p.terms);
      if (threadIdx.x == 0 && begin + chunk_bytes < end) stack.push(mine, p.terms);
    }
  }
  if (Kind::exact) return combine_threads<Kind>(shared[0], mine, p.terms);
  return threadIdx.x == 0 && begin + chunk_bytes < end ? stack.all(p.terms) : mine;
}

/// `count` values, at most most_tasks, combined as neighbours by the block; in all threads.
template <class Kind>
__device__ inline typename Kind::value combine_partials(const typename Kind::value* partials, unsigned count,
                                                        typename Kind::value identity, const reduce_terms& terms) {
  constexpr int warps = reduce_threads / reduce_lanes;
  __shared__ typename Kind::value shared[warps];
  unsigned each = 1;  // partials a thread, a power of two
  while (each * reduce_threads < count) each *= 2;
  typename Kind::value mine[partials_a_thread];
#pragma unroll
  for (unsigned i = 0; i < partials_a_thread; ++i) {
    const unsigned at = threadIdx.x * each + i;
    mine[i] = i < each && at < count ? partials[at] : identity;
  }
  combine_neighbours<Kind>(mine, terms);
  const auto warp = combine_neighbouring_lanes<Kind>(mine[0], terms);
  if (threadIdx.x % reduce_lanes == 0) shared[threadIdx.x / reduce_lanes] = warp;
  __syncthreads();
  typename Kind::value all[warps];
#pragma unroll
  for (int i = 0; i < warps; ++i) all[i] = shared[i];
  combine_neighbours<Kind>(all, terms);
  return all[0];
}

/// Whether this block is the last of `count` to come here, with what its thread 0 wrote before; it then sees what all
/// the others wrote.
__device__ inline bool comes_last(std::uint32_t* ticket, unsigned count) {
  __shared__ bool last;
  if (threadIdx.x == 0) last = take_ticket(ticket) == count - 1;
  __syncthreads();
  return last;
}

template <class Kind>
__device__ inline typename Kind::value identity_of(const reduce_problem& p) {
  return vector_value<Kind>(vector_of(p.pad), INT64_MAX / 2, p.terms);
}

/// A short row by a warp, 8 vectors a lane; in lane 0.
template <class Kind>
__device__ inline typename Kind::value combine_short_row(const reduce_problem& p, const unsigned char* row,
                                                         std::int64_t bytes, bool aligned) {
  constexpr int step = reduce_lanes * vector_bytes;
  const int from = static_cast<int>(threadIdx.x) % reduce_lanes * vector_bytes;
  const int place = from >> p.terms.shift, elements = step >> p.terms.shift;
  typename Kind::value parts[8];
  if (aligned) {
    word16 raw[8];
    load_vectors<Kind>(raw, row + from, step, bytes - from, vector_of(p.pad), p.terms);
#pragma unroll
    for (int i = 0; i < 8; ++i) parts[i] = vector_value<Kind>(raw[i], place + i * elements, p.terms);
    combine_neighbours<Kind>(parts, p.terms);
  } else {
    eight_sets<Kind, 1> eight;
#pragma unroll 1
    for (int i = 0; i < 8; ++i) {
      const word16 raw = any_vector<Kind>(p, row + from + i * step, bytes - from - i * step);
      typename Kind::value set[1] = {vector_value<Kind>(raw, place + i * elements, p.terms)};
      eight.push(set, i, p.terms);
      parts[0] = set[0];
    }
  }
  return combine_lanes<Kind>(parts[0], p.terms);
}

/// Short rows of p.width vectors or less: 8 in each group of so many lanes.
template <class Kind>
__device__ inline void reduce_lane_rows(const reduce_problem& p) {
  const int t = static_cast<int>(threadIdx.x), lane = t % p.width, groups = reduce_threads / p.width;
  const std::int64_t first = static_cast<std::int64_t>(block_number()) * (groups * 8) + t / p.width;
  const int from = lane * vector_bytes, place = from >> p.terms.shift;
  const unsigned char* in = p.in + first * p.stride + from;
  typename Kind::value mine[8];
#pragma unroll 1
  for (int i = 0; i < 8; ++i) {
    const std::int64_t left = first + i * groups < p.rows ? p.bytes - from : 0;
    // The oldest leaves, so that no index is unknown to the compiler.
#pragma unroll
    for (int k = 0; k < 7; ++k) mine[k] = mine[k + 1];
    mine[7] = vector_value<Kind>(any_vector<Kind>(p, in + i * groups * p.stride, left), place, p.terms);
  }
  for (int step = p.width / 2; step > 0; step /= 2) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      mine[i] = Kind::combine(mine[i], lane_above(mine[i], static_cast<unsigned>(step)), p.terms);
    }
  }
#pragma unroll 1
  for (int i = 0; i < 8; ++i) {
    if (lane == 0 && first + i * groups < p.rows) store_result(p.finish, first + i * groups, mine[0]);
#pragma unroll
    for (int k = 0; k < 7; ++k) mine[k] = mine[k + 1];
  }
}

/// Where row `row` begins, and how many bytes it has.
struct row_place {
  std::int64_t begin, bytes;
};
__device__ inline row_place place_of(const reduce_problem& p, std::int64_t row) {
  if (p.deal != reduce_deal::segments) return {row * p.stride, p.bytes};
  // Not shifted: where offsets decrease, against the contract, a difference is negative.
  const std::int64_t size = std::int64_t{1} << p.terms.shift;
  return {p.offsets[row] * size, (p.offsets[row + 1] - p.offsets[row]) * size};
}
__device__ inline bool is_aligned(const reduce_problem& p, const row_place& place) {
  return p.aligned && place.begin % vector_bytes == 0;
}

/// This warp's row, if it is short.
template <class Kind>
__device__ inline void reduce_warp_row(const reduce_problem& p) {
  const std::int64_t row = static_cast<std::int64_t>(block_number()) * reduce_parts + threadIdx.x / reduce_lanes;
  if (row >= p.rows) return;
  const row_place place = place_of(p, row);
  if (place.bytes > short_row_bytes) return;
  auto mine = combine_short_row<Kind>(p, p.in + place.begin, place.bytes, is_aligned(p, place));
  if (p.deal == reduce_deal::segments && place.bytes <= 0) {
    mine = vector_value<Kind>(vector_of(p.empty), -1, p.terms);
  }
  if (threadIdx.x % reduce_lanes == 0) store_result(p.finish, row, mine);
}

/// A task's part of a row; the last task of the row stores the result.
template <class Kind>
__device__ inline void reduce_task(const reduce_problem& p, const row_place& place, std::int64_t row, unsigned task) {
  using value = typename Kind::value;
  const std::int64_t a_task = chunk_bytes << p.chunk_shift, begin = task * a_task, rest = place.bytes - begin;
  value mine = combine_chunks<Kind>(p, p.in + place.begin, begin, begin + (rest < a_task ? rest : a_task), p.aligned);
  if (p.tasks > 1) {
    value* partials = static_cast<value*>(p.partials);
    if (threadIdx.x == 0) partials[row * p.tasks + task] = mine;
    if (!comes_last(p.tickets + row, p.tasks)) return;
    mine = combine_partials<Kind>(partials + row * p.tasks, p.tasks, identity_of<Kind>(p), p.terms);
    if (threadIdx.x == 0) p.tickets[row] = 0;
  }
  if (threadIdx.x == 0) store_result(p.finish, row, mine);
}

// Blocks that are tasks of long rows. Apart from the others, whose registers would leave fewer blocks at once.
template <class Kind>
__global__ void __launch_bounds__(reduce_threads) reduce_tasks(reduce_problem p) {
  const unsigned block = block_number();
  const std::int64_t row = block / p.tasks;
  if (row < p.rows) reduce_task<Kind>(p, {row * p.stride, p.bytes}, row, block % p.tasks);
}

// Short rows, and segments of any length: each block of these has 8, and reduces the long ones.
template <class Kind>
__global__ void __launch_bounds__(reduce_threads) reduce_rows(reduce_problem p) {
  if (p.deal == reduce_deal::lanes) return reduce_lane_rows<Kind>(p);
  reduce_warp_row<Kind>(p);
  if (p.deal == reduce_deal::warps) return;
  const std::int64_t first = static_cast<std::int64_t>(block_number()) * reduce_parts;
  const std::int64_t end = first + reduce_parts < p.rows ? first + reduce_parts : p.rows;
#pragma unroll 1
  for (std::int64_t row = first; row < end; ++row) {
    const row_place place = place_of(p, row);
    if (place.bytes <= short_row_bytes) continue;
    __syncthreads();
    const auto all = combine_chunks<Kind>(p, p.in + place.begin, 0, place.bytes, is_aligned(p, place));
    if (threadIdx.x == 0) store_result(p.finish, row, all);
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
