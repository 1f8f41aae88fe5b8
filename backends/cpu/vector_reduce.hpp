#pragma once

// What the CPU's vector unit does for reductions: see vector.hpp.

#include <cstdint>

namespace twill::cpu {

/// How bits become keys that order as unsigned numbers: `order_key` of reduce_kinds.hpp.
struct key_rule {
  std::uint64_t flip, infinity;
  bool is_float;
};

/// Words combined bit by bit.
struct combined_bits {
  std::uint64_t all, any, odd;  ///< bitwise and, or, exclusive or
};

/// Which elements are not zero.
struct nonzero_elements {
  bool all, any, odd;  ///< all of them, at least one, an odd number
};

struct reduce_functions {
  /// A full chunk of the tree of f16, bf16, f32, f64, c64 or c128, in this order: its first values
  /// become those of the chunk's 32 lanes. `values` is a multiple of a line and has room for a row of the chunk.
  void (*sum_chunk[6])(const void* in, void* values);
  /// The same of f16, bf16, f32, f64.
  void (*product_chunk[4])(const void* in, void* values);

  // Full vectors of elements in any order; each returns how many elements these have, of `count`.

  /// The sum of u8, u16, u32 or u64, modulo 2^64, after `flip` has flipped bits of each.
  std::int64_t (*sum[4])(const void* in, std::int64_t count, std::uint64_t flip, std::uint64_t& sum);
  /// The least key of elements of 1, 2, 4 or 8 bytes.
  std::int64_t (*least[4])(const void* in, std::int64_t count, const key_rule& rule, std::uint64_t& least);
  /// Elements of 8 bytes, bit by bit.
  std::int64_t (*bits)(const void* in, std::int64_t count, combined_bits& bits);
  /// Elements of 1, 2, 4 or 8 bytes of which the bits of `mask` count.
  std::int64_t (*nonzero[4])(const void* in, std::int64_t count, std::uint64_t mask, nonzero_elements& nonzero);
};

}  // namespace twill::cpu
