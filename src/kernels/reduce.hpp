#pragma once

// Reductions of arrays and rows in one launch: blocks combine chunks of the tree (reduce_tree.hpp), and the block of a
// row that finishes last combines what the others left. It finds out by a ticket, a counter that it sets back to zero
// for the next call.

#include "kernels/reduce_finish.hpp"
#include "kernels/reduce_tree.hpp"
#include "kernels/reduce_values.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// `rows` arrays, each reduced to one result.
struct reduce_problem {
  const unsigned char* in;
  std::int64_t rows;
  std::int64_t bytes;           ///< of a row
  std::int64_t stride;          ///< bytes from row to row
  const std::int64_t* offsets;  ///< instead of bytes and stride: row r has elements offsets[r] to offsets[r + 1] - 1
  unsigned tasks;               ///< blocks that share a row
  int chunk_shift;              ///< log2 of the chunks that a block combines
  int width;                    ///< lanes that share a short row, a power of two
  bool aligned;                 ///< every row begins at a multiple of 16 bytes
  void* partials;               ///< a value for each task
  std::uint32_t* tickets;       ///< one for each row that tasks share: zero before and after
  std::uint32_t pad[4];         ///< a vector of elements that change nothing
  std::uint32_t empty[4];       ///< a vector that begins with the result of no elements
  reduce_terms terms;
  reduce_finish finish;
};

inline constexpr int partials_a_thread = 16;
inline constexpr unsigned most_tasks = reduce_threads * partials_a_thread;

__device__ inline word16 vector_of(const std::uint32_t (&words)[4]) {
  return make_word16(words[0], words[1], words[2], words[3]);
}

/// The vector at `at`, of which `left` bytes (at least 1) are there, element by element.
template <class Unit>
__device__ inline word16 edge_vector(const unsigned char* at, std::int64_t left, word16 pad) {
  auto all = bits_as<elements_of<Unit>>(pad);
#pragma unroll
  for (int i = 0; i < elements_of<Unit>::count; ++i) {
    if (static_cast<std::int64_t>((i + 1) * sizeof(Unit)) <= left) {
      all.element[i] = reinterpret_cast<const Unit*>(at)[i];
    }
  }
  return bits_as<word16>(all);
}

/// Vectors of rows: raw[i] is the one at place(i).at, of which place(i).left bytes are there, 0 or less for none.
/// `whole`: they are aligned, and there or not as a whole. Branches between the loads would serialise them.
struct vector_place {
  const unsigned char* at;
  std::int64_t left;
};
template <class Unit, int Count, class Place>
__device__ inline void load_vectors(word16 (&raw)[Count], bool whole, word16 pad, Place&& place) {
  if (whole) {
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      const vector_place from = place(i);
      raw[i] = pad;
      if (from.left > 0) raw[i] = *reinterpret_cast<const word16*>(from.at);
    }
  } else {
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      const vector_place from = place(i);
      raw[i] = from.left > 0 ? edge_vector<Unit>(from.at, from.left, pad) : pad;
    }
  }
}

/// Whether the vectors of a row of `bytes` can be loaded as a whole.
__device__ inline bool has_whole_vectors(const reduce_problem& p, std::int64_t bytes) {
  return p.aligned && bytes % vector_bytes == 0;
}

/// A vector's elements, combined.
template <class Load, class Op>
__device__ inline typename Op::value vector_value(word16 raw, std::int64_t place, const reduce_terms& terms) {
  typename Op::value slots[Load::slots];
  Load::vector(slots, raw, place, terms);
  combine_neighbours<Op>(slots);
  return slots[0];
}

/// This thread's part of a chunk, of which `left` bytes are there: its 8 vectors, combined.
template <class Load, class Op>
__device__ inline typename Op::value chunk_part(const reduce_problem& p, const unsigned char* chunk, std::int64_t left,
                                                std::int64_t place, bool aligned) {
  using value = typename Op::value;
  constexpr int a_vector = elements_of<typename Load::unit>::count;
  const int t = static_cast<int>(threadIdx.x);
  word16 raw[reduce_rows];
  if (aligned && left >= chunk_bytes) {
    const auto* vectors = reinterpret_cast<const word16*>(chunk) + t;
#pragma unroll
    for (int row = 0; row < reduce_rows; ++row) raw[row] = vectors[row * reduce_threads];
  } else {
    load_vectors<typename Load::unit>(raw, aligned && left % vector_bytes == 0, vector_of(p.pad), [&](int row) {
      const int first = (row * reduce_threads + t) * vector_bytes;
      return vector_place{chunk + first, left - first};
    });
  }
  // Pairs of rows, then pairs of pairs, so that few values are alive at a time.
  value slots[3][Load::slots];
#pragma unroll
  for (int row = 0; row < reduce_rows; row += 2) {
    value one[Load::slots], two[Load::slots];
    Load::vector(one, raw[row], place + (row * reduce_threads + t) * a_vector, p.terms);
    Load::vector(two, raw[row + 1], place + ((row + 1) * reduce_threads + t) * a_vector, p.terms);
#pragma unroll
    for (int s = 0; s < Load::slots; ++s) {
      value pair = Op::combine(one[s], two[s]);
      if (row % 4 == 2) pair = Op::combine(slots[0][s], pair);
      if (row == 6) pair = Op::combine(slots[1][s], pair);
      slots[row == 6 ? 2 : row % 4 == 2 ? 1 : 0][s] = pair;
    }
  }
  combine_neighbours<Op>(slots[2]);
  return slots[2][0];
}

