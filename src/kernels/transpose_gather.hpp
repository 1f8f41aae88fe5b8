#pragma once

// Transpose of anything: odd leading dimensions, misaligned pointers, elements of any size, skinny and small matrices.
// A block brings a piece of the input into shared memory with aligned 16-byte loads, whatever the alignment of its
// rows, and writes the output in aligned 16-byte chunks, each gathered unit by unit. A unit is the widest word (1 to
// 16 bytes) at which all elements are aligned; an element is `units` of them.
//
// The piece is a set of input runs (contiguous bytes) and a set of output runs:
//   tile     input runs are rows of a tile, output runs its columns
//   tall     full rows without gaps: the input is one run
//   wrapped  full columns without gaps, or whole matrices: the output is one run

#include <cstdint>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

struct gather_matrices {
  std::int64_t rows, cols, batch;                     // elements
  std::int64_t in_ld, out_ld, in_stride, out_stride;  // bytes
  std::int64_t tiles_r, tiles_c;
  int tile_rows, tile_cols;  // elements
  int matrices;              // whole matrices of a block (wrapped), else 1
  int units;                 // of an element
  int shear;                 // output boundaries between tiles are moved up to a multiple of this; 0: not moved
  int extra_rows;            // input rows that a moved boundary needs beyond the tile
  int pad_shift;             // 16 bytes of padding after each 2^pad_shift bytes of shared memory
  bool one_in_run;           // the input of a block is contiguous
};

// 16 bytes as units.
template <class Unit>
union unit_chunk {
  word16 whole;
  Unit unit[16 / sizeof(Unit)];
};

__device__ inline int padded(int byte, int shift) {
  return byte + ((byte >> shift) << 4);
}

__device__ inline std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// The 16 bytes that begin `skip` bytes into the pair of aligned chunks.
template <int UnitBytes>
__device__ word16 realigned(const word16& low, const word16& high, int skip) {
  std::uint32_t w[8] = {word<0>(low),  word<1>(low),  word<2>(low),  word<3>(low),
                        word<0>(high), word<1>(high), word<2>(high), word<3>(high)};
  if (skip & 8) {
#pragma unroll
    for (int i = 0; i < 6; ++i) w[i] = w[i + 2];
  }
  if (UnitBytes < 8 && skip & 4) {
#pragma unroll
    for (int i = 0; i < 5; ++i) w[i] = w[i + 1];
  }
  if (UnitBytes < 4) {
    const std::uint32_t selector = 0x3210 + 0x1111 * (skip & 3);
#pragma unroll
    for (int i = 0; i < 4; ++i) w[i] = byte_permute(w[i], w[i + 1], selector);
  }
  return make_word16(w[0], w[1], w[2], w[3]);
}

// What may be read around a run, relative to the start of run 0 (packed) or of each run.
struct readable {
  std::int64_t first, end;
  bool of_each_run;
};

// Brings `runs` runs of `bytes` bytes, `stride` apart, to shared memory, run i at i * pitch. Aligned chunks are read
// whole where that is readable, else unit by unit.
template <class Unit>
__device__ void load_runs(unsigned char* shared, const unsigned char* in, int runs, std::int64_t stride, int bytes,
                          int pitch, const readable& limits, int pad_shift) {
  constexpr int depth = 4;
  const int chunks = (bytes + 15) / 16, total = runs * chunks;
  for (int base = threadIdx.x; base < total; base += depth * 256) {
    word16 held[depth], next[depth];
    int skip[depth], at[depth];
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      const int index = base + k * 256;
      at[k] = -1;
      if (index >= total) continue;
      const int run = index / chunks, offset = (index - run * chunks) * 16;
      const unsigned char* from = in + run * stride + offset;
      const std::int64_t place = (limits.of_each_run ? 0 : run * stride) + offset;
      skip[k] = static_cast<int>(reinterpret_cast<std::uintptr_t>(from) & 15);
      const int to = run * pitch + offset;
      if (place - skip[k] >= limits.first && place - skip[k] + (skip[k] ? 32 : 16) <= limits.end) {
        at[k] = to;
        held[k] = *reinterpret_cast<const word16*>(from - skip[k]);
        if (skip[k]) next[k] = *reinterpret_cast<const word16*>(from - skip[k] + 16);
      } else {
        for (int u = 0; u < 16 && offset + u < bytes; u += static_cast<int>(sizeof(Unit))) {
          *reinterpret_cast<Unit*>(shared + padded(to, pad_shift) + u) = *reinterpret_cast<const Unit*>(from + u);
        }
      }
    }
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      if (at[k] < 0) continue;
      if (sizeof(Unit) < 16 && skip[k]) held[k] = realigned<sizeof(Unit)>(held[k], next[k], skip[k]);
      *reinterpret_cast<word16*>(shared + padded(at[k], pad_shift)) = held[k];
    }
  }
}

