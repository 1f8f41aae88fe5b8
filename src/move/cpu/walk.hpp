#pragma once

// Nested loops whose number is known at run time.

#include <cstdint>

namespace twill::cpu {

/// Dimensions, the innermost first, with the strides of two sides in bytes.
struct walk {
  int rank = 0;
  std::int64_t extent[8], from[8], to[8];

  void add(std::int64_t count, std::int64_t from_stride, std::int64_t to_stride) {
    extent[rank] = count;
    from[rank] = from_stride;
    to[rank++] = to_stride;
  }

  std::int64_t count() const {
    std::int64_t product = 1;
    for (int i = 0; i < rank; ++i) product *= extent[i];
    return product;
  }

  /// An element: its index in each dimension, and its offset on both sides.
  struct position {
    std::int64_t index[8] = {}, from = 0, to = 0;
  };

  position find(std::int64_t element) const {
    position at;
    for (int i = 0; i < rank; ++i) {
      at.index[i] = element % extent[i];
      at.from += at.index[i] * from[i];
      at.to += at.index[i] * to[i];
      element /= extent[i];
    }
    return at;
  }

  /// Moves on to the next element; after the last one to the first, and returns false.
  bool step(position& at) const {
    for (int i = 0; i < rank; ++i) {
      at.from += from[i];
      at.to += to[i];
      if (++at.index[i] < extent[i]) return true;
      at.from -= extent[i] * from[i];
      at.to -= extent[i] * to[i];
      at.index[i] = 0;
    }
    return false;
  }

  /// Calls f(offset, offset) for each element.
  template <class F>
  void each(F&& f) const {
    position at;
    do f(at.from, at.to);
    while (step(at));
  }
};

}  // namespace twill::cpu
