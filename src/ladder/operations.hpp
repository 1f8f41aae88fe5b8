#pragma once

// The rungs of one backend, and the arguments that they take.

#include <cstddef>
#include <cstdint>

#include <twill/element.hpp>
#include <twill/ladder/rung.hpp>

#include "backends/backend.hpp"

namespace twill::detail {

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
  bool (*is_compiled)(std::int64_t element_bytes, block_shape) = nullptr;  ///< null: for all of `blocks`, every element
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

/// A packed array for a rung of permutations; at least one element.
struct permute_rung_args {
  const void* in;
  void* out;
  std::int64_t element_bytes;
  int rank;
  std::int64_t extents[8], order[8];  ///< dimension i of the output is dimension order[i] of the input
  int repeats;
};
using permute_rung_entry = ladder_entry<permute_rung_args>;

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
  table_view<permute_rung_entry> permute;
};

/// The rungs of one backend, and its sieve.
struct backend_ladders {
  std::string_view backend;  ///< "cuda"
  const ladder_table& (*ladders)();
  void (*sieve)(const work_queue&, const sieve_args&);
};

/// The ladders of a device's backend. Throws: unsupported where the build has none.
const backend_ladders& ladders_of(const backend_device& device);

}  // namespace twill::detail
