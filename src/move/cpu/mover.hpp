#pragma once

// Transposes one tile: by vectors where the CPU has them for the element size, else element by element.

#include <cstdint>

#include "backends/cpu/vector.hpp"

namespace twill::cpu {

/// Base-2 logarithm of an element size of 1, 2, 4, 8 or 16 bytes, the index of its vector functions; -1 for other
/// sizes.
int exponent_of(std::int64_t bytes);

/// What tiles of one element size are moved with.
class mover {
 public:
  explicit mover(std::int64_t element_bytes);

  const vector_functions* vector;  ///< nullptr where this CPU has no vectors that Twill knows
  int exponent;                    ///< of the element size, where there is a vector function for it; else -1

  /// Transposes a tile; past the caches if `streamed`. `next`, unless null, is where a tile of this size begins that is
  /// moved after this one.
  void move(const vector_tile& tile, bool streamed, const unsigned char* next = nullptr) const;

 private:
  void rest(const vector_tile& tile, std::int64_t row, std::int64_t col) const;

  std::int64_t bytes_;
};

}  // namespace twill::cpu
