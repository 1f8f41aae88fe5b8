#pragma once

// staged-cols: nine to several hundred long rows of 1, 2 and 4 byte elements into packed columns, which side by side
// are one run of bytes. A block copies the aligned vectors of a band of columns to shared memory, where each row keeps
// its misalignment modulo 16, and gathers from there the aligned vectors of the output; the ends of its run, less than
// a vector each, are stored unit by unit.

#include <cstdint>

#include "device.hpp"
#include "gpu/dependent_launch.hpp"
#include "gpu/divider.hpp"
#include "gpu/packed_units.hpp"
#include "move/plan/transposes.hpp"
#include "staged.hpp"

namespace twill::TWILL_BACKEND::kernels {

// `Vectors` lanes copy `Vectors` vectors of each row. The band is one vector narrower, for a row may be misaligned.
template <class Unit, int Vectors>
inline constexpr int band_width = detail::band_bytes(Vectors) / static_cast<int>(sizeof(Unit));

struct staged_cols_matrices {
  std::int64_t cols;                          // elements
  std::int64_t in_ld, in_stride, out_stride;  // bytes
  std::int64_t packed_bytes;  // of the input, where it has no gaps, so that all of it may be read; else 0
  unsigned tiles, all_tiles;  // of a matrix; in all
  int rows;
  int pitch;              // of the band in shared memory: bytes from row to row; band_pad more after 16 / size rows
  int sequences, length;  // sequences per starting vector; vectors per sequence
  int quarter;            // starting vectors per quarter, if the lanes of a warp take eight from each; else 0
  int slots;              // starting vectors, rounded up to full warps if quartered
  bool reorders;          // quarters of a warp gather words in different orders
  divider by_rows, by_slots;
};

// Whether a band's starting vectors may be quartered.
template <class Unit, int Groups>
inline constexpr bool may_be_quartered = sizeof(Unit) < 4 && Groups == 1;

// Where the rows of a band lie in shared memory.
template <class Unit>
struct band_layout {
  static constexpr int size = static_cast<int>(sizeof(Unit)), units = 16 / size;
  int skew, skew_step;  // misalignment of the first row; what each row adds to it

  __device__ int start_of(int row, const staged_cols_matrices& m) const {
    return row * m.pitch + row / units * detail::band_pad;
  }
  __device__ int place_of(int row, int column, const staged_cols_matrices& m) const {
    return start_of(row, m) + ((skew + row * skew_step) & 15) + column * size;
  }

  // The places of the units of the vector of packed columns that begins at `row` of a column. `order` of its words: see
  // in_order; 0 where there are fewer than 16 / size rows.
  __device__ void find(int (&place)[units], int row, int column, int order, const staged_cols_matrices& m) const {
    if constexpr (units < detail::least_band_rows) {
      find_long(place, row, column, order, m);
    } else if (m.rows >= units) {
      find_long(place, row, column, order, m);
    } else {
#pragma unroll
      for (int& unit : place) {
        unit = place_of(row, column, m);
        const bool is_last = ++row == m.rows;
        if (is_last) row = 0, ++column;
      }
    }
  }

