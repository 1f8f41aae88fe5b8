#include <algorithm>
#include <cstring>

#include "backends/cpu/vector.hpp"
#include "families.hpp"
#include "move/plan/integers.hpp"
#include "move/plan/normal_form.hpp"
#include "mover.hpp"
#include "operations.hpp"
#include "tasks.hpp"

namespace twill::cpu {
namespace {

using detail::transpose_in_place_args;

constexpr std::int64_t local_bytes = host::work_buffer::bytes;  // what a second-level cache holds
constexpr std::int64_t in_place_task_bytes = std::int64_t{512} << 10;

// --- square matrices: pairs of tiles swap places, transposed
// -----------------------------------------------------------

struct square_tiles {
  std::int64_t edge, side, pairs;  // elements of a tile; tiles along a matrix; of a matrix, pairs and those alone
};

square_tiles tiles_of(const transpose_in_place_args& a) {
  const std::int64_t edge = a.element_bytes <= 2 ? 128 : a.element_bytes <= 8 ? 64 : a.element_bytes <= 16 ? 32 : 16;
  const std::int64_t side = detail::ceil_divided(a.rows, edge);
  return {edge, side, side * (side + 1) / 2};
}

struct tile_pair {
  std::int64_t row, col;  // of the upper one
};

// Pairs lie in a rectangle as wide as the longest row of the triangle: a long row and a short one fill a line of it.
tile_pair pair_at(const square_tiles& t, std::int64_t index) {
  const std::int64_t width = t.side | 1, row = index / width, place = index % width, in_row = t.side - row;
  if (place < in_row) return {row, row + place};
  const std::int64_t other = 2 * t.side - width - row;
  return {other, other + place - in_row};
}

void swap_pair(const mover& with, const transpose_in_place_args& a, unsigned char* matrix, const square_tiles& t,
               const tile_pair& pair, unsigned char* buffer) {
  const std::int64_t bytes = a.element_bytes, ld = a.ld * bytes, row = pair.row * t.edge, col = pair.col * t.edge;
  const std::int64_t height = std::min(t.edge, a.rows - row), width = std::min(t.edge, a.rows - col);
  const std::int64_t pitch = t.edge * bytes + line_bytes;
  unsigned char *upper = matrix + row * ld + col * bytes, *lower = matrix + col * ld + row * bytes;
  with.move({upper, buffer, ld, pitch, height, width}, false);
  if (upper != lower) with.move({lower, upper, ld, ld, width, height}, false);
  for (std::int64_t i = 0; i < width; ++i) {
    std::memcpy(lower + i * ld, buffer + i * pitch, static_cast<std::size_t>(height * bytes));
  }
}

void swap_square(const detail::work_queue& queue, const transpose_in_place_args& a) {
  const square_tiles t = tiles_of(a);
  const mover with(a.element_bytes);
  const std::int64_t edge = std::min(t.edge, a.rows), all = t.pairs * a.batch;
  const std::int64_t at_once = std::max<std::int64_t>(1, local_bytes / (2 * edge * edge * a.element_bytes));
  run_tasks(queue, all, at_once, [&](std::int64_t first, std::int64_t end) {
    host::work_buffer held;
    for (std::int64_t i = first; i < end; ++i) {
      unsigned char* matrix = static_cast<unsigned char*>(a.data) + i / t.pairs * a.stride * a.element_bytes;
      swap_pair(with, a, matrix, t, pair_at(t, i % t.pairs), held.data());
    }
  });
}

// --- small matrices: through a buffer that stays in the cache --------------------------------------------------------

constexpr std::int64_t most_offsets = 4096;

// Where the elements of a transposed matrix come from.
void make_offsets(const transpose_in_place_args& a, std::int64_t* offsets) {
  for (std::int64_t c = 0; c < a.cols; ++c) {
    for (std::int64_t r = 0; r < a.rows; ++r) *offsets++ = (r * a.cols + c) * a.element_bytes;
  }
}

// Matrices [first, end), each through a buffer: by a table of offsets, or as a tile.
void transpose_matrices(const transpose_in_place_args& a, std::int64_t first, std::int64_t end, bool by_table) {
  host::work_buffer held;
  std::int64_t offsets[most_offsets];
  const mover with(a.element_bytes);
  const gather_function gather = gather_of(a.element_bytes, true);
  const std::int64_t bytes = a.element_bytes, elements = a.rows * a.cols;
  if (by_table) make_offsets(a, offsets);
  for (std::int64_t i = first; i < end; ++i) {
    auto* const matrix = static_cast<unsigned char*>(a.data) + i * a.stride * bytes;
    std::memcpy(held.data(), matrix, static_cast<std::size_t>(elements * bytes));
    if (by_table) {
      gather(held.data(), matrix, offsets, elements, bytes);
    } else {
      with.move({held.data(), matrix, a.cols * bytes, a.rows * bytes, a.rows, a.cols}, false);
    }
  }
}

void transpose_small(const detail::work_queue& queue, const transpose_in_place_args& a) {
  const std::int64_t elements = a.rows * a.cols;
  const std::int64_t at_once = std::max<std::int64_t>(1, in_place_task_bytes / (elements * a.element_bytes));
  const bool by_vectors = mover(a.element_bytes).exponent >= 0 && std::min(a.rows, a.cols) * a.element_bytes >= 16;
  const bool by_table = !by_vectors && elements <= most_offsets;
  run_tasks(queue, a.batch, at_once,
            [&](std::int64_t first, std::int64_t end) { transpose_matrices(a, first, end, by_table); });
}

// --- with a scratch matrix -------------------------------------------------------------------------------------------

void transpose_by_copy(const detail::work_queue& queue, const transpose_in_place_args& a) {
  const std::int64_t matrix = a.rows * a.cols;
  for (std::int64_t i = 0; i < a.batch; ++i) {
    unsigned char* data = static_cast<unsigned char*>(a.data) + i * a.stride * a.element_bytes;
    permute(queue, detail::normal_form_of(
                       {data, a.scratch, a.element_bytes, a.rows, a.cols, 1, a.cols, a.rows, matrix, matrix}));
    queue.device->copy(queue.native, data, a.scratch, static_cast<std::size_t>(matrix * a.element_bytes),
                       detail::copy_direction::device_to_device);
  }
}

}  // namespace

void transpose_in_place(const detail::work_queue& queue, const transpose_in_place_args& a) {
  const std::int64_t bytes = a.rows * a.cols * a.element_bytes;
  const bool gathered = a.ld == a.cols && bytes <= 4096;
  if (a.rows == a.cols && !gathered) {
    swap_square(queue, a);
  } else if (bytes <= local_bytes) {
    transpose_small(queue, a);
  } else if (a.scratch_bytes >= bytes) {
    transpose_by_copy(queue, a);
  } else {
    transpose_by_passes(queue, a);
  }
}

}  // namespace twill::cpu
