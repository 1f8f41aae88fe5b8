#pragma once

// Which kinds of reduce_kinds.hpp the vector unit combines.

#include <algorithm>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/vector.hpp"
#include "element_map.hpp"

namespace twill::cpu {

/// The index of elements of T in the lists of vector_reduce.hpp.
template <class T>
inline constexpr int number_index = std::is_same_v<T, float16>               ? 0
                                    : std::is_same_v<T, bfloat16>            ? 1
                                    : std::is_same_v<T, float>               ? 2
                                    : std::is_same_v<T, double>              ? 3
                                    : std::is_same_v<T, std::complex<float>> ? 4
                                                                             : 5;
template <class Bits>
inline constexpr int bits_index = sizeof(Bits) == 1   ? 0
                                  : sizeof(Bits) == 2 ? 1
                                  : sizeof(Bits) == 4 ? 2
                                                      : 3;

/// Leaves the values of the lanes of a full chunk at the front of `columns`; or does nothing and returns false.
template <class T, bool Product>
bool combine_whole_chunk(const number_kind<T, Product>&, const T* in, calculated<T>* columns) {
  const vector_functions* vector = vectors();
  if (vector == nullptr) return false;
  if constexpr (!Product) {
    vector->reduce.sum_chunk[number_index<T>](in, columns);
    return true;
  } else if constexpr (number_index<T> < 4) {
    vector->reduce.product_chunk[number_index<T>](in, columns);
    return true;
  }
  return false;
}

/// Combines elements `begin` and following into `all`, as many of those before `end` as fill vectors; returns where it
/// stopped.
template <class Bits>
std::int64_t combine_vectors(const vector_functions& vector, const integer_sum_kind<Bits>& kind, const Bits* in,
                             std::int64_t begin, std::int64_t end, std::uint64_t& all) {
  std::uint64_t sum = 0;
  const auto count = vector.reduce.sum[bits_index<Bits>](in + begin, end - begin, kind.flip, sum);
  all += sum - kind.flip * static_cast<std::uint64_t>(count);
  return begin + count;
}

template <class Bits>
std::int64_t min_key_of(const vector_functions& vector, const order_key<Bits>& key, const Bits* in, std::int64_t count,
                        std::uint64_t& least) {
  return vector.reduce.least[bits_index<Bits>](in, count, {key.flip, key.infinity, key.is_float}, least);
}

template <class Bits>
std::int64_t combine_vectors(const vector_functions& vector, const min_kind<Bits>& kind, const Bits* in,
                             std::int64_t begin, std::int64_t end, Bits& all) {
  std::uint64_t least = 0;
  const std::int64_t count = min_key_of(vector, kind.key, in + begin, end - begin, least);
  if (count > 0) all = kind.combine(all, static_cast<Bits>(least));
  return begin + count;
}

/// Pieces that fit the first-level cache: one with a key less than all before is searched for its index.
template <class Bits>
std::int64_t combine_vectors(const vector_functions& vector, const argmin_kind<Bits>& kind, const Bits* in,
                             std::int64_t begin, std::int64_t end, indexed_key<Bits>& all) {
  constexpr std::int64_t piece = (32 << 10) / sizeof(Bits);
  while (begin < end) {
    std::uint64_t least = 0;
    const std::int64_t count = min_key_of(vector, kind.key, in + begin, std::min(piece, end - begin), least);
    if (count == 0) break;
    if (all.index < 0 || least < all.key) {
      std::int64_t at = begin;
      while (kind.key.of(in[at]) != least) ++at;
      all = {static_cast<Bits>(least), at};
    }
    begin += count;
  }
  return begin;
}

template <class Bits>
std::int64_t combine_vectors(const vector_functions& vector, const bits_kind<Bits>& kind, const Bits* in,
                             std::int64_t begin, std::int64_t end, std::uint64_t& all) {
  if (sizeof(Bits) > 8 || kind.op == reduce_op::product) return begin;
  if (kind.op < reduce_op::bitwise_and) {
    nonzero_elements nonzero{};
    const auto count = vector.reduce.nonzero[bits_index<Bits>](in + begin, end - begin, kind.mask, nonzero);
    all += kind.op == reduce_op::logical_and  ? (nonzero.all ? 0 : 1)
           : kind.op == reduce_op::logical_or ? (nonzero.any ? 1 : 0)
                                              : (nonzero.odd ? 1 : 0);
    return begin + count;
  }
  constexpr std::int64_t in_word = std::max<std::int64_t>(1, 8 / sizeof(Bits));
  combined_bits bits{};
  const std::int64_t words = vector.reduce.bits(in + begin, (end - begin) / in_word, bits);
  std::uint64_t word = kind.op == reduce_op::bitwise_and  ? bits.all
                       : kind.op == reduce_op::bitwise_or ? bits.any
                                                          : bits.odd;
  for (int width = 32; width >= 8 * static_cast<int>(sizeof(Bits)); width /= 2)
    word = kind.combine(word, word >> width);
  if (words > 0)
    all = kind.combine(all, sizeof(Bits) < 8 ? word & ((std::uint64_t{1} << 8 * sizeof(Bits) % 64) - 1) : word);
  return begin + words * in_word;
}

}  // namespace twill::cpu
