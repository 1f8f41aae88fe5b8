#pragma once

// Random redistributions of arrays over teams, and what they should leave, element by element.

#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include <twill/twill.hpp>

#include "support/dice.hpp"

namespace support {

struct redistribution {
  int size = 1;
  std::int64_t element_bytes = 4;
  twill::global_shape shape;

  std::string text() const {
    std::ostringstream text;
    text << size << " ranks, " << element_bytes << " bytes, extents" << list(shape.extents);
    for (const auto* side : {&shape.in, &shape.out}) {
      text << "; parts" << list(side->parts) << " order" << list(side->order) << " lds" << list(side->lds);
    }
    return text.str();
  }

 private:
  static std::string list(const twill::dims& values) {
    std::string text;
    for (const std::int64_t value : values) text += " " + std::to_string(value);
    return text;
  }
};

/// A matrix in slabs of rows, and its transpose in slabs of rows.
inline redistribution slab_transpose(int size, std::int64_t rows, std::int64_t cols, std::int64_t bytes) {
  redistribution one;
  one.size = size;
  one.element_bytes = bytes;
  one.shape = {{rows, cols}, {{size, 1}}, {{1, size}, {1, 0}}};
  return one;
}

/// `size` as a product of `rank` numbers.
inline std::vector<std::int64_t> random_parts(dice& random, int size, int rank) {
  std::vector<std::int64_t> parts(static_cast<std::size_t>(rank), 1);
  for (int factor = 2; size > 1;) {
    if (size % factor != 0) {
      ++factor;
      continue;
    }
    parts[static_cast<std::size_t>(random.pick(0, rank - 1))] *= factor;
    size /= factor;
  }
  return parts;
}

inline twill::dims dims_of(const std::vector<std::int64_t>& values) {
  return {values.data(), values.size()};
}

inline twill::distribution random_side(dice& random, int size, const std::vector<std::int64_t>& extents) {
  const int rank = static_cast<int>(extents.size());
  twill::distribution side;
  const auto parts = random_parts(random, size, rank);
  side.parts = dims_of(parts);
  std::vector<std::int64_t> order(extents.size());
  for (int i = 0; i < rank; ++i) order[static_cast<std::size_t>(i)] = i;
  for (int i = rank - 1; i > 0; --i) {
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(random.pick(0, i))]);
  }
  if (!random.one_in(4)) side.order = dims_of(order);
  if (random.one_in(2)) return side;
  std::vector<std::int64_t> lds(extents.size(), 0);
  for (int i = 1; i < rank; ++i) {
    const auto d = static_cast<std::size_t>(side.order.size() == 0 ? i : side.order[i]);
    const std::int64_t most = (extents[d] + parts[d] - 1) / parts[d];
    if (random.one_in(2)) lds[static_cast<std::size_t>(i)] = most + random.pick(0, 5);
  }
  side.lds = dims_of(lds);
  return side;
}

/// Of at most about `most_elements` elements.
inline redistribution random_redistribution(dice& random, int size, std::int64_t most_elements) {
  const auto rank = static_cast<std::size_t>(random.pick(1, 4));
  std::vector<std::int64_t> extents;
  std::int64_t left = most_elements;
  for (std::size_t d = 0; d < rank; ++d) {
    extents.push_back(random.one_in(40) ? 0 : random.one_in(3) ? random.extent(left) : random.pick(1, 24));
    if (extents.back() > left) extents.back() = left;
    left = extents.back() > 1 ? left / extents.back() : left;
    if (left < 1) left = 1;
  }
  redistribution one;
  one.size = size;
  one.element_bytes = random.element_bytes();
  one.shape = {dims_of(extents), random_side(random, size, extents), random_side(random, size, extents)};
  return one;
}

/// The bytes of global element `index`, never those of a gap.
inline void put_element(unsigned char* to, std::int64_t bytes, std::int64_t index) {
  std::uint64_t word = (static_cast<std::uint64_t>(index) + 1) * 0x9e3779b97f4a7c15u;
  for (std::int64_t i = 0; i < bytes; ++i) {
    to[i] = static_cast<unsigned char>(word >> (8 * (i % 8)));
    if (i % 8 == 7) word = word * 0xbf58476d1ce4e5b9u + 1;
  }
}

constexpr unsigned char gap_byte = 0xa5;

/// A rank's memory with its elements in place, and gap_byte between them.
inline std::vector<unsigned char> rank_memory(const redistribution& of, const twill::distribution& side, int rank) {
  const twill::local_part part = twill::part_of(of.shape.extents, side, rank);
  std::vector<unsigned char> memory(static_cast<std::size_t>(part.elements * of.element_bytes), gap_byte);
  if (part.elements == 0) return memory;
  const int dimensions = of.shape.extents.size();
  std::int64_t at[twill::dims::capacity] = {};
  for (bool more = true; more;) {
    std::int64_t global = 0, place = 0;
    for (int d = 0; d < dimensions; ++d) {
      global = global * of.shape.extents[d] + part.first[d] + at[d];
      place += at[d] * part.strides[d];
    }
    put_element(memory.data() + place * of.element_bytes, of.element_bytes, global);
    more = false;
    for (int d = dimensions - 1; d >= 0 && !more; --d) {
      more = ++at[d] < part.extents[d];
      if (!more) at[d] = 0;
    }
  }
  return memory;
}

}  // namespace support
