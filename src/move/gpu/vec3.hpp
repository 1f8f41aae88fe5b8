#pragma once

// Transpose of elements of 3, 5 to 7, 9 to 15, 20 and 24 bytes. `group` elements together are full vectors of 16 bytes:
// 16 elements of 3 bytes are 3 chunks. In three steps, 16 bytes at a time on the outside:
//   load   the aligned chunks that hold the input's rows go to shared memory as they are: rows keep their alignment,
//          so that elements, even of misaligned rows, are cut from full words
//   pack   a thread takes a group of one column or half of it, each element from the words that hold it, and packs it
//          in registers, by a pattern that is known at compile time. Neighbouring lanes take neighbouring columns,
//          whose words lie side by side: few bank conflicts
//   store  the packed columns, now in the place of the rows, leave: neighbouring lanes write neighbouring chunks
// A column's groups begin where its bytes in the output are at a multiple of 16: up to group - 1 rows above the tile.
// Wrapped: all rows belong to the tile and the output's columns lie one behind the other, without gaps: a group is then
// `group` elements in this order, of one column or several.

#include <cstdint>
#include <type_traits>

#include "device.hpp"
#include "gpu/dependent_launch.hpp"
#include "gpu/divider.hpp"
#include "gpu/realign.hpp"
#include "gpu/register_block.hpp"
#include "uninitialised_reads.hpp"
#include "vec3_pack.hpp"

