#pragma once

// General permutation through shared memory. A block moves a composite tile (move/plan/tile.hpp). It loads the aligned
// 16-byte vectors that cover the tile's input segments, unshifted, and assembles the vectors of the output segments
// unit by unit. The shared-memory offsets of the units are the same for all output segments up to a constant: they are
// a table, which is read a vector at a time. One word of padding after each 128 bytes of shared memory puts units at
// power-of-two strides into different banks.

#include <cstdint>

#include "device.hpp"
#include "gpu/fast_division.hpp"
#include "gpu/packed_units.hpp"
#include "gpu/realign.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int gather_threads = 256, gather_dims = 9;

/// A dimension of the grid; `rest_*` are the indices of the last tile where the dimension ends segments.
struct gather_grid_dim {
  fast_divisor tiles;
  int rest_in, rest_out;
  bool ends_in, ends_out;
  std::int64_t in_step, out_step;
};

/// Dimensions of the entries of a table, the fastest first.
struct gather_in_dim {
  fast_divisor extent;
  std::int64_t in_stride;
};
struct gather_out_dim {
  fast_divisor extent;
  int offset;  // in an input segment
  std::int64_t out_stride;
};
struct gather_unit_dim {
  fast_divisor extent;
  int offset, segment;  // bytes in an input segment, or segments
  int misalignment;     // that the segment adds, modulo 16
};

struct gather_tile {
  std::int64_t in_low, in_high;  // bytes from the first unit to the ends of the input
  unsigned blocks;
  int grid_rank, in_rank, out_rank, unit_rank;
  gather_grid_dim grid[gather_dims];
  gather_in_dim in[gather_dims];
  gather_out_dim out[gather_dims];
  gather_unit_dim unit[gather_dims];
  // Of a full tile, and for each index of the dimension that ends the segments of a side.
  int in_indices, out_indices;          // of those dimensions
  int segment_bytes_each;               // bytes of an input segment for each index
  int in_segments, in_segments_each;    // the latter 0 where the count is fixed
  int out_segments, out_segments_each;  // likewise
  int segment_indices, units_each;      // of the last dimension in an output segment; units for each
  int units;                            // of an output segment
  bool split;                           // the tile holds several output segments along that dimension
  int pitch, vectors, stores, table_pitch, segment_bytes;
  fast_divisor by_vectors, by_stores;
  bool edges;
};

struct in_segment {
  std::int64_t at;  // of its first vector
  int to;           // in shared memory, without pads
  int ends;         // where it ends in its vectors, * 16, + where it begins
};
struct out_segment {
  std::int64_t at;
  int from, bytes;
};

template <int Size>
__device__ int padded(int byte) {
  constexpr int shift = Size <= 4 ? 2 : Size == 8 ? 3 : 4;
  return byte + ((byte >> 7) << shift);
}

/// The tile of a block: where it lies, and how much of it exists.
struct gather_place {
  std::int64_t in, out;
  int in_indices, out_indices;
};

__device__ inline gather_place find_tile(const gather_tile& m, int block) {
  gather_place p{0, 0, m.in_indices, m.out_indices};
#pragma unroll argument_unroll
  for (int i = 0; i < gather_dims; ++i) {
    if (i < m.grid_rank) {  // no break: the loop must unroll
      const gather_grid_dim& g = m.grid[i];
      const int rest = quotient(block, g.tiles), index = block - rest * g.tiles.divisor;
      const bool last = index == g.tiles.divisor - 1;
      if (last && g.ends_in) p.in_indices = g.rest_in;
      if (last && g.ends_out) p.out_indices = g.rest_out;
      p.in += index * g.in_step;
      p.out += index * g.out_step;
      block = rest;
    }
  }
  return p;
}

__device__ inline void fill_in_segments(in_segment* table, const unsigned char* in, const gather_tile& m, int count,
                                        int bytes) {
  for (int s = static_cast<int>(threadIdx.x); s < count; s += gather_threads) {
    std::int64_t at = 0;
    int left = s;
#pragma unroll argument_unroll
    for (int i = 0; i < gather_dims; ++i) {
      if (i < m.in_rank) {  // no break: the loop must unroll
        const int next = i + 1 < m.in_rank ? quotient(left, m.in[i].extent) : 0;
        at += (left - next * m.in[i].extent.divisor) * m.in[i].in_stride;
        left = next;
      }
    }
    const int lead = static_cast<int>(reinterpret_cast<std::uintptr_t>(in + at) & 15);
    table[s] = {at - lead, s * m.pitch, (lead + bytes) * 16 + lead};
  }
}