// Where unit u of an output run lies in shared memory: a position that is advanced unit by unit.
struct gather_steps {
  int unit, units;                // within the element
  int row, rows;                  // wrapped only
  int col, cols;                  // wrapped only
  int by_row, by_col, by_matrix;  // units from one to the next
};

template <bool ManyUnits, bool Wrapped>
__device__ void advance(int& position, gather_steps& s) {
  if (ManyUnits) {
    ++position;
    if (++s.unit < s.units) return;
    s.unit = 0;
    position -= s.units;
  }
  position += s.by_row;
  if (!Wrapped) return;
  if (++s.row < s.rows) return;
  s.row = 0;
  position += s.by_col - s.rows * s.by_row;
  if (++s.col < s.cols) return;
  s.col = 0;
  position += s.by_matrix - s.cols * s.by_col;
}

// Stores the bytes [first, end) of one output run that fall into the chunk at `chunk` (all relative to the run's unit
// 0, which lies at `run`).
template <class Unit, bool ManyUnits, bool Wrapped>
__device__ void store_chunk(unsigned char* run, std::int64_t chunk, std::int64_t first, std::int64_t end,
                            const unsigned char* shared, int start, gather_steps s, int pad_shift) {
  constexpr int size = static_cast<int>(sizeof(Unit)), count = 16 / size;
  const int low = chunk < first ? static_cast<int>((first - chunk) / size) : 0;
  const int high = chunk + 16 > end ? static_cast<int>((end - chunk) / size) : count;
  if (high <= low) return;
  int unit = static_cast<int>(chunk / size) + low, position = start;
  if (ManyUnits) {
    s.unit = unit % s.units;
    position += s.unit;
    unit /= s.units;
  }
  if (Wrapped) {
    s.row = unit % s.rows;
    const int column = unit / s.rows;
    s.col = column % s.cols;
    position += s.row * s.by_row + s.col * s.by_col + column / s.cols * s.by_matrix;
  } else {
    position += unit * s.by_row;
  }
  if (low == 0 && high == count) {
    unit_chunk<Unit> v;
#pragma unroll
    for (int u = 0; u < count; ++u) {
      v.unit[u] = *reinterpret_cast<const Unit*>(shared + padded(position * size, pad_shift));
      advance<ManyUnits, Wrapped>(position, s);
    }
    *reinterpret_cast<word16*>(run + chunk) = v.whole;
  } else {
    for (int u = low; u < high; ++u) {
      *reinterpret_cast<Unit*>(run + chunk + u * size) =
          *reinterpret_cast<const Unit*>(shared + padded(position * size, pad_shift));
      advance<ManyUnits, Wrapped>(position, s);
    }
  }
}

