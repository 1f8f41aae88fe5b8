#pragma once

// General permutation through shared memory. A block moves a composite tile (move/plan/gather.hpp). It loads the
// aligned 16-byte vectors that cover the tile's input segments, unshifted, and assembles the vectors of the output
// segments unit by unit. The shared-memory offsets of the units are the same for all output segments up to a constant:
// they are a table, which is read a vector at a time. Some padding after each 128 bytes of shared memory puts units at
// the tile's stride into different banks. It is bound by instructions: one thread finds the tile for all, and two
// 16-bit offsets are added at once.

#include <cstdint>

#include "device.hpp"
#include "gpu/dependent_launch.hpp"
#include "gpu/fast_division.hpp"
#include "gpu/grid.hpp"
#include "gpu/packed_units.hpp"
#include "gpu/realign.hpp"
#include "move/plan/gather.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int gather_threads = 256, gather_dims = detail::max_tile_dims;

/// Vectors of an output segment that a thread stores at once, for units of so many bytes.
template <int Bytes>
constexpr int vectors_at_once = Bytes == 1 ? 2 : 1;

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
  int offset;        // in shared memory, without pads
  int misalignment;  // that an input segment adds, modulo 16
};

struct gather_tile {
  std::int64_t in_low, in_high;      // bytes from the first unit to the ends of the input
  std::int64_t tile_low, tile_high;  // bytes from a tile's first vector to the ends of the vectors that it may read
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
  int units;                            // of an output segment
  bool split;                           // the tile holds several output segments along that dimension
  int out_bytes, out_bytes_each;        // of a full output segment, and for each index
  int pitch, pad, vectors, table_pitch, segment_bytes;
  int storing_threads;  // of an output segment
  fast_divisor by_vectors, by_storing_threads;
  bool edges;
};

// Entries of the tables.
struct alignas(16) in_segment {
  std::int64_t at;   // of the vector in which it begins, from the tile's first unit on, if the tile begins a vector
  int to;            // in shared memory, without pads
  int misalignment;  // where it begins in that vector
};
struct alignas(16) out_segment {
  std::int64_t at;  // from the output's first unit on
  int from;         // in shared memory, without pads
  int bytes;        // not positive where a partial tile lacks the segment
};

__device__ inline int padded_offset(int byte, int pad) {
  return byte + (byte >> 7) * pad;
}

/// The same for two offsets of 16 bits.
__device__ inline std::uint32_t padded_offsets(std::uint32_t bytes, int pad) {
  return bytes + (bytes >> 7 & 0x01ff01ff) * static_cast<std::uint32_t>(pad);
}

/// Where a tile lies, and how much of it exists.
struct alignas(16) gather_place {
  std::int64_t in, out;
  int in_indices, out_indices;
};

__device__ inline gather_place find_tile(const gather_tile& m, int tile) {
  gather_place p{0, 0, m.in_indices, m.out_indices};
#pragma unroll argument_unroll
  for (int i = 0; i < gather_dims; ++i) {
    if (i < m.grid_rank) {  // no break: the loop must unroll
      const gather_grid_dim& g = m.grid[i];
      const int rest = quotient(tile, g.tiles), index = tile - rest * g.tiles.divisor;
      const bool last = index == g.tiles.divisor - 1;
      if (last && g.ends_in) p.in_indices = g.rest_in;
      if (last && g.ends_out) p.out_indices = g.rest_out;
      p.in += index * g.in_step;
      p.out += index * g.out_step;
      tile = rest;
    }
  }
  return p;
}

__device__ inline void fill_in_segments(in_segment* table, const gather_tile& m) {
  for (int s = static_cast<int>(threadIdx.x); s < m.in_segments; s += gather_threads) {
    std::int64_t at = 0;
    int left = s;
#pragma unroll argument_unroll
    for (int i = 0; i < gather_dims; ++i) {
      if (i < m.in_rank) {  // no break: the loop must unroll
        const int next = quotient(left, m.in[i].extent);
        at += (left - next * m.in[i].extent.divisor) * m.in[i].in_stride;
        left = next;
      }
    }
    const int misalignment = static_cast<int>(at & 15);
    table[s] = {at - misalignment, s * m.pitch, misalignment};
  }
}

/// `at`: of the tile. `bytes`: of all segments along a split dimension.
__device__ inline void fill_out_segments(out_segment* table, const gather_tile& m, std::int64_t at, int bytes) {
  for (int s = gather_threads - 1 - static_cast<int>(threadIdx.x); s < m.out_segments; s += gather_threads) {
    out_segment e{at, 0, bytes};
    int left = s;
#pragma unroll argument_unroll
    for (int i = 0; i < gather_dims; ++i) {
      if (i < m.out_rank) {  // no break: the loop must unroll
        const int next = quotient(left, m.out[i].extent);
        const int index = left - next * m.out[i].extent.divisor;
        if (i == 0 && m.split) e.bytes -= index * m.out_bytes;
        e.from += index * m.out[i].offset;
        e.at += index * m.out[i].out_stride;
        left = next;
      }
    }
    if (e.bytes > m.out_bytes) e.bytes = m.out_bytes;
    table[s] = e;
  }
}