template <int Size>
__device__ void fill_out_segments(out_segment* table, const gather_tile& m, int count, int out_indices) {
  for (int s = gather_threads - 1 - static_cast<int>(threadIdx.x); s < count; s += gather_threads) {
    out_segment e{0, 0, 0};
    int left = s, first = 0;
#pragma unroll argument_unroll
    for (int i = 0; i < gather_dims; ++i) {
      if (i < m.out_rank) {  // no break: the loop must unroll
        const int next = i + 1 < m.out_rank ? quotient(left, m.out[i].extent) : 0;
        const int index = left - next * m.out[i].extent.divisor;
        if (i == 0 && m.split) first = index * m.segment_indices;
        e.from += index * m.out[i].offset;
        e.at += index * m.out[i].out_stride;
        left = next;
      }
    }
    const int indices = out_indices - first < m.segment_indices ? out_indices - first : m.segment_indices;
    e.bytes = indices * m.units_each * Size;
    table[s] = e;
  }
}

// Offsets of units in shared memory, 16 bits each. Vectors that begin at unit u are in table u % Units: adjacent
// lanes read adjacent entries for any alignment of the output.
template <int Size, int Units>
__device__ void fill_units(std::uint16_t* table, const gather_tile& m, int lead) {
  for (int u = static_cast<int>(threadIdx.x); u < m.units; u += gather_threads) {
    int left = u, segment = 0, offset = 0, misalignment = lead;
#pragma unroll argument_unroll
    for (int i = 0; i < gather_dims; ++i) {
      if (i < m.unit_rank) {  // no break: the loop must unroll
        const int next = i + 1 < m.unit_rank ? quotient(left, m.unit[i].extent) : 0;
        const int index = left - next * m.unit[i].extent.divisor;
        offset += index * m.unit[i].offset;
        segment += index * m.unit[i].segment;
        misalignment += index * m.unit[i].misalignment;
        left = next;
      }
    }
    const auto place = static_cast<std::uint16_t>(offset + segment * m.pitch + (misalignment & 15));
#pragma unroll
    for (int k = 0; k < Units; ++k) {
      const int first = u - k;
      if (first >= 0) table[(first % Units * m.table_pitch + first / Units) * Units + k] = place;
    }
  }
}

// A thread's vectors of input segments, in registers between the loads and the stores to shared memory.
template <class Unit>
struct gather_loads {
  static constexpr int depth = 4, size = static_cast<int>(sizeof(Unit));
  word16 held[depth];
  int to[depth];

  // A vector that extends beyond the input is loaded unit by unit.
  __device__ void load(unsigned char* shared, const unsigned char* in, const gather_tile& m, const gather_place& p,
                       const in_segment* segments, int first, int total) {
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      const int index = first + k * gather_threads;
      to[k] = -1;
      if (index >= total) continue;
      const int s = quotient(index, m.by_vectors), at = (index - s * m.vectors) * 16;
      const in_segment e = segments[s];
      const int begin = e.ends & 15, end = e.ends >> 4;
      if (at >= end) continue;
      const std::int64_t from = e.at + at, absolute = p.in + from;
      if (absolute >= m.in_low && absolute + 16 <= m.in_high) {
        to[k] = e.to + at;
        held[k] = *reinterpret_cast<const word16*>(in + from);
        continue;
      }
      for (int byte = at < begin ? begin : at; byte < at + 16 && byte < end; byte += size) {
        *reinterpret_cast<Unit*>(shared + padded<size>(e.to + byte)) = *reinterpret_cast<const Unit*>(in + e.at + byte);
      }
    }
  }

  __device__ void store(unsigned char* shared) const {
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      if (to[k] >= 0) store_words<Unit>(shared + padded<size>(to[k]), held[k]);
    }
  }
};