namespace twill::TWILL_BACKEND::kernels {

template <int Bytes>
struct vec3_element : packed_element<Bytes> {
  using packed_element<Bytes>::alignment, packed_element<Bytes>::group, packed_element<Bytes>::part;
  // A tile has at most one part of a group for each thread; `columns` is its usual width.
  static constexpr int threads = packed_element<Bytes>::block.threads, columns = packed_element<Bytes>::block.columns;
  // Tiles of large elements leave L1 little room.
  static constexpr copy_cache cache = Bytes < 6 ? copy_cache::l1_and_l2 : copy_cache::l2;
  // Blocks per multiprocessor, to bound the registers: to 48, of 3 bytes to 40, or to 64 where a part and its elements
  // hold more than 32 words.
  static constexpr int live_words = part * packed_element<Bytes>::words + part * Bytes / 4;
  static constexpr int resident_threads = live_words > 32 ? 1024 : Bytes == 3 && copies_are_asynchronous ? 1536 : 1280;
  static constexpr int blocks = blocks_at_once(threads, resident_threads / threads);
  // Loads of a thread before the first is used, which asynchronous copies need not wait for: all that the usual tile
  // takes, or an equal part of them.
  template <bool Aligned>
  static constexpr int rows_at_once = threads / (columns * Bytes / 16 + (Aligned ? 0 : 2));
  template <bool Aligned>
  static constexpr int rows = threads / columns * part + (Aligned ? 0 : group - 1);
  template <bool Aligned>
  static constexpr int loads = (rows<Aligned> + rows_at_once<Aligned> - 1) / rows_at_once<Aligned>;
  template <bool Aligned>
  static constexpr int load_depth = loads<Aligned> <= 8 ? loads<Aligned> : (loads<Aligned> + 1) / 2;
};

/// Tiles [first, end) of one direction.
struct tile_range {
  std::uint32_t first, end;
  __device__ bool holds(std::uint32_t i) const { return i >= first && i < end; }
};

struct vec3_matrices {
  std::int64_t rows, cols;                            // elements
  std::int64_t in_ld, out_ld, in_stride, out_stride;  // bytes
  std::int64_t packed_bytes;  // of the input, where it has no gaps, so that all of it may be read; else 0
  std::uint32_t batch;
  divider tiles_r, tiles_c;
  tile_range full_r, full_c;      // tiles that the matrix fills
  tile_range inside_r, inside_c;  // those whose chunks lie in the matrix too, in one direction or the other
  int height, parts;              // of the tile: rows, and parts of a column
  divider width;                  // columns of the tile; wrapped: rows
  int columns;                    // of the tile
  int lead;                       // rows above the tile that columns may begin with
  int runs, rows_in_run;          // an input run is a row of the tile, or a part's rows without gaps
  std::int64_t run_ld;            // bytes of the input from one run to the next
  int row_pitch, run_pitch;       // bytes of shared memory; equal to the input's modulo 16, wrapped: modulo 4 or 8
  int part_pitch;                 // from one part's rows to the next
  int staged_pitch;               // from one packed column to the next, chunks
  divider run_chunks, column_chunks;
  int run_step, column_step;  // runs or columns that the threads move at once, a thread a chunk; 0: less than one
};

// What a block works on.
struct vec3_tile {
  std::int64_t row0, col0;  // of the matrix; row0 without the lead
  int height, width;        // there are
};

// The bytes [first, end) of a chunk.
__device__ inline void copy_part(unsigned char* to, const unsigned char* from, int first, int end) {
#pragma unroll 1
  for (int i = first < 0 ? 0 : first; i < end && i < 16; ++i) to[i] = from[i];
}

// Where the tile's first byte lies in shared memory, with room for the chunk that holds it.
template <bool Aligned>
__device__ int first_place(const unsigned char* from) {
  return Aligned ? 0 : 16 + misalignment(from);
}

// A chunk to shared memory: copied as a vector, or through a register where chunks are less than 16-byte aligned in the
// tile.
template <class Words, int Around, copy_cache Cache>
__device__ void begin_chunk(unsigned char* to, word16& held, const unsigned char* from) {
  const auto* chunk = reinterpret_cast<const word16*>(from);
  if constexpr (sizeof(Words) == 16) {
    begin_copy_to_shared<Around, Cache>(reinterpret_cast<word16*>(to), held, chunk);
  } else {
    held = load_prefetch_l2<Around>(chunk);
  }
}
template <class Words>
__device__ void end_chunk(unsigned char* to, const word16& held) {
  if constexpr (sizeof(Words) == 16) {
    end_copy_to_shared(reinterpret_cast<word16*>(to), held);
  } else {
    store_words<Words>(to, held);
  }
}

// The input's runs to shared memory, chunk by chunk as they lie; `from` is the first byte of the first. A thread stays
// with one chunk of the runs. Here all vectors may be read at once. Words: what both sides align chunks to.
template <int Bytes, bool Aligned, class Words>
__device__ void load_runs_inside(unsigned char* shared, const unsigned char* from, const vec3_matrices& m) {
  using element = vec3_element<Bytes>;
  constexpr int depth = sizeof(Words) < 16 ? 4 : element::template load_depth<Aligned>;
  const int step = m.run_step;
  int run = static_cast<int>(divide(threadIdx.x, m.run_chunks));
  if (run >= step) return;
  const int chunk = (static_cast<int>(threadIdx.x) - run * static_cast<int>(m.run_chunks.divisor)) * 16;
  int to = first_place<Aligned>(from) + run * m.run_pitch + chunk;
  from += run * m.run_ld + chunk;
  const std::int64_t from_step = step * m.run_ld;
  const int to_step = step * m.run_pitch;
  for (; run < m.runs; run += depth * step) {
    word16 held[depth];
    int places[depth];
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      const int skip = Aligned ? 0 : misalignment(from);
      places[k] = to - skip;
      if (run + k * step < m.runs) {
        begin_chunk<Words, Aligned ? 128 : 256, element::cache>(shared + places[k], held[k], from - skip);
      }
      from += from_step;
      to += to_step;
    }
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      if (run + k * step < m.runs) end_chunk<Words>(shared + places[k], held[k]);
    }
  }
  wait_for_copies();
}

// At an edge of the matrix: vectors inside the tile, or inside a packed input, are copied; of others only the bytes in
// the tile are loaded. `input` is the base of the input.
template <int Bytes, bool Aligned, class Words>
__device__ void load_runs_edge(unsigned char* shared, const unsigned char* from, const unsigned char* input,
                               const vec3_matrices& m, const vec3_tile& t) {
  const int chunks = static_cast<int>(m.run_chunks.divisor);
  for (int index = threadIdx.x; index < m.runs * chunks; index += static_cast<int>(blockDim.x)) {
    const int run = static_cast<int>(divide(index, m.run_chunks));
    const int begin = first_place<Aligned>(from) + run * m.run_pitch;
    const int offset = (index - run * chunks) * 16 - misalignment(from + run * m.run_ld);
    const std::int64_t row = t.row0 - m.lead + run * m.rows_in_run, below = m.rows - row;
    if (row < 0 || below <= 0) continue;
    const int end = t.width * Bytes * (below < m.rows_in_run ? static_cast<int>(below) : m.rows_in_run) - offset;
    if (end <= 0) continue;
    const unsigned char* chunk = from + run * m.run_ld + offset;
    const std::int64_t at = chunk - input;
    if ((offset >= 0 && end >= 16) || (at >= 0 && at + 16 <= m.packed_bytes)) {
      word16 held;
      begin_chunk<Words, 128, vec3_element<Bytes>::cache>(shared + begin + offset, held, chunk);
      end_chunk<Words>(shared + begin + offset, held);
    } else {
      copy_part(shared + begin + offset, chunk, -offset, end);
    }
  }
  wait_for_copies();
}

