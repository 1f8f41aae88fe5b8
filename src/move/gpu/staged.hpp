#pragma once

// Packed small matrices that are staged in shared memory as they lie, and whose output is gathered from there: the
// kernels staged and staged-misaligned.

// staged: many small packed matrices of bytes: they are the same bytes on both sides, in another order. A window is a
// few of them, full vectors of 16 bytes. A block takes up to eight windows, `stride` bytes from one to the next, stages
// them in shared memory and gathers the vectors of the output byte by byte. Where the bytes of a vector lie is computed
// once for the same vector of all windows; these have equal alignment modulo 128 bytes, and warps write full lines.
// Padding, which the host chooses for the shape, keeps bank conflicts low. `out` may be `in`.

#include <cstdint>

#include "device.hpp"
#include "gpu/dependent_launch.hpp"
#include "gpu/divider.hpp"
#include "gpu/grid.hpp"
#include "gpu/packed_units.hpp"
#include "gpu/realign.hpp"
#include "gpu/staged_run.hpp"
#include "registers.hpp"
#include "uninitialised_reads.hpp"

namespace twill::TWILL_BACKEND::kernels {

struct small_matrices {
  std::int64_t bytes, stride;  // of all matrices; from a window of the block to the next
  int window;                  // bytes
  int line;                    // bytes whose multiples the output of a block's first thread begins at
  int rows, cols;
  int pad, pad_shift;                          // so many bytes after each 2^pad_shift
  std::uint32_t column_starts, matrix_starts;  // bit u: unit u begins a column, a matrix, if unit 0 does
  divider matrix, column;
};

constexpr int staged_threads = 256, staged_windows = 8, staged_window_bytes = staged_threads * 16;

/// Shared memory of a window.
inline constexpr int staged_region = staged_window_bytes + staged_window_bytes / 128 * 16;

// The places in shared memory of the units of the chunk at byte `at` of the output; the input begins at byte `skew`.
template <class Unit>
__device__ void find_units(int (&place)[16 / sizeof(Unit)], int at, int skew, const small_matrices& m) {
  constexpr int size = static_cast<int>(sizeof(Unit)), units = 16 / size;
  const int unit = at / size, matrix = static_cast<int>(divide(unit, m.matrix)), elements = m.rows * m.cols;
  const int within = unit - matrix * elements;
  const int column = static_cast<int>(divide(within, m.column)), row = within - column * m.rows;
  const int step = m.cols * size, next_column = step + size - elements * size;
  int from = skew + (matrix * elements + row * m.cols + column) * size;
  if (m.rows >= units) {  // at most one column ends
    const int until = m.rows - 1 - row, next = column + 1 == m.cols ? size : next_column;
#pragma unroll
    for (int u = 0; u < units; ++u) {
      place[u] = padded(from, m);
      from += u == until ? next : step;
    }
    return;
  }
  // Bit u: unit u begins a column, or a matrix; a start beyond the vector does not matter.
  const int left = elements - within;  // of the matrix
  const std::uint32_t columns = m.column_starts << (m.rows - row),
                      matrices = m.matrix_starts << (left < 31 ? left : 31);
#pragma unroll
  for (int u = 0; u < units; ++u) {
    place[u] = padded(from, m);
    compute_separately(place[u]);
    const int next = (matrices >> u & 2) != 0 ? size : next_column;
    from += (columns >> u & 2) != 0 ? next : step;
  }
}

// Whether the lanes of a warp may gather the words of their vectors in different orders. Larger elements are read in
// fewer loads: conflicts cost less than the orders would.
template <class Unit>
inline constexpr bool may_reorder = sizeof(Unit) == 1;

/// The order of a lane's words, where quarters of a warp gather in different ones: see in_order.
__device__ inline int order_of_quarter() {
  return static_cast<int>(threadIdx.x) % 32 / 8;
}

// As find_units, without padding, for at least 16 / size rows; word j ^ order comes j-th.
template <class Unit>
__device__ void find_reordered(int (&place)[16 / sizeof(Unit)], int begin, int skew, int order,
                               const small_matrices& m) {
  constexpr int size = static_cast<int>(sizeof(Unit)), units = 16 / size, each = units / 4;
  const int unit = begin / size, matrix = static_cast<int>(divide(unit, m.matrix)), elements = m.rows * m.cols;
  const int within = unit - matrix * elements;
  const int column = static_cast<int>(divide(within, m.column)), row = within - column * m.rows;
  const int step = m.cols * size, from = skew + (matrix * elements + row * m.cols + column) * size;
  const int next = size + (column + 1 == m.cols ? 0 : step - elements * size);  // to the next column: at most one ends
#pragma unroll
  for (int word = 0; word < 4; ++word) {
    const int first = (word ^ order) * each, until = m.rows - 1 - row - first;
    int at = from + first * step + (until < 0 ? next - step : 0);
#pragma unroll
    for (int u = 0; u < each; ++u) {
      place[word * each + u] = at;
      at += u == until ? next : step;
    }
  }
}

// The place in shared memory of a unit of the output; the input begins at byte `skew`.
template <class Unit>
__device__ int place_of(int unit, int skew, const small_matrices& m) {
  const int matrix = static_cast<int>(divide(unit, m.matrix)), within = unit - matrix * m.rows * m.cols;
  const int column = static_cast<int>(divide(within, m.column)), row = within - column * m.rows;
  const int from = matrix * m.rows * m.cols + row * m.cols + column;
  return padded(from * static_cast<int>(sizeof(Unit)) + skew, m);
}

template <class Unit>
__device__ word16 gathered(const unsigned char* from, const int (&place)[16 / sizeof(Unit)]) {
  unit_chunk<Unit> v;
#pragma unroll
  for (int u = 0; u < static_cast<int>(16 / sizeof(Unit)); ++u) {
    v.unit[u] = *reinterpret_cast<const Unit*>(from + place[u]);
  }
  return v.packed();
}

// The words of a vector of which word j ^ order was gathered as the j-th.
__device__ inline word16 in_order(const word16& v, int order) {
  const bool odd = order % 2 != 0, high = order >= 2;
  const std::uint32_t a = odd ? word<1>(v) : word<0>(v), b = odd ? word<0>(v) : word<1>(v),
                      c = odd ? word<3>(v) : word<2>(v), d = odd ? word<2>(v) : word<3>(v);
  return make_word16(high ? c : a, high ? d : b, high ? a : c, high ? b : d);
}

// Moves the first `full` windows. A thread has a vector of each, at byte `at`, and finds its bytes while its loads are
// in flight.
__device__ inline void move_windows(unsigned char* out, const unsigned char* in, int at, int full,
                                    const small_matrices& m) {
  unsigned char* shared = dynamic_shared<unsigned char>();
  const bool mine = at >= 0 && at < m.window;
  int place[16];
  if (mine) {
    word16 held[staged_windows];
#pragma unroll
    for (int k = 0; k < staged_windows; ++k) {
      if (k < full) held[k] = *reinterpret_cast<const word16*>(in + k * m.stride + at);
    }
    find_units<unsigned char>(place, at, 0, m);
#pragma unroll
    for (int k = 0; k < staged_windows; ++k) {
      if (k < full) store_words<unsigned char>(shared + padded(at, m) + k * staged_region, held[k]);
    }
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < staged_windows; ++k) {
    if (!mine || k >= full) continue;
    const word16 chunk = gathered<unsigned char>(shared + k * staged_region, place);
    *reinterpret_cast<word16*>(out + k * m.stride + at) = chunk;
  }
}

// The last window of all, where it is partial.
__device__ inline void move_bytes(unsigned char* out, const unsigned char* in, int bytes, const small_matrices& m) {
  unsigned char* shared = dynamic_shared<unsigned char>();
  __syncthreads();  // the windows before it are out of shared memory
  const int vector = static_cast<int>(threadIdx.x) * 16, tail = (bytes & -16) + static_cast<int>(threadIdx.x);
  if (vector + 16 <= bytes) {
    store_words<unsigned char>(shared + padded(vector, m), *reinterpret_cast<const word16*>(in + vector));
  }
  if (tail < bytes) shared[padded(tail, m)] = in[tail];
  __syncthreads();
  for (int at = threadIdx.x; at < bytes; at += staged_threads) out[at] = shared[place_of<unsigned char>(at, 0, m)];
}

template <int Threads>
__global__ void __launch_bounds__(Threads)
    transpose_staged(unsigned char* out, const unsigned char* in, small_matrices m) {
  static_assert(Threads == staged_threads);
  const std::int64_t first = block_index() * m.window;
  if (first >= m.stride) return;  // uniform exit: padding block of the 2-D grid
  wait_then_trigger_dependents();
  in += first;
  out += first;
  int full = 0;  // windows
#pragma unroll
  for (int k = 0; k < staged_windows; ++k) full += first + k * m.stride + m.window <= m.bytes ? 1 : 0;
  const int at = static_cast<int>(threadIdx.x) * 16 - misalignment(out, m.line);
  move_windows(out, in, at, full, m);
  const std::int64_t done = full * m.stride, left = m.bytes - first - done;
  if (left > 0) move_bytes(out + done, in + done, static_cast<int>(left), m);
}

// Of staged, many matrices of 3, 5 or 7 rows and columns of one byte, whose shape is known at compile time. Four
// matrices are Rows x Cols words, an odd number: a thread takes four from shared memory without bank conflicts,
// transposes them in registers, and stores them in place; global loads and stores are 16 bytes wide.

constexpr int tiny_threads = 128;

/// Bytes of a block.
template <int Rows, int Cols>
inline constexpr int tiny_window = tiny_threads * 4 * Rows * Cols;

template <int Rows, int Cols>
__global__ void __launch_bounds__(tiny_threads)
    transpose_staged_tiny(unsigned char* out, const unsigned char* in, std::int64_t bytes) {
  constexpr int window = tiny_window<Rows, Cols>, size = Rows * Cols, loads = (size + 3) / 4;
  unsigned char* shared = dynamic_shared<unsigned char>();
  const std::int64_t first = block_index() * window;
  if (first >= bytes) return;  // uniform exit: padding block of the 2-D grid
  wait_then_trigger_dependents();
  const int end = bytes - first < window ? static_cast<int>(bytes - first) : window;
  const int thread = threadIdx.x;
  in += first;
  out += first;
  word16 held[loads];
#pragma unroll
  for (int k = 0; k < loads; ++k) {
    const int at = (k * tiny_threads + thread) * 16;
    if (at + 16 <= end) held[k] = *reinterpret_cast<const word16*>(in + at);
  }
#pragma unroll
  for (int k = 0; k < loads; ++k) {
    const int at = (k * tiny_threads + thread) * 16;
    if (at + 16 <= end) *reinterpret_cast<word16*>(shared + at) = held[k];
  }
  if (thread < end % 16) shared[end / 16 * 16 + thread] = in[end / 16 * 16 + thread];
  allow_uninitialised_reads();
  __syncthreads();

  auto* mine = reinterpret_cast<std::uint32_t*>(shared) + thread * size;
  std::uint32_t from[size], to[size];
#pragma unroll
  for (int i = 0; i < size; ++i) from[i] = mine[i];
  reorder<1>(to, from, [](int i) { return i - i % size + i % size % Rows * Cols + i % size / Rows; });
#pragma unroll
  for (int i = 0; i < size; ++i) mine[i] = to[i];
  __syncthreads();

#pragma unroll
  for (int k = 0; k < loads; ++k) {
    const int at = (k * tiny_threads + thread) * 16;
    if (at + 16 <= end) *reinterpret_cast<word16*>(out + at) = *reinterpret_cast<const word16*>(shared + at);
  }
  if (thread < end % 16) out[end / 16 * 16 + thread] = shared[end / 16 * 16 + thread];
}

// staged-misaligned: packed matrices that fit in shared memory: a block takes one, or some adjacent ones. It stages
// them in aligned 16-byte vectors, and gathers the aligned chunks of the output as transpose_staged does; the ends of
// both, less than a chunk each, go unit by unit. `out` may be `in`.

inline constexpr int least_staged_misaligned_threads = 128, most_staged_misaligned_threads = 512;

struct matrix_runs {
  std::int64_t batch, in_stride, out_stride;  // matrices; bytes
  int at_once;                                // matrices of a block; 1 unless they lie without gaps on both sides
  int bytes;                                  // of a matrix
  small_matrices shape;                       // its rows, columns and padding
};

template <class Unit>
__device__ void load_windows(unsigned char* shared, const unsigned char* in, int bytes, int skew,
                             const small_matrices& m) {
  if (m.pad % 16 == 0) {
    stage_vectors<Unit, true>(shared, in, bytes, skew, m);
  } else {
    stage_vectors<Unit, false>(shared, in, bytes, skew, m);
  }
  stage_ends<Unit>(shared, in, bytes, skew, m);
  wait_for_copies();
}

// Reorders: without padding, quarters of a warp gather in different orders.
template <class Unit, bool Reorders>
__global__ void __launch_bounds__(most_staged_misaligned_threads)
    transpose_staged_misaligned(unsigned char* out, const unsigned char* in, matrix_runs w) {
  constexpr int size = static_cast<int>(sizeof(Unit));
  const std::int64_t matrix = block_index() * w.at_once;
  if (matrix >= w.batch) return;  // uniform exit: padding block of the 2-D grid
  wait_then_trigger_dependents();
  const int bytes = (matrix + w.at_once <= w.batch ? w.at_once : static_cast<int>(w.batch - matrix)) * w.bytes;
  in += matrix * w.in_stride;
  out += matrix * w.out_stride;
  const small_matrices& m = w.shape;
  unsigned char* shared = dynamic_shared<unsigned char>();
  const int skew = misalignment(in);
  load_windows<Unit>(shared, in, bytes, skew, m);
  __syncthreads();

  const int out_skew = misalignment(out);
  const int step = static_cast<int>(blockDim.x) * 16, first = threadIdx.x * 16 - out_skew;
  for (int at = first < 0 ? first + step : first; at + 16 <= bytes; at += step) {
    int place[16 / size];
    if constexpr (Reorders) {
      find_reordered<Unit>(place, at, skew, order_of_quarter(), m);
      *reinterpret_cast<word16*>(out + at) = in_order(gathered<Unit>(shared, place), order_of_quarter());
    } else {
      find_units<Unit>(place, at, skew, m);
      *reinterpret_cast<word16*>(out + at) = gathered<Unit>(shared, place);
    }
  }
  at_ends<Unit>(bytes, out_skew, [&](int at) {
    *reinterpret_cast<Unit*>(out + at) = *reinterpret_cast<const Unit*>(shared + place_of<Unit>(at / size, skew, m));
  });
}

}  // namespace twill::TWILL_BACKEND::kernels