/// The values of a block's 256 threads, parts and lanes, combined; in thread 0. `shared` may be written again after the
/// next barrier but one.
template <class Op>
__device__ inline typename Op::value combine_threads(typename Op::value* shared, typename Op::value mine) {
  shared[threadIdx.x] = mine;
  __syncthreads();
  if (threadIdx.x >= reduce_lanes) return mine;
  typename Op::value parts[reduce_parts];
#pragma unroll
  for (int i = 0; i < reduce_parts; ++i) parts[i] = shared[i * reduce_lanes + threadIdx.x];
  combine_neighbours<Op>(parts);
  return combine_lanes<Op>(parts[0]);
}

/// The bytes `begin` to `end` of a row, whole chunks but for the last, combined by the block; in thread 0.
template <class Load, class Op>
__device__ inline typename Op::value combine_chunks(const reduce_problem& p, const unsigned char* row,
                                                    std::int64_t begin, std::int64_t end, bool aligned) {
  using value = typename Op::value;
  __shared__ value shared[2][reduce_threads];
  __shared__ value levels[48];
  constexpr int unit = static_cast<int>(sizeof(typename Load::unit));
  value mine = chunk_part<Load, Op>(p, row + begin, end - begin, begin / unit, aligned);
  mine = combine_threads<Op>(shared[0], mine);
  if (begin + chunk_bytes >= end) return mine;
  neighbour_stack<Op, value> stack(levels);
  if (threadIdx.x == 0) stack.push(mine);
  int buffer = 1;
  for (std::int64_t at = begin + chunk_bytes; at < end; at += chunk_bytes, buffer ^= 1) {
    mine = chunk_part<Load, Op>(p, row + at, end - at, at / unit, aligned);
    mine = combine_threads<Op>(shared[buffer], mine);
    if (threadIdx.x == 0) stack.push(mine);
  }
  return threadIdx.x == 0 ? stack.all() : mine;
}

