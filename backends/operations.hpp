#pragma once

// What the public operations hand to a backend: arguments already checked and made explicit by src/core.

#include <cstdint>

#include <twill/element.hpp>
#include <twill/ladder/rung.hpp>
#include <twill/reduce.hpp>
#include <twill/scan.hpp>

namespace twill::detail {

class backend_device;

/// Where work goes: a stream of an open device, as its backend knows it.
struct work_queue {
  backend_device* device = nullptr;
  void* native = nullptr;  ///< the backend's stream handle; nullptr is the default stream
};

/// Every extent at least 1, every stride explicit, in elements.
struct transpose_args {
  const void* in;
  void* out;
  std::int64_t element_bytes;
  std::int64_t rows, cols, batch;
  std::int64_t in_ld, out_ld;
  std::int64_t in_stride, out_stride;
};

/// Every extent at least 1, distances explicit, in elements; `ld` is `cols` unless the matrix is square.
struct transpose_in_place_args {
  void* data;
  std::int64_t element_bytes;
  std::int64_t rows, cols, batch;
  std::int64_t ld, stride;
  void* scratch;               ///< null for square matrices
  std::int64_t scratch_bytes;  ///< at least max(rows, cols) elements for others
};

/// One dimension of a permutation; strides in bytes.
struct permute_dim {
  std::int64_t extent, in_stride, out_stride;
};

/// A permutation in its normal form (core/permute_plan.hpp). What is contiguous on both sides is one run of `run_bytes`
/// bytes. Dimensions have extents of 2 and more and are sorted by out_stride, which is positive, the smallest first;
/// in_stride may be negative. No two of them could be one.
struct permute_args {
  const void* in;
  void* out;
  std::int64_t run_bytes;
  int rank;
  permute_dim dims[8];
};

/// At least one row of at least one byte; pitches are at least row_bytes, the input's may be negative.
struct copy_args {
  const void* in;
  void* out;
  std::int64_t rows, row_bytes, in_pitch, out_pitch;
};

/// At least two elements. Where in == out, it is done in place; otherwise they do not overlap.
struct reverse_args {
  const void* in;
  void* out;
  std::int64_t count, element_bytes;
};

/// Rows and cols at least 1. Segments begin at `segments` places of a single row, where `offsets` is not null.
struct scan_args {
  const void* in;
  void* out;
  element_type type;
  scan_options options;
  std::int64_t rows, cols;
  std::int64_t in_ld, out_ld;
  const std::int64_t* offsets;
  std::int64_t segments;
  void* scratch;
};

/// Numbers first ... last - 1, at most 2^40; scratch of sieve_scratch. One of bits and count is given.
struct sieve_args {
  std::int64_t first, last;
  std::uint32_t* bits;
  std::uint64_t* count;
  bool wants_list;  ///< `capacity` primes go to `list`
  std::uint64_t* list;
  std::int64_t capacity;
  void* scratch;
};
/// Room for the odd primes below 2^20, and their number; then come the counts of segments of 2^16 numbers or more.
inline constexpr std::size_t sieve_base_bytes = std::size_t{82048} * 4;
inline std::size_t sieve_scratch(std::int64_t numbers) {
  return sieve_base_bytes + (static_cast<std::size_t>(numbers >> 16) + 1) * 8;
}
/// What a reduction makes one result of.
enum class reduce_over { rows, columns, segments };

/// A reduction with at least one result; types and operation fit together.
struct reduce_args {
  reduce_over over;
  reduce_op op;
  element_type in_type, out_type;
  const void* in;
  void* out;
  std::int64_t rows, cols, ld;  ///< segments: rows alone
  const std::int64_t* offsets;
  void* scratch;  ///< reduce_scratch_bytes, of which the first reduce_ticket_bytes are zero before and after
};
inline constexpr std::size_t reduce_ticket_bytes = 16384;

/// The operations of one backend. One line an operation.
struct operation_table {
  void (*transpose)(const work_queue&, const transpose_args&);
  void (*transpose_in_place)(const work_queue&, const transpose_in_place_args&);
  void (*permute)(const work_queue&, const permute_args&);
  void (*copy)(const work_queue&, const copy_args&);
  void (*reverse)(const work_queue&, const reverse_args&);
  void (*scan)(const work_queue&, const scan_args&);
  void (*sieve)(const work_queue&, const sieve_args&);
  std::size_t (*scan_scratch)(const scan_args&);  ///< bytes; pointers are not looked at, `segments` only for not 0
  void (*reduce)(const work_queue&, const reduce_args&);
};

/// A packed matrix for a rung of the transpose ladder; every extent at least 1.
struct transpose_rung_args {
  const void* in;
  void* out;
  std::int64_t element_bytes;
  std::int64_t rows, cols;
  block_shape block;
  int repeats;
};

/// One rung of one backend's ladder of an operation.
template <class Args>
struct ladder_entry {
  rung info;
  const block_shape* blocks;  ///< what it can run with, ended by {0, 0}; nullptr when a block means nothing
  std::size_t (*shared_bytes)(std::int64_t element_bytes, block_shape);  ///< shared memory a block takes; may be null
  void (*run)(const work_queue&, const Args&);
};

using transpose_rung_entry = ladder_entry<transpose_rung_args>;

/// A sum for a rung of the reduction ladder; at least one element, all pointers 16-byte aligned.
struct reduce_rung_args {
  const void* in;
  void* out;
  void* scratch;
  std::size_t scratch_bytes;
  element_type type;  ///< i32, u32, i64, u64, f32 or f64
  std::int64_t count;
  block_shape block;
  int repeats;
};
using reduce_rung_entry = ladder_entry<reduce_rung_args>;

/// An array for a rung of one of the ladders of scan, reverse, increment and sieve: as for a reduction, `out` having
/// `count` elements. Which ladder an entry belongs to, `info.op` says.
using array_rung_args = reduce_rung_args;
using array_rung_entry = ladder_entry<array_rung_args>;

/// A span of constant table entries.
template <class T>
struct table_view {
  const T* first = nullptr;
  std::size_t count = 0;
  const T* begin() const { return first; }
  const T* end() const { return first + count; }
};

/// The ladders of one backend. One line an operation.
struct ladder_table {
  table_view<transpose_rung_entry> transpose;
  table_view<reduce_rung_entry> reduce;
  table_view<array_rung_entry> arrays;
};

}  // namespace twill::detail
