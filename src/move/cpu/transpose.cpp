// Tiles that fit the caches, transposed in vector registers. Large outputs are streamed: whole lines go past the
// caches, so that no line is read only to be overwritten. Where output rows do not begin at lines, a tile is transposed
// into a buffer and its rows leave it from line to line: the boundaries between tiles move, row by row.

#include <algorithm>
#include <cstring>

#include "backends/cpu/vector.hpp"
#include "families.hpp"
#include "move/plan/integers.hpp"
#include "mover.hpp"
#include "tasks.hpp"

namespace twill::cpu {
namespace {

using detail::transpose_args;

constexpr std::int64_t buffer_bytes = host::work_buffer::bytes;  // in the second-level cache
constexpr std::int64_t matrix_task_bytes = 512 << 10;

enum class way {
  direct,    // tiles are written in place
  buffered,  // tiles go through the buffer, their rows leave it line by line
  run        // the output of a tile is contiguous: it leaves the buffer at once
};

struct plan {
  way by;
  bool streamed;
  std::int64_t height, width;  // of a tile
  std::int64_t down, across;   // tiles of a matrix
  mover with;
};

// Where all output rows begin at lines, they can be streamed as they leave the registers.
bool lines_aligned(const transpose_args& a) {
  const std::int64_t stride = a.batch > 1 ? a.out_stride : 0;  // a single matrix has none
  return (detail::address_of(a.out) | a.out_ld * a.element_bytes | stride * a.element_bytes) % line_bytes == 0;
}

plan plan_of(const transpose_args& a) {
  const std::int64_t bytes = a.element_bytes;
  plan p{way::direct, false, 0, 0, 1, 1, mover(bytes)};
  p.streamed = p.with.vector != nullptr && a.rows * a.cols * a.batch * bytes >= least_streamed;
  if (p.streamed && a.out_ld == a.rows && a.rows * bytes <= 512) {
    p.by = way::run;
    p.height = a.rows;
    p.width = std::min(a.cols, buffer_bytes / 2 / (a.rows * bytes));
  } else if (p.streamed && p.with.exponent >= 0 && lines_aligned(a)) {
    const std::int64_t pitch = std::clamp<std::int64_t>(a.in_ld * bytes, 16, streamed_tile_width);
    p.height = std::min(a.rows, streamed_tile_rows * (streamed_tile_width / pitch));
    p.width = std::min(a.cols, streamed_tile_width / bytes);
  } else if (!p.streamed) {
    p.height = std::min(a.rows, std::max<std::int64_t>(8, 256 / bytes));
    p.width = std::min(a.cols, std::max<std::int64_t>(8, 256 / bytes));
  } else {
    // A long tile, for each reads up to a line of the rows of the next one, too.
    p.by = way::buffered;
    p.width = std::min(a.cols, std::max<std::int64_t>(1, 128 / bytes));
    p.height = std::min(a.rows, std::max<std::int64_t>(8, 512 / bytes));
    const std::int64_t fitting = buffer_bytes / 2 / (p.width * bytes);
    if (p.width == a.cols) p.height = std::min(a.rows, std::max(p.height, fitting));
  }
  p.down = detail::ceil_divided(a.rows, p.height);
  p.across = detail::ceil_divided(a.cols, p.width);
  return p;
}

const unsigned char* input_at(const transpose_args& a, std::int64_t matrix, std::int64_t row, std::int64_t col) {
  return static_cast<const unsigned char*>(a.in) + (matrix * a.in_stride + row * a.in_ld + col) * a.element_bytes;
}
unsigned char* output_at(const transpose_args& a, std::int64_t matrix, std::int64_t row, std::int64_t col) {
  return static_cast<unsigned char*>(a.out) + (matrix * a.out_stride + col * a.out_ld + row) * a.element_bytes;
}

void store(const plan& p, unsigned char* to, const unsigned char* from, std::int64_t bytes) {
  p.with.vector->stream(to, from, static_cast<std::size_t>(bytes));
}

void move_buffered(const transpose_args& a, const plan& p, std::int64_t matrix, std::int64_t row, std::int64_t col) {
  host::work_buffer held;
  unsigned char* const buffer = held.data();
  const std::int64_t bytes = a.element_bytes, left = a.rows - row, width = std::min(p.width, a.cols - col);
  const bool last = left <= p.height;
  const std::int64_t height = std::min(left, p.height + detail::ceil_divided(line_bytes - 1, bytes));
  const std::int64_t pitch = (detail::ceil_divided(height * bytes, line_bytes) + 1) * line_bytes;
  p.with.move({input_at(a, matrix, row, col), buffer, a.in_ld * bytes, pitch, height, width}, false);
  for (std::int64_t c = 0; c < width; ++c) {
    unsigned char* to = output_at(a, matrix, row, col + c);
    const std::int64_t address = detail::address_of(to);
    const auto to_line = [&](std::int64_t at) { return at + (line_bytes - (address + at) % line_bytes) % line_bytes; };
    const std::int64_t first = row == 0 ? 0 : to_line(0);
    const std::int64_t end = last ? left * bytes : std::min(to_line(p.height * bytes), left * bytes);
    if (first < end) store(p, to + first, buffer + c * pitch + first, end - first);
  }
}

void move_run(const transpose_args& a, const plan& p, std::int64_t matrix, std::int64_t col) {
  host::work_buffer held;
  const std::int64_t bytes = a.element_bytes, width = std::min(p.width, a.cols - col);
  p.with.move({input_at(a, matrix, 0, col), held.data(), a.in_ld * bytes, a.rows * bytes, a.rows, width}, false);
  store(p, output_at(a, matrix, 0, col), held.data(), a.rows * width * bytes);
}

struct tile_place {
  std::int64_t matrix, row, col;
};

tile_place place_of(const plan& p, std::int64_t tile) {
  return {tile / p.across / p.down, tile / p.across % p.down * p.height, tile % p.across * p.width};
}

// `more`: the tile after it is moved next.
void move_tile(const transpose_args& a, const plan& p, std::int64_t tile, bool more) {
  const auto [matrix, row, col] = place_of(p, tile);
  if (p.by == way::run) return move_run(a, p, matrix, col);
  if (p.by == way::buffered) return move_buffered(a, p, matrix, row, col);
  const tile_place next = place_of(p, tile + 1);
  p.with.move({input_at(a, matrix, row, col), output_at(a, matrix, row, col), a.in_ld * a.element_bytes,
               a.out_ld * a.element_bytes, std::min(p.height, a.rows - row), std::min(p.width, a.cols - col)},
              p.streamed, more ? input_at(a, next.matrix, next.row, next.col) : nullptr);
}

}  // namespace

bool transposes_directly(const transpose_args& a) {
  const std::int64_t side = std::min(a.rows, a.cols), side_bytes = side * a.element_bytes;
  const std::int64_t matrix = a.rows * a.cols * a.element_bytes;
  if (mover(a.element_bytes).exponent < 0) return false;
  if (matrix * a.batch < least_streamed) return side_bytes >= 16;
  if (matrix <= buffer_bytes / 4) return false;
  // Short rows of the output that do not follow each other would be stored one by one.
  if (a.rows <= 8 && a.out_ld != a.rows && !lines_aligned(a)) return false;
  if (side <= 8) return side <= 4 || side_bytes >= 16;
  return side_bytes >= line_bytes && lines_aligned(a);
}

// Tasks walk along the input's rows: the processor's prefetchers follow them.
void transpose_directly(const detail::work_queue& queue, const transpose_args& a) {
  const plan p = plan_of(a);
  const std::int64_t tiles = p.across * p.down * a.batch;
  const std::int64_t at_once = std::max<std::int64_t>(1, matrix_task_bytes / (p.height * p.width * a.element_bytes));
  run_tasks(queue, tiles, at_once, [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t tile = first; tile < end; ++tile) move_tile(a, p, tile, tile + 1 < end);
    if (p.streamed) p.with.vector->fence();
  });
}

}  // namespace twill::cpu