/// `count` values, at most most_tasks, combined as neighbours by the block; in all threads.
template <class Op>
__device__ inline typename Op::value combine_partials(const typename Op::value* partials, unsigned count,
                                                      typename Op::value identity) {
  constexpr int warps = reduce_threads / reduce_lanes;
  __shared__ typename Op::value shared[warps];
  unsigned each = 1;  // partials a thread, a power of two
  while (each * reduce_threads < count) each *= 2;
  typename Op::value mine[partials_a_thread];
#pragma unroll
  for (unsigned i = 0; i < partials_a_thread; ++i) {
    const unsigned at = threadIdx.x * each + i;
    mine[i] = i < each && at < count ? partials[at] : identity;
  }
  combine_neighbours<Op>(mine);
  const auto warp = combine_neighbouring_lanes<Op>(mine[0]);
  if (threadIdx.x % reduce_lanes == 0) shared[threadIdx.x / reduce_lanes] = warp;
  __syncthreads();
  typename Op::value all[warps];
#pragma unroll
  for (int i = 0; i < warps; ++i) all[i] = shared[i];
  combine_neighbours<Op>(all);
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

// Arrays, and rows longer than a warp's share: blocks are tasks of rows.
template <class Load, class Op>
__global__ void __launch_bounds__(reduce_threads) reduce_chunks(reduce_problem p) {
  using value = typename Op::value;
  const std::int64_t row = blockIdx.x / p.tasks;
  const unsigned task = blockIdx.x % p.tasks;
  const std::int64_t a_task = chunk_bytes << p.chunk_shift, begin = task * a_task, rest = p.bytes - begin;
  value mine =
      combine_chunks<Load, Op>(p, p.in + row * p.stride, begin, begin + (rest < a_task ? rest : a_task), p.aligned);
  if (p.tasks > 1) {
    value* partials = static_cast<value*>(p.partials);
    if (threadIdx.x == 0) partials[blockIdx.x] = mine;
    if (!comes_last(p.tickets + row, p.tasks)) return;
    const value identity = vector_value<Load, Op>(vector_of(p.pad), INT64_MAX / 2, p.terms);
    mine = combine_partials<Op>(partials + row * p.tasks, p.tasks, identity);
    if (threadIdx.x == 0) p.tickets[row] = 0;
  }
  if (threadIdx.x == 0) store_result(p.finish, row, mine);
}

/// Vectors of a row that a warp reads at once: rows up to this are short.
inline constexpr std::int64_t short_row_bytes = reduce_threads * vector_bytes;

/// A short row by a warp, 8 vectors a lane; in lane 0.
template <class Load, class Op>
__device__ inline typename Op::value combine_short_row(const reduce_problem& p, const unsigned char* row,
                                                       std::int64_t bytes, bool aligned) {
  constexpr int a_vector = elements_of<typename Load::unit>::count;
  const int lane = static_cast<int>(threadIdx.x) % reduce_lanes;
  word16 raw[reduce_parts];
  load_vectors<typename Load::unit>(raw, aligned && bytes % vector_bytes == 0, vector_of(p.pad), [&](int i) {
    const int first = (i * reduce_lanes + lane) * vector_bytes;
    return vector_place{row + first, bytes - first};
  });
  typename Op::value parts[reduce_parts];
#pragma unroll
  for (int i = 0; i < reduce_parts; ++i) {
    parts[i] = vector_value<Load, Op>(raw[i], (i * reduce_lanes + lane) * a_vector, p.terms);
  }
  combine_neighbours<Op>(parts);
  return combine_lanes<Op>(parts[0]);
}

// Short rows: a warp has one, or where p.width lanes are enough for one, several at a time and 8 after each other.
template <class Load, class Op>
__global__ void __launch_bounds__(reduce_threads) reduce_short_rows(reduce_problem p) {
  constexpr int a_vector = elements_of<typename Load::unit>::count, at_once = 8;
  const int t = static_cast<int>(threadIdx.x);
  if (p.bytes > reduce_lanes * vector_bytes) {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * reduce_parts + t / reduce_lanes;
    if (row >= p.rows) return;
    const auto mine = combine_short_row<Load, Op>(p, p.in + row * p.stride, p.bytes, p.aligned);
    if (t % reduce_lanes == 0) store_result(p.finish, row, mine);
    return;
  }
  const int lane = t % p.width, groups = reduce_threads / p.width;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * (groups * at_once) + t / p.width;
  word16 raw[at_once];
  load_vectors<typename Load::unit>(raw, has_whole_vectors(p, p.bytes), vector_of(p.pad), [&](int i) {
    const std::int64_t row = first + i * groups;
    return vector_place{p.in + row * p.stride + lane * vector_bytes, row < p.rows ? p.bytes - lane * vector_bytes : 0};
  });
#pragma unroll
  for (int i = 0; i < at_once; ++i) {
    auto mine = vector_value<Load, Op>(raw[i], lane * a_vector, p.terms);
    mine = combine_lanes<Op>(mine, p.width);
    if (lane == 0 && first + i * groups < p.rows) store_result(p.finish, first + i * groups, mine);
  }
}

// Segments of any lengths: a warp has each short one, the block together each long one.
template <class Load, class Op>
__global__ void __launch_bounds__(reduce_threads) reduce_segments(reduce_problem p) {
  constexpr int unit = static_cast<int>(sizeof(typename Load::unit));
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * reduce_parts;
  const std::int64_t own = first + threadIdx.x / reduce_lanes;
  if (own < p.rows) {
    const std::int64_t begin = p.offsets[own] * unit, bytes = p.offsets[own + 1] * unit - begin;
    const bool aligned = p.aligned && begin % vector_bytes == 0;
    if (bytes <= short_row_bytes) {
      auto mine = combine_short_row<Load, Op>(p, p.in + begin, bytes, aligned);
      if (bytes <= 0) mine = vector_value<Load, Op>(vector_of(p.empty), -1, p.terms);
      if (threadIdx.x % reduce_lanes == 0) store_result(p.finish, own, mine);
    }
  }
  for (std::int64_t row = first; row < p.rows && row < first + reduce_parts; ++row) {
    const std::int64_t begin = p.offsets[row] * unit, bytes = p.offsets[row + 1] * unit - begin;
    if (bytes <= short_row_bytes) continue;
    __syncthreads();
    const auto mine = combine_chunks<Load, Op>(p, p.in + begin, 0, bytes, p.aligned && begin % vector_bytes == 0);
    if (threadIdx.x == 0) store_result(p.finish, row, mine);
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
