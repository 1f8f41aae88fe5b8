#include "mover.hpp"

#include <algorithm>
#include <cstring>

namespace twill::cpu {
namespace {

// An element is loaded and stored as `Moved` bytes, a power of two, where the tile has more in its row on both sides.
template <std::size_t Bytes, std::size_t Moved = Bytes>
void plain_tile(const vector_tile& t, std::size_t) {
  const std::int64_t in_ld = t.in_ld, rows = t.rows, cols = t.cols;  // stores could alias the tile's own
  for (std::int64_t c = 0; c < cols; ++c) {
    const unsigned char* in = t.in + c * Bytes;
    unsigned char* out = t.out + c * t.out_ld;
    for (std::int64_t r = c + 1 < cols ? 1 : rows; r < rows; ++r, in += in_ld, out += Bytes)
      std::memcpy(out, in, Moved);
    for (std::int64_t r = c + 1 < cols ? rows - 1 : 0; r < rows; ++r, in += in_ld, out += Bytes) {
      std::memcpy(out, in, Bytes);
    }
  }
}

void any_plain_tile(const vector_tile& t, std::size_t bytes) {
  const auto step = static_cast<std::int64_t>(bytes);
  for (std::int64_t c = 0; c < t.cols; ++c) {
    for (std::int64_t r = 0; r < t.rows; ++r)
      std::memcpy(t.out + c * t.out_ld + r * step, t.in + r * t.in_ld + c * step, bytes);
  }
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
    : vector(vectors()),
      exponent(vector == nullptr ? -1 : exponent_of(element_bytes)),
      bytes_(element_bytes),
      plain_(plain_of(element_bytes)) {}

// The sizes that applications have are known to the compiler.
mover::tile_function mover::plain_of(std::int64_t bytes) {
  constexpr tile_function up_to_16[] = {
      &plain_tile<1>,      &plain_tile<2>,      &plain_tile<3, 4>,   &plain_tile<4>,
      &plain_tile<5, 8>,   &plain_tile<6, 8>,   &plain_tile<7, 8>,   &plain_tile<8>,
      &plain_tile<9, 16>,  &plain_tile<10, 16>, &plain_tile<11, 16>, &plain_tile<12, 16>,
      &plain_tile<13, 16>, &plain_tile<14, 16>, &plain_tile<15, 16>, &plain_tile<16>};
  if (bytes <= 16) return up_to_16[bytes - 1];
  return bytes == 24 ? &plain_tile<24, 32> : bytes == 32 ? &plain_tile<32> : &any_plain_tile;
}

void mover::move(const vector_tile& t, bool streamed, const unsigned char* next) const {
  const std::int64_t edge = 16 / bytes_;
  if (exponent < 0) return plain_(t, static_cast<std::size_t>(bytes_));
  if (exponent < 4 && t.cols >= 2 && t.cols <= 4 && t.in_ld == t.cols * bytes_) return vector->split[exponent](t);
  if (exponent < 4 && t.rows >= 2 && t.rows <= 4 && t.out_ld == t.rows * bytes_) return vector->join[exponent](t);
  if (t.rows < edge || t.cols < edge) return plain_(t, static_cast<std::size_t>(bytes_));
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