template <class Unit, bool ManyUnits, bool Wrapped>
__global__ void __launch_bounds__(256)
    transpose_gather(unsigned char* out, const unsigned char* in, gather_matrices m) {
  unsigned char* shared = dynamic_shared<unsigned char>();
  std::int64_t place = static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  const std::int64_t row0 = place % m.tiles_r * m.tile_rows;
  place /= m.tiles_r;
  const std::int64_t col0 = place % m.tiles_c * m.tile_cols;
  const std::int64_t matrix = place / m.tiles_c * m.matrices;
  if (matrix >= m.batch) return;  // the whole block: the grid is a rectangle
  const int bytes = m.units * static_cast<int>(sizeof(Unit));
  const std::int64_t rows_left = m.rows - row0, cols_left = m.cols - col0;
  const int height = static_cast<int>(rows_left < m.tile_rows + m.extra_rows ? rows_left : m.tile_rows + m.extra_rows);
  const int width = static_cast<int>(cols_left < m.tile_cols ? cols_left : m.tile_cols);
  const int count = static_cast<int>(m.batch - matrix < m.matrices ? m.batch - matrix : m.matrices);

  in += matrix * m.in_stride + row0 * m.in_ld + col0 * bytes;
  const bool packed = m.in_ld == m.cols * bytes;
  const int pitch = m.one_in_run ? width * bytes : (m.tile_cols * bytes + 15) / 16 * 16;
  // To the ends of its row, or of the packed matrices.
  const readable limits{packed ? -(row0 * m.in_ld + col0 * bytes) : -(col0 * bytes),
                        packed ? (count - 1) * m.in_stride + rows_left * m.in_ld - col0 * bytes : cols_left * bytes,
                        !packed};
  const int runs = m.one_in_run ? 1 : height;
  const int run_bytes = m.one_in_run ? count * height * width * bytes : width * bytes;
  load_runs<Unit>(shared, in, runs, m.in_ld, run_bytes, pitch, limits, m.pad_shift);
  __syncthreads();

  gather_steps s;
  s.unit = s.row = s.col = 0;
  s.units = m.units;
  s.rows = height;
  s.cols = width;
  s.by_row = pitch / static_cast<int>(sizeof(Unit));
  s.by_col = m.units;
  s.by_matrix = height * s.by_row;
  const int lane = threadIdx.x % 8;
  if (Wrapped) {
    unsigned char* run = out + matrix * m.out_stride + col0 * m.out_ld;
    const int run_end = count * height * width * bytes;
    const int skip = static_cast<int>(reinterpret_cast<std::uintptr_t>(run) & 15);
    for (int chunk = static_cast<int>(threadIdx.x) * 16 - skip; chunk < run_end; chunk += 256 * 16) {
      store_chunk<Unit, ManyUnits, true>(run, chunk, 0, run_end, shared, 0, s, m.pad_shift);
    }
    return;
  }
  out += matrix * m.out_stride + col0 * m.out_ld + row0 * bytes;
  const bool last = rows_left <= m.tile_rows;
  const bool whole_chunks = m.shear != 0 && row0 != 0 && !last;
  const int longest = whole_chunks ? m.tile_rows * bytes : height * bytes + 15;
  const int groups = (longest + 127) / 128;
  for (int group = threadIdx.x / 8; group < width * groups; group += 32) {
    const int line = group / width, column = group - line * width;
    unsigned char* run = out + column * m.out_ld;
    const auto address = reinterpret_cast<std::uintptr_t>(run);
    int first = 0, end = height * bytes;
    if (m.shear) {
      const auto mask = static_cast<std::uintptr_t>(m.shear - 1);
      if (row0 != 0) first = static_cast<int>(-address & mask);
      if (!last) end = m.tile_rows * bytes + static_cast<int>(-(address + m.tile_rows * bytes) & mask);
      if (end > height * bytes) end = height * bytes;
    }
    const int begin = static_cast<int>((address + first) & 15);
    const int chunk = first - begin + line * 128 + lane * 16;
    store_chunk<Unit, ManyUnits, false>(run, chunk, first, end, shared, column * m.units, s, m.pad_shift);
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