// The thread's part of a column.
template <int Bytes, bool Aligned>
__device__ void pack_column(packed_part<Bytes>& packed, word16* staged, const unsigned char* shared, int phase,
                            const unsigned char* out, const vec3_matrices& m, const vec3_tile& t) {
  using element = vec3_element<Bytes>;
  const int part = static_cast<int>(divide(threadIdx.x, m.width));
  const int column = static_cast<int>(threadIdx.x) - part * static_cast<int>(m.width.divisor);
  if (part >= m.parts || column >= t.width) return;
  const int above = Aligned ? 0 : rows_above<Bytes>(reinterpret_cast<std::uintptr_t>(out + column * m.out_ld));
  if (part * element::part - above >= t.height) return;
  packed.to =
      reinterpret_cast<typename element::part_word*>(staged + column * m.staged_pitch) + part * element::part_words;
  int at = phase + (m.lead - above) * m.row_pitch + part * m.part_pitch + column * Bytes;
  element_words<Bytes> w;
  if (Aligned && m.row_pitch % 4 == 0) {  // all elements have one misalignment
    const std::uint32_t selector = bytes_from(at & 3);
    at &= ~3;
#pragma unroll
    for (int i = 0; i < element::part; ++i) fetch_element<Bytes>(w[i], shared + at + i * m.row_pitch, selector);
    packed.pack(w);
  } else {
#pragma unroll
    for (int i = 0; i < element::part; ++i) fetch_at<Bytes>(w[i], shared, at + i * m.row_pitch);
    packed.pack(w);
  }
}

template <int Bytes>
__device__ void pack_wrapped(packed_part<Bytes>& packed, word16* staged, const unsigned char* shared, int phase,
                             const vec3_matrices& m) {
  using element = vec3_element<Bytes>;
  const int first = static_cast<int>(threadIdx.x) * element::part;
  const int height = static_cast<int>(m.width.divisor), column = static_cast<int>(divide(first, m.width));
  if (column >= m.columns) return;
  packed.to = reinterpret_cast<typename element::part_word*>(staged) + threadIdx.x * element::part_words;
  const int tile = height * m.row_pitch, end = phase + tile;
  int at = phase + (first - column * height) * m.row_pitch + column * Bytes;
  element_words<Bytes> w;
#pragma unroll
  for (int i = 0; i < element::part; ++i) {
    fetch_at<Bytes>(w[i], shared, at);
    at += m.row_pitch;
    if (at >= end) at += Bytes - tile;  // the next column
  }
  packed.pack(w);
}

// The chunk `chunk` of a column that begins at `out`, or as many rows above as its groups do.
template <int Bytes>
__device__ void store_chunk(unsigned char* out, const word16* staged, int chunk, const vec3_tile& t) {
  const int begin = chunk * 16 - rows_above<Bytes>(reinterpret_cast<std::uintptr_t>(out)) * Bytes;
  const int end = t.height * Bytes - begin;
  if (end >= 16 && (begin >= 0 || t.row0 > 0)) {
    *reinterpret_cast<word16*>(out + begin) = *staged;
  } else {
    copy_part(out + begin, reinterpret_cast<const unsigned char*>(staged), t.row0 > 0 ? 0 : -begin, end);
  }
}

