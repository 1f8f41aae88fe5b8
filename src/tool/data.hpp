#pragma once

// Random input that can be computed again at any index, so that checking an output needs no copy of the input on the
// host. Bytes and integers are all bits random. Floating point that is calculated with is integers from -8 to 8 of
// mean 0: sums of 2^32 of them stay below 2^24, so that they are exact in any order and every result has one right
// value.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "parse.hpp"

namespace twill::tool {

/// What outputs are filled with before a run. No byte of the data has this value.
constexpr unsigned char poison = 0xA5;

/// Bytes 8*index to 8*index+7 of the data: a fixed-seed hash of the index (Steele, Lea and Flood, 2014, SplitMix),
/// changed in two ways. As floating point, of 2, 4 or 8 bytes, it is a normal number: a vendor's library moves those
/// alone unchanged. And each poison byte has its top bit flipped.
inline std::uint64_t data_word(std::uint64_t index) {
  std::uint64_t word = (index + 0x7477696C6Cu) * 0x9E3779B97F4A7C15u;
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
  word ^= word >> 31;
  constexpr std::uint64_t second_exponent_bit = 0x2000200020002000u;
  word = (word & ~second_exponent_bit) | (~word >> 1 & second_exponent_bit);  // unlike the first: not all 0, not all 1
  constexpr std::uint64_t low_bits = 0x7F7F7F7F7F7F7F7Fu;
  const std::uint64_t differs = word ^ (poison * 0x0101010101010101u);
  const std::uint64_t is_poison = ~(((differs & low_bits) + low_bits) | differs) & ~low_bits;
  return word ^ is_poison;
}

/// Writes `bytes` bytes of the input for elements of `kind`, from byte `first` on, a multiple of 64, to host memory.
void write_data(void* to, std::uint64_t first, std::size_t bytes, twill::element_type kind);

/// `bytes` bytes of that input, from any byte on.
std::vector<unsigned char> data_from(std::uint64_t first, std::size_t bytes, twill::element_type kind);

/// Refuses b3 and the like, which are moved and not calculated with.
void require_number(const std::string& operation, const element_type& type);

/// `count` elements as integers, those of 64 bits modulo 2^64.
void read_numbers(const void* from, std::int64_t count, twill::element_type kind, std::int64_t* to);

/// The opposite: integers modulo their size, floating point rounded to nearest.
void store_numbers(void* to, const std::int64_t* from, std::int64_t count, twill::element_type kind);

}  // namespace twill::tool
