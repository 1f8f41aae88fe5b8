#include "mover.hpp"

#include <algorithm>
#include <cstring>

#include "element_size.hpp"

namespace twill::cpu {
namespace {

// Elements are widened where the tile has more in their rows on both sides.
void plain_tile(const vector_tile& t, std::int64_t element_bytes) {
  with_size(element_bytes, [&t](auto bytes) {
    const auto [in_tile, out_tile, in_ld, out_ld, rows, cols] = t;  // stores could alias the tile's own
    for (std::int64_t c = 0; c < cols; ++c) {
      const unsigned char* in = in_tile + c * bytes;
      unsigned char* out = out_tile + c * out_ld;
      const std::int64_t wide = c + 1 < cols ? rows - 1 : 0;
      std::int64_t r = 0;
      for (; r < wide; ++r, in += in_ld, out += bytes) std::memcpy(out, in, widened(bytes));
      for (; r < rows; ++r, in += in_ld, out += bytes) copy_element(out, in, bytes);
    }
  });
}

std::int64_t floor_to(std::int64_t value, std::int64_t of) {
  return value / of * of;
}

}  // namespace

int exponent_of(std::int64_t bytes) {
  int exponent = 0;
  while (exponent < 5 && bytes != std::int64_t{1} << exponent) ++exponent;
  return exponent < 5 ? exponent : -1;
}

mover::mover(std::int64_t element_bytes)
    : vector(vectors()), exponent(vector == nullptr ? -1 : exponent_of(element_bytes)), bytes_(element_bytes) {}

void mover::move(const vector_tile& t, bool streamed, const unsigned char* next) const {
  const std::int64_t edge = 16 / bytes_;
  if (exponent < 0) return plain_tile(t, bytes_);
  if (exponent < 4 && t.cols >= 2 && t.cols <= 4 && t.in_ld == t.cols * bytes_) return vector->split[exponent](t);
  if (exponent < 4 && t.rows >= 2 && t.rows <= 4 && t.out_ld == t.rows * bytes_) return vector->join[exponent](t);
  if (t.rows < edge || t.cols < edge) return plain_tile(t, bytes_);
  if (!streamed) return vector->transpose[exponent](t);
  vector_tile lines = t;
  lines.rows = floor_to(t.rows, line_bytes / bytes_);
  lines.cols = floor_to(t.cols, edge);
  vector->transpose_streamed[exponent](lines, next);
  // What is left is less than a line high or a block wide: it is transposed together with some of its neighbours.
  if (lines.rows < t.rows) rest(t, std::min(lines.rows, t.rows - edge), 0);
  if (lines.cols < t.cols) rest(t, 0, t.cols - edge);
}

void mover::rest(const vector_tile& t, std::int64_t row, std::int64_t col) const {
  vector->transpose[exponent]({t.in + row * t.in_ld + col * bytes_, t.out + col * t.out_ld + row * bytes_, t.in_ld,
                               t.out_ld, t.rows - row, t.cols - col});
}

}  // namespace twill::cpu