template <class Unit, int Units>
__device__ void store_vectors(unsigned char* out, const unsigned char* shared, const gather_tile& m,
                              const out_segment* segments, const unsigned char* table, int total) {
  constexpr int size = static_cast<int>(sizeof(Unit)), bytes = size * Units;
#pragma unroll 2
  for (int index = static_cast<int>(threadIdx.x); index < total; index += gather_threads) {
    const int s = quotient(index, m.by_stores), vector = index - s * m.stores;
    const out_segment e = segments[s];
    unsigned char* const to = out + e.at;
    const int at = vector * bytes - static_cast<int>(reinterpret_cast<std::uintptr_t>(to) & 31);
    if (at < 0 || at + bytes > e.bytes) continue;
    const int first = at / size;
    std::uint32_t places[(Units + 1) / 2];
    load_pairs<Units>(places, table + (first % Units * m.table_pitch + first / Units) * Units * 2);
    Unit units[Units];
#pragma unroll
    for (int k = 0; k < Units; ++k) {
      const int place = static_cast<int>(k % 2 == 0 ? places[k / 2] & 0xffff : places[k / 2] >> 16);
      units[k] = *reinterpret_cast<const Unit*>(shared + padded<size>(e.from + place));
    }
    *reinterpret_cast<packed_units<Unit, Units>*>(to + at) = pack(units);
  }
}

// The units before the first and behind the last full vector of each output segment.
template <class Unit, int Units>
__device__ void store_ends(unsigned char* out, const unsigned char* shared, const gather_tile& m,
                           const out_segment* segments, const std::uint16_t* table, int count) {
  constexpr int size = static_cast<int>(sizeof(Unit)), bytes = size * Units;
  for (int index = static_cast<int>(threadIdx.x); index < count * 2 * Units; index += gather_threads) {
    const out_segment e = segments[index / (2 * Units)];
    unsigned char* const to = out + e.at;
    const int head = static_cast<int>(-reinterpret_cast<std::uintptr_t>(to) & (bytes - 1));
    const bool behind = index % (2 * Units) >= Units;
    if (behind && e.bytes <= head) continue;
    const int at = index % Units * size + (behind ? head + ((e.bytes - head) & -bytes) : 0);
    if (at >= e.bytes || (!behind && at >= head)) continue;
    const int unit = at / size, place = table[(unit % Units * m.table_pitch + unit / Units) * Units];
    *reinterpret_cast<Unit*>(to + at) = *reinterpret_cast<const Unit*>(shared + padded<size>(e.from + place));
  }
}

template <class Unit>
__global__ void __launch_bounds__(gather_threads)
    permute_gather(unsigned char* out, const unsigned char* in, gather_tile by_value) {
  const gather_tile& m = argument_after(by_value, out, in);
  constexpr int size = static_cast<int>(sizeof(Unit)), units = size <= 2 ? 8 : 16 / size;
  const auto block = static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  if (block >= m.blocks) return;  // uniform exit: padding block of the 2-D grid
  unsigned char* const shared = dynamic_shared<unsigned char>();
  auto* const in_segments = reinterpret_cast<in_segment*>(shared + m.segment_bytes);
  auto* const out_segments = reinterpret_cast<out_segment*>(in_segments + m.in_segments);
  auto* const table = reinterpret_cast<std::uint16_t*>(out_segments + m.out_segments);

  const gather_place p = find_tile(m, static_cast<int>(block));
  in += p.in;
  out += p.out;
  const int in_count = m.in_segments_each > 0 ? m.in_segments_each * p.out_indices : m.in_segments;
  const int out_count = m.out_segments_each > 0 ? m.out_segments_each * p.in_indices : m.out_segments;
  fill_in_segments(in_segments, in, m, in_count, m.segment_bytes_each * p.in_indices);
  __syncthreads();

  // The first loads are in flight while the other tables are filled.
  const int vectors = in_count * m.vectors, thread = static_cast<int>(threadIdx.x);
  gather_loads<Unit> loads;
  loads.load(shared, in, m, p, in_segments, thread, vectors);
  fill_out_segments<size>(out_segments, m, out_count, p.out_indices);
  fill_units<size, units>(table, m, static_cast<int>(reinterpret_cast<std::uintptr_t>(in) & 15));
  loads.store(shared);
  constexpr int step = gather_loads<Unit>::depth * gather_threads;
  for (int first = thread + step; first < vectors; first += step) {
    loads.load(shared, in, m, p, in_segments, first, vectors);
    loads.store(shared);
  }
  __syncthreads();

  const auto* places = reinterpret_cast<const unsigned char*>(table);
  store_vectors<Unit, units>(out, shared, m, out_segments, places, out_count * m.stores);
  if (m.edges) store_ends<Unit, units>(out, shared, m, out_segments, table, out_count);
}

}  // namespace twill::TWILL_BACKEND::kernels
