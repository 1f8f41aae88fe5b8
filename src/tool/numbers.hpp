#pragma once

// Random input for operations that calculate. Integers take all bits of pattern.hpp's data. Floating point takes whole
// numbers from -8 to 8 whose mean is 0: sums of 2^32 of them stay below 2^24, so that they are exact in any order, and
// every result has one right value.

#include <cstddef>
#include <cstdint>
#include <string>

#include "parse.hpp"

namespace twill::tool {

/// Refuses b3 and the like, which are moved and not calculated with.
void require_number(const std::string& operation, const element_type& type);

/// Writes `bytes` bytes of the input from byte `first` on, a multiple of 64, to host memory.
void write_numbers(void* to, std::uint64_t first, std::size_t bytes, twill::element_type kind);

/// `count` elements as whole numbers, those of 64 bits modulo 2^64.
void read_numbers(const void* from, std::int64_t count, twill::element_type kind, std::int64_t* to);

/// The opposite: integers modulo their size, floating point rounded to nearest.
void store_numbers(void* to, const std::int64_t* from, std::int64_t count, twill::element_type kind);

}  // namespace twill::tool