/// The offset of a unit in shared memory, without pads.
__device__ inline std::uint32_t offset_of_unit(const gather_tile& m, int unit, int lead) {
  int left = unit, offset = 0, misalignment = lead;
#pragma unroll argument_unroll
  for (int i = 0; i < gather_dims; ++i) {
    if (i < m.unit_rank) {  // no break: the loop must unroll
      const int next = quotient(left, m.unit[i].extent);
      const int index = left - next * m.unit[i].extent.divisor;
      offset += index * m.unit[i].offset;
      misalignment += index * m.unit[i].misalignment;
      left = next;
    }
  }
  return static_cast<std::uint32_t>(offset + (misalignment & 15)) & 0xffff;
}

// Offsets of the units of vectors that begin at each unit, 16 bits each. Vectors that begin at unit u are in table
// u % Units: adjacent lanes read adjacent entries for any alignment of the output. A lane computes the offset of its
// vector's first unit and takes the rest from the following lanes by shuffles; the last lanes have too few of these,
// and their vectors are the next warp's.
template <int Units>
__device__ void fill_units(unsigned char* table, const gather_tile& m, int lead) {
  constexpr int vectors = 32 - (Units - 1), step = gather_threads / 32 * vectors;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  for (int first = thread / 32 * vectors; first < m.units; first += step) {
    const int u = first + lane;
    std::uint32_t pairs[(Units + 1) / 2];
    pairs[0] = offset_of_unit(m, u, lead);
    if constexpr (Units > 1) pairs[0] |= shuffle_down(pairs[0], 1) << 16;
#pragma unroll
    for (int k = 1; k < Units / 2; ++k) pairs[k] = shuffle_down(pairs[0], 2 * k);
    if (lane < vectors && u < m.units) {
      store_pairs<Units>(table + (u % Units * m.table_pitch + u / Units) * Units * 2, pairs);
    }
  }
}

/// The input of the tile.
struct gather_input {
  const unsigned char* in;  // the aligned vector in which the tile begins
  std::int64_t at;          // of that vector, from the input's first unit on
  int lead, bytes;          // where the tile begins in it; of a segment
  bool is_inner;            // no vector of the tile extends beyond the input

  __device__ gather_input(const unsigned char* first, const gather_tile& m, const gather_place& p)
      : lead(static_cast<int>(reinterpret_cast<std::uintptr_t>(first + p.in) & 15)),
        bytes(m.segment_bytes_each * p.in_indices) {
    at = p.in - lead;
    in = first + at;
    is_inner = at + m.tile_low >= m.in_low && at + m.tile_high <= m.in_high;
  }
};

// A thread's vectors of input segments, in registers between the loads and the stores to shared memory.
template <class Unit>
struct gather_loads {
  static constexpr int depth = 4, size = static_cast<int>(sizeof(Unit));
  word16 held[depth];
  int to[depth];

  // A vector that extends beyond the input, as none of an inner tile does, is loaded unit by unit.
  __device__ void load(unsigned char* shared, const gather_input& i, const gather_tile& m, const in_segment* segments,
                       int begin_at, int total) {
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      const int index = begin_at + k * gather_threads;
      to[k] = -1;
      if (index >= total) continue;
      const int s = quotient(index, m.by_vectors);
      const in_segment e = segments[s];
      const int begin = (e.misalignment + i.lead) & 15, end = begin + i.bytes, at = (index - s * m.vectors) * 16;
      if (at >= end) continue;
      const std::int64_t first = e.at + ((e.misalignment + i.lead) & 16), from = first + at;
      if (i.is_inner || (i.at + from >= m.in_low && i.at + from + 16 <= m.in_high)) {
        to[k] = e.to + at;
        held[k] = *reinterpret_cast<const word16*>(i.in + from);
        continue;
      }
      for (int byte = at < begin ? begin : at; byte < at + 16 && byte < end; byte += size) {
        *reinterpret_cast<Unit*>(shared + padded_offset(e.to + byte, m.pad)) =
            *reinterpret_cast<const Unit*>(i.in + first + byte);
      }
    }
  }

  __device__ void store(unsigned char* shared, int pad) const {
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      if (to[k] >= 0) store_words<Unit>(shared + padded_offset(to[k], pad), held[k]);
    }
  }
};