 private:
  // At most one column ends in the vector, and at most one pad is crossed. Address and skew, which is reduced modulo 16
  // at the end, are advanced in one register.
  __device__ void find_long(int (&place)[units], int row, int column, int order, const staged_cols_matrices& m) const {
    constexpr int bits = 8;
    static_assert(15 + 15 * 15 < 1 << bits);
    const int wrap = m.rows - row, skip = units - row % units, step = (m.pitch << bits) + skew_step;
    const int here = ((start_of(row, m) + column * size) << bits) + ((skew + row * skew_step) & 15);
    const int behind = here + (detail::band_pad << bits), next = (((column + 1) * size) << bits) + skew - wrap * step;
#pragma unroll
    for (int u = 0; u < units; ++u) {
      const int unit = u ^ order * (units / 4);
      const int both = (unit >= wrap ? next : unit >= skip ? behind : here) + unit * step;
      place[u] = (both >> bits) + (both & 15);
    }
  }
};

// The vector at byte `at` of a row of `bytes` bytes; 0 outside of it.
template <class Unit>
__device__ word16 load_edge_vector(const unsigned char* from, std::int64_t at, std::int64_t bytes) {
  constexpr int size = static_cast<int>(sizeof(Unit));
  unit_chunk<Unit> v;
#pragma unroll
  for (int u = 0; u < 16 / size; ++u) {
    const std::int64_t byte = at + u * size;
    v.unit[u] = byte >= 0 && byte < bytes ? *reinterpret_cast<const Unit*>(from + u * size) : Unit{0};
  }
  return v.packed();
}

// Copies the rows of the band that begins at byte `offset` of them, `Vectors` lanes a row, including the rest of their
// first and last vectors. `input` is the base of the input, `in` its matrix. Edge: a vector is copied if it lies in
// the row or, where the input is packed, in the input; of others only the units inside the row are loaded.
template <class Unit, int Vectors, int Threads, bool Edge>
__device__ void load_band(unsigned char* shared, const unsigned char* in, const unsigned char* input,
                          std::int64_t offset, const band_layout<Unit>& layout, const staged_cols_matrices& m) {
  constexpr int rows_at_once = Threads / Vectors, depth = Edge && copies_are_asynchronous ? 1 : 4;
  const int lane = threadIdx.x % Vectors, row0 = threadIdx.x / Vectors;
  const std::int64_t row_bytes = m.cols * static_cast<std::int64_t>(sizeof(Unit)), step = rows_at_once * m.in_ld;
  const unsigned char* from = in + row0 * m.in_ld + offset;
#pragma unroll 1
  for (int first = row0; first < m.rows; first += depth * rows_at_once) {
    word16 held[depth];
    bool copied[depth];
    const auto to = [&](int d) {
      return reinterpret_cast<word16*>(shared + layout.start_of(first + d * rows_at_once, m)) + lane;
    };
#pragma unroll
    for (int d = 0; d < depth; ++d, from += step) {
      const int skew = misalignment(from);
      copied[d] = first + d * rows_at_once < m.rows;
      if (!copied[d]) continue;
      const unsigned char* vector = from + lane * 16 - skew;
      const std::int64_t at = offset + lane * 16 - skew;
      if (Edge) {
        const std::int64_t in_input = vector - input;
        copied[d] = (at >= 0 && at + 16 <= row_bytes) || (in_input >= 0 && in_input + 16 <= m.packed_bytes);
        if (!copied[d]) {
          *to(d) = load_edge_vector<Unit>(vector, at, row_bytes);
          continue;
        }
      }
      begin_copy_to_shared<128>(to(d), held[d], reinterpret_cast<const word16*>(vector));
    }
#pragma unroll
    for (int d = 0; d < depth; ++d) {
      if (copied[d]) end_copy_to_shared(to(d), held[d]);
    }
  }
  wait_for_copies();
}

// Stores a sequence of vectors, the first at byte `at` of the output, whose units begin at `row` of a column.
template <class Unit, int Groups, bool Reorders>
__device__ void store_sequence(unsigned char* out, const unsigned char* from, int at, int end, int row, int column,
                               const band_layout<Unit>& layout, const staged_cols_matrices& m) {
  const int order = Reorders ? order_of_quarter() : 0, step = m.rows * Groups * 16;
  int place[16 / sizeof(Unit)];
  layout.find(place, row, column, order, m);
#pragma unroll 4
  for (; at + 16 <= end; at += step, from += 16 * Groups) {
    *reinterpret_cast<word16*>(out + at) = in_order(gathered<Unit>(from, place), order);
  }
}

// Stores the vectors of the band's run of `bytes` bytes. The output vector 16 x `rows` bytes further on begins in the
// same row, and its units lie 16 bytes further on in the band. A thread therefore computes places for the first vector
// only, and stores a sequence of vectors with a stride of 16 x `rows` x `Groups` bytes.
template <class Unit, int Threads, int Groups>
__device__ void store_band(unsigned char* out, const unsigned char* shared, int bytes, const band_layout<Unit>& layout,
                           const staged_cols_matrices& m) {
  constexpr int size = static_cast<int>(sizeof(Unit));
  const int out_skew = misalignment(out), starts = m.rows * Groups, step = starts * 16, length = m.length * step;
  for (int i = threadIdx.x; i < m.slots * m.sequences; i += Threads) {
    const int sequence = static_cast<int>(divide(i, m.by_slots)), slot = i - sequence * m.slots;
    int start = slot;
    if (may_be_quartered<Unit, Groups> && m.quarter != 0) {
      const int in_quarter = slot / 32 * 8 + slot % 8;
      start = slot % 32 / 8 * m.quarter + in_quarter;
      if (in_quarter >= m.quarter || start >= starts) continue;
    }
    const int first = sequence * length - out_skew, end = first + length < bytes ? first + length : bytes;
    int at = first + start * 16;
    if (at < 0) at += step;
    const int column = static_cast<int>(divide(at / size, m.by_rows));
    const int row = at / size - column * m.rows;
    if (may_reorder<Unit> && m.reorders) {
      store_sequence<Unit, Groups, true>(out, shared, at, end, row, column, layout, m);
    } else {
      store_sequence<Unit, Groups, false>(out, shared, at, end, row, column, layout, m);
    }
  }
}

// Blocks per multiprocessor, to bound the registers, most of which hold places.
template <class Unit, int Threads>
struct staged_cols_blocks {
  static constexpr int resident_threads = copies_are_asynchronous ? detail::resident_band_threads(sizeof(Unit)) : 1024;
  static constexpr int count = blocks_at_once(Threads, resident_threads / Threads);
};

template <class Unit, int Vectors, int Threads, int Groups>
__global__ void __launch_bounds__(Threads, (staged_cols_blocks<Unit, Threads>::count))
    transpose_staged_cols(unsigned char* out, const unsigned char* in, staged_cols_matrices m) {
  constexpr int size = static_cast<int>(sizeof(Unit)), width = band_width<Unit, Vectors>;
  unsigned place = blockIdx.y * gridDim.x + blockIdx.x;
  if (place >= m.all_tiles) return;  // uniform exit: padding block of the 2-D grid
  wait_then_trigger_dependents();
  const std::int64_t matrix = place / m.tiles, col0 = static_cast<std::int64_t>(place % m.tiles) * width;
  const int cols = m.cols - col0 < width ? static_cast<int>(m.cols - col0) : width, bytes = cols * m.rows * size;
  const unsigned char* const input = in;
  in += matrix * m.in_stride;
  out += matrix * m.out_stride + col0 * m.rows * size;
  unsigned char* shared = dynamic_shared<unsigned char>();
  const band_layout<Unit> layout{misalignment(in + col0 * size), static_cast<int>(m.in_ld & 15)};
  const std::int64_t first = matrix * m.in_stride + col0 * size, last = first + (m.rows - 1) * m.in_ld;
  const bool in_rows = col0 >= 16 / size && col0 + width + 16 / size <= m.cols;
  if (in_rows || (first >= 16 && last + Vectors * 16 <= m.packed_bytes)) {
    load_band<Unit, Vectors, Threads, false>(shared, in, input, col0 * size, layout, m);
  } else {
    load_band<Unit, Vectors, Threads, true>(shared, in, input, col0 * size, layout, m);
  }
  __syncthreads();

  store_band<Unit, Threads, Groups>(out, shared, bytes, layout, m);
  at_ends<Unit>(bytes, misalignment(out), [&](int at) {
    const int column = static_cast<int>(divide(at / size, m.by_rows)), row = at / size - column * m.rows;
    *reinterpret_cast<Unit*>(out + at) = *reinterpret_cast<const Unit*>(shared + layout.place_of(row, column, m));
  });
}

}  // namespace twill::TWILL_BACKEND::kernels