// A thread stays with one chunk of the columns, where a column has no more chunks than there are threads.
template <int Bytes, bool Aligned>
__device__ void store_columns(unsigned char* out, const word16* staged, const vec3_matrices& m, const vec3_tile& t) {
  const int chunks = static_cast<int>(m.column_chunks.divisor), step = m.column_step;
  if (step == 0) {
    for (int index = threadIdx.x; index < t.width * chunks; index += static_cast<int>(blockDim.x)) {
      const int column = static_cast<int>(divide(index, m.column_chunks)), chunk = index - column * chunks;
      store_chunk<Bytes>(out + column * m.out_ld, staged + column * m.staged_pitch + chunk, chunk, t);
    }
    return;
  }
  int column = static_cast<int>(divide(threadIdx.x, m.column_chunks));
  if (column >= step) return;
  const int chunk = static_cast<int>(threadIdx.x) - column * chunks;
  out += column * m.out_ld;
  staged += column * m.staged_pitch + chunk;
  const std::int64_t out_step = step * m.out_ld;
  const int staged_step = step * m.staged_pitch;
  if (Aligned && chunk * 16 + 16 <= t.height * Bytes) {
    out += chunk * 16;
#pragma unroll 4
    for (; column < t.width; column += step) {
      *reinterpret_cast<word16*>(out) = *staged;
      out += out_step;
      staged += staged_step;
    }
    return;
  }
  for (; column < t.width; column += step) {
    store_chunk<Bytes>(out, staged, chunk, t);
    out += out_step;
    staged += staged_step;
  }
}

__device__ inline void store_wrapped(unsigned char* out, const word16* staged, int bytes) {
  for (int at = threadIdx.x * 16; at < bytes; at += static_cast<int>(blockDim.x) * 16) {
    if (at + 16 <= bytes) {
      *reinterpret_cast<word16*>(out + at) = staged[at / 16];
    } else {
      copy_part(out + at, reinterpret_cast<const unsigned char*>(staged + at / 16), 0, bytes - at);
    }
  }
}

/// How rows and columns lie.
enum class vec3_layout {
  aligned,  // rows of both sides, and of the tile, at multiples of 16
  any,
  wrapped
};

// Blocks walk along the output's rows.
template <int Bytes, vec3_layout Layout>
__global__ void __launch_bounds__(vec3_element<Bytes>::threads, vec3_element<Bytes>::blocks)
    transpose_vec3(unsigned char* out, const unsigned char* in, vec3_matrices m) {
  constexpr bool aligned = Layout == vec3_layout::aligned;
  unsigned char* shared = dynamic_shared<unsigned char>();
  const std::uint32_t place = blockIdx.y * gridDim.x + blockIdx.x, line = divide(place, m.tiles_r);
  const std::uint32_t matrix = divide(line, m.tiles_c), tile_r = place - line * m.tiles_r.divisor,
                      tile_c = line - matrix * m.tiles_c.divisor;
  if (matrix >= m.batch) return;  // uniform exit: padding block of the 2-D grid
  vec3_tile t;
  t.row0 = static_cast<std::int64_t>(tile_r) * m.height;
  t.col0 = static_cast<std::int64_t>(tile_c) * m.columns;
  const bool full = m.full_r.holds(tile_r) && m.full_c.holds(tile_c);
  t.height = full || m.rows - t.row0 >= m.height ? m.height : static_cast<int>(m.rows - t.row0);
  t.width = full || m.cols - t.col0 >= m.columns ? m.columns : static_cast<int>(m.cols - t.col0);
  const unsigned char* const input = in;
  in += matrix * m.in_stride + (t.row0 - m.lead) * m.in_ld + t.col0 * Bytes;
  out += matrix * m.out_stride + t.col0 * m.out_ld + t.row0 * Bytes;
  wait_then_trigger_dependents();

  using words = std::conditional_t<Layout == vec3_layout::wrapped, std::uint32_t, word16>;
  if (full && (m.inside_r.holds(tile_r) || m.inside_c.holds(tile_c))) {
    load_runs_inside<Bytes, aligned, words>(shared, in, m);
  } else {
    load_runs_edge<Bytes, aligned, words>(shared, in, input, m, t);
  }
  allow_uninitialised_reads();
  __syncthreads();
  auto* staged = reinterpret_cast<word16*>(shared);  // in the place of the input
  const int phase = first_place<aligned>(in);
  packed_part<Bytes> packed;
  if constexpr (Layout == vec3_layout::wrapped) {
    pack_wrapped<Bytes>(packed, staged, shared, phase, m);
  } else {
    pack_column<Bytes, aligned>(packed, staged, shared, phase, out, m, t);
  }
  __syncthreads();
  packed.stage();
  __syncthreads();
  if constexpr (Layout == vec3_layout::wrapped) {
    store_wrapped(out, staged, t.width * t.height * Bytes);
  } else {
    store_columns<Bytes, aligned>(out, staged, m, t);
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