/// The units from the `first` of a segment on, as a vector. `from`: what is added to the table's offsets.
template <class Unit, int Units>
__device__ packed_units<Unit, Units> gather_units(const unsigned char* shared, const gather_tile& m,
                                                  const unsigned char* table, unsigned first, int from) {
  std::uint32_t places[(Units + 1) / 2];
  load_pairs<Units>(places, table + (first % Units * m.table_pitch + first / Units) * Units * 2);
  if constexpr (Units == 1) {
    return *reinterpret_cast<const Unit*>(shared + padded_offset(static_cast<int>(places[0]) + from, m.pad));
  } else {
    Unit units[Units];
#pragma unroll
    for (int k = 0; k < Units; k += 2) {
      const std::uint32_t pair = padded_offsets(places[k / 2] + from * 0x10001u, m.pad);
      units[k] = *reinterpret_cast<const Unit*>(shared + (pair & 0xffff));
      units[k + 1] = *reinterpret_cast<const Unit*>(shared + (pair >> 16));
    }
    return pack(units);
  }
}

// Of 1-byte units a thread stores two vectors of a segment: finding it takes as long as one of them. Where the second
// ones begin inside of a sector, it is written in two parts.
template <class Unit, int Units>
__device__ void store_vectors(unsigned char* out, const unsigned char* shared, const gather_tile& m,
                              const out_segment* segments, const unsigned char* table, int count) {
  constexpr int size = static_cast<int>(sizeof(Unit)), bytes = size * Units, each = vectors_at_once<size>;
  const int total = m.storing_threads * count;
#pragma unroll 1
  for (int index = static_cast<int>(threadIdx.x); index < total; index += gather_threads) {
    const int s = quotient(index, m.by_storing_threads), vector = index - s * m.storing_threads;
    const out_segment e = segments[s];
    unsigned char* const to = out + e.at;
    const int first = vector * bytes - misalignment(to, 32);
#pragma unroll
    for (int k = 0; k < each; ++k) {
      const int at = first + k * m.storing_threads * bytes;
      if (at < 0 || at + bytes > e.bytes) continue;
      const auto unit = static_cast<unsigned>(at) / size;
      *reinterpret_cast<packed_units<Unit, Units>*>(to + at) =
          gather_units<Unit, Units>(shared, m, table, unit, e.from);
    }
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
    const int head = until_aligned(to, bytes);
    const bool behind = index % (2 * Units) >= Units;
    if (behind && e.bytes <= head) continue;
    const int at = index % Units * size + (behind ? head + ((e.bytes - head) & -bytes) : 0);
    if (at >= e.bytes || (!behind && at >= head)) continue;
    const int unit = at / size, place = table[(unit % Units * m.table_pitch + unit / Units) * Units];
    *reinterpret_cast<Unit*>(to + at) = *reinterpret_cast<const Unit*>(shared + padded_offset(e.from + place, m.pad));
  }
}

template <class Unit>
__global__ void __launch_bounds__(gather_threads, blocks_at_once(gather_threads, 6))
    permute_gather(unsigned char* out, const unsigned char* in, gather_tile by_value) {
  const gather_tile& m = argument_after(by_value, out, in);
  constexpr int size = static_cast<int>(sizeof(Unit)), units = size <= 2 ? 8 : 16 / size;
  const std::int64_t block = block_index();
  if (block >= m.blocks) return;  // uniform exit: padding block of the 2-D grid
  unsigned char* const shared = dynamic_shared<unsigned char>();
  auto* const found = reinterpret_cast<gather_place*>(shared + m.segment_bytes);
  auto* const in_segments = reinterpret_cast<in_segment*>(found + 1);
  auto* const out_segments = reinterpret_cast<out_segment*>(in_segments + m.in_segments);
  auto* const table = reinterpret_cast<std::uint16_t*>(out_segments + m.out_segments);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == gather_threads - 1) *found = find_tile(m, static_cast<int>(block));
  fill_in_segments(in_segments, m);
  __syncthreads();
  wait_then_trigger_dependents();

  const gather_place p = *found;
  const int in_count = m.in_segments_each > 0 ? m.in_segments_each * p.out_indices : m.in_segments;
  const int out_count = m.out_segments_each > 0 ? m.out_segments_each * p.in_indices : m.out_segments;
  // The first loads are in flight while the other tables are filled.
  const gather_input i(in, m, p);
  const int vectors = in_count * m.vectors;
  gather_loads<Unit> loads;
  loads.load(shared, i, m, in_segments, thread, vectors);
  fill_out_segments(out_segments, m, p.out, m.out_bytes_each * p.out_indices);
  fill_units<units>(reinterpret_cast<unsigned char*>(table), m, i.lead);
  loads.store(shared, m.pad);
  constexpr int step = gather_loads<Unit>::depth * gather_threads;
  for (int first = thread + step; first < vectors; first += step) {
    loads.load(shared, i, m, in_segments, first, vectors);
    loads.store(shared, m.pad);
  }
  __syncthreads();

  const auto* places = reinterpret_cast<const unsigned char*>(table);
  store_vectors<Unit, units>(out, shared, m, out_segments, places, out_count);
  if (m.edges) store_ends<Unit, units>(out, shared, m, out_segments, table, out_count);
}

}  // namespace twill::TWILL_BACKEND::kernels
