#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "backends/cpu/device.hpp"
#include "backends/cpu/vector.hpp"
#include "mover.hpp"
#include "operations.hpp"

namespace twill::cpu {
namespace {

using detail::transpose_in_place_args;

constexpr std::int64_t local_bytes = host::work_buffer::bytes;  // of a task: what a second-level cache holds

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// Calls f with the element size as a constant where it is a common one, so that elements move as words.
template <class F>
void with_size(std::int64_t bytes, F&& f) {
  switch (bytes) {
    case 1:
      return f(std::integral_constant<std::int64_t, 1>{});
    case 2:
      return f(std::integral_constant<std::int64_t, 2>{});
    case 4:
      return f(std::integral_constant<std::int64_t, 4>{});
    case 8:
      return f(std::integral_constant<std::int64_t, 8>{});
    case 16:
      return f(std::integral_constant<std::int64_t, 16>{});
    default:
      return f(bytes);
  }
}

template <class Size>
void move_element(unsigned char* to, const unsigned char* from, Size bytes) {
  std::memcpy(to, from, static_cast<std::size_t>(static_cast<std::int64_t>(bytes)));
}

// --- square matrices: pairs of tiles swap places, transposed
// -----------------------------------------------------------

struct square_tiles {
  std::int64_t edge, side, pairs;  // elements of a tile; tiles along a matrix; of a matrix, pairs and those alone
};

square_tiles tiles_of(const transpose_in_place_args& a) {
  const std::int64_t edge = a.element_bytes <= 2 ? 128 : a.element_bytes <= 8 ? 64 : a.element_bytes <= 16 ? 32 : 16;
  const std::int64_t side = ceil_div(a.rows, edge);
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
  team_of(queue).run(static_cast<std::size_t>(ceil_div(all, at_once)), [&](std::size_t task) {
    host::work_buffer held;
    const std::int64_t first = static_cast<std::int64_t>(task) * at_once;
    for (std::int64_t i = first; i < std::min(all, first + at_once); ++i) {
      unsigned char* matrix = static_cast<unsigned char*>(a.data) + i / t.pairs * a.stride * a.element_bytes;
      swap_pair(with, a, matrix, t, pair_at(t, i % t.pairs), held.data());
    }
  });
}

// --- small matrices: through a buffer --------------------------------------------------------------------------------

void transpose_small(const detail::work_queue& queue, const transpose_in_place_args& a) {
  const std::int64_t matrix_bytes = a.rows * a.cols * a.element_bytes;
  const std::int64_t at_once = std::max<std::int64_t>(1, local_bytes / matrix_bytes);
  team_of(queue).run(static_cast<std::size_t>(ceil_div(a.batch, at_once)), [&](std::size_t task) {
    host::work_buffer held;
    unsigned char* const buffer = held.data();
    const auto first = static_cast<std::int64_t>(task) * at_once;
    for (std::int64_t i = first; i < std::min(a.batch, first + at_once); ++i) {
      unsigned char* matrix = static_cast<unsigned char*>(a.data) + i * a.stride * a.element_bytes;
      std::memcpy(buffer, matrix, static_cast<std::size_t>(matrix_bytes));
      with_size(a.element_bytes, [&](auto bytes) {
        for (std::int64_t c = 0; c < a.cols; ++c) {
          for (std::int64_t r = 0; r < a.rows; ++r) {
            move_element(matrix + (c * a.rows + r) * bytes, buffer + (r * a.cols + c) * bytes, bytes);
          }
        }
      });
    }
  });
}

// --- with a scratch matrix -------------------------------------------------------------------------------------------

void transpose_by_copy(const detail::work_queue& queue, const transpose_in_place_args& a) {
  const std::int64_t matrix = a.rows * a.cols;
  for (std::int64_t i = 0; i < a.batch; ++i) {
    unsigned char* data = static_cast<unsigned char*>(a.data) + i * a.stride * a.element_bytes;
    transpose(queue, {data, a.scratch, a.element_bytes, a.rows, a.cols, 1, a.cols, a.rows, matrix, matrix});
    queue.device->copy(queue.native, data, a.scratch, static_cast<std::size_t>(matrix * a.element_bytes),
                       detail::copy_direction::device_to_device);
  }
}

// --- by passes over rows and columns, as in src/move/gpu/in_place_passes.hpp
// ----------------------------------------------

struct grid {
  std::int64_t height, length, b, bytes;
  bool backwards;

  std::int64_t other_row(bool rotate, std::int64_t i, std::int64_t j) const {
    if (rotate) return (i + j / b) % height;
    const std::int64_t k = i * length + j, above = k / height;
    return (k - above * height + height - above / b) % height;
  }
  std::int64_t other_column(std::int64_t r, std::int64_t j) const {
    return (j * height + (r + j / b) % height) % length;
  }
};

class passes {
 public:
  passes(const detail::work_queue& queue, const transpose_in_place_args& a)
      : team_(team_of(queue)), scratch_(static_cast<unsigned char*>(a.scratch)), scratch_bytes_(a.scratch_bytes) {
    g_.height = std::min(a.rows, a.cols);
    g_.length = std::max(a.rows, a.cols);
    g_.b = g_.length / std::gcd(a.rows, a.cols);
    g_.bytes = a.element_bytes;
    g_.backwards = a.rows > a.cols;
  }

  void run(unsigned char* matrix) {
    matrix_ = matrix;
    const bool coprime = g_.b == g_.length;
    if (!g_.backwards && !coprime) columns(true);
    if (g_.backwards) columns(false);
    rows();
    if (!g_.backwards) columns(false);
    if (g_.backwards && !coprime) columns(true);
  }

 private:
  // The columns [first, end) of row r, to `to`: forwards what stands there, backwards what belongs there.
  void permute_row(std::int64_t r, std::int64_t first, std::int64_t end, unsigned char* to) const {
    const unsigned char* from = matrix_ + r * g_.length * g_.bytes;
    with_size(g_.bytes, [&](auto bytes) {
      for (std::int64_t j = first; j < end; ++j) {
        const std::int64_t other = g_.other_column(r, j);
        if (g_.backwards) {
          move_element(to + j * bytes, from + other * bytes, bytes);
        } else {
          move_element(to + other * bytes, from + j * bytes, bytes);
        }
      }
    });
  }

  void rows() {
    const std::int64_t row_bytes = g_.length * g_.bytes;
    if (row_bytes <= local_bytes) {
      team_.run(static_cast<std::size_t>(g_.height), [&](std::size_t r) {
        host::work_buffer held;
        unsigned char* const buffer = held.data();
        permute_row(static_cast<std::int64_t>(r), 0, g_.length, buffer);
        std::memcpy(matrix_ + static_cast<std::int64_t>(r) * row_bytes, buffer, static_cast<std::size_t>(row_bytes));
      });
      return;
    }
    const std::int64_t part = ceil_div(g_.length, 4 * team_.size());
    for (std::int64_t r = 0; r < g_.height; ++r) {
      const auto parts = static_cast<std::size_t>(ceil_div(g_.length, part));
      team_.run(parts, [&](std::size_t p) {
        const auto first = static_cast<std::int64_t>(p) * part;
        permute_row(r, first, std::min(g_.length, first + part), scratch_);
      });
      team_.run(parts, [&](std::size_t p) {
        const auto first = static_cast<std::int64_t>(p) * part, count = std::min(g_.length - first, part);
        std::memcpy(matrix_ + r * row_bytes + first * g_.bytes, scratch_ + first * g_.bytes,
                    static_cast<std::size_t>(count * g_.bytes));
      });
    }
  }

  // All rows of the columns [first, first + width), through `buffer`.
  void permute_strip(bool rotate, std::int64_t first, std::int64_t width, unsigned char* buffer) const {
    const std::int64_t pitch = g_.length * g_.bytes;
    with_size(g_.bytes, [&](auto bytes) {
      for (std::int64_t i = 0; i < g_.height; ++i) {
        for (std::int64_t x = 0; x < width; ++x) {
          const std::int64_t other = g_.other_row(rotate, i, first + x);
          const std::int64_t from = g_.backwards ? i : other, to = g_.backwards ? other : i;
          move_element(buffer + (to * width + x) * bytes, matrix_ + from * pitch + (first + x) * bytes, bytes);
        }
      }
    });
    for (std::int64_t i = 0; i < g_.height; ++i) {
      std::memcpy(matrix_ + i * pitch + first * g_.bytes, buffer + i * width * g_.bytes,
                  static_cast<std::size_t>(width * g_.bytes));
    }
  }

  void columns(bool rotate) {
    const std::int64_t column = g_.height * g_.bytes;
    const std::int64_t width = std::min<std::int64_t>(g_.length, local_bytes / column);
    if (width > 0) {
      team_.run(static_cast<std::size_t>(ceil_div(g_.length, width)), [&](std::size_t s) {
        host::work_buffer held;
        unsigned char* const buffer = held.data();
        const auto first = static_cast<std::int64_t>(s) * width;
        permute_strip(rotate, first, std::min(width, g_.length - first), buffer);
      });
      return;
    }
    const std::int64_t wide = scratch_bytes_ / column;  // at least one column
    for (std::int64_t j = 0; j < g_.length; j += wide) {
      permute_strip(rotate, j, std::min(wide, g_.length - j), scratch_);
    }
  }

  host::thread_team& team_;
  unsigned char* scratch_;
  std::int64_t scratch_bytes_;
  unsigned char* matrix_ = nullptr;
  grid g_{};
};

}  // namespace

void transpose_in_place(const detail::work_queue& queue, const transpose_in_place_args& a) {
  const std::int64_t bytes = a.rows * a.cols * a.element_bytes;
  if (a.rows == a.cols) {
    swap_square(queue, a);
  } else if (bytes <= local_bytes) {
    transpose_small(queue, a);
  } else if (a.scratch_bytes >= bytes) {
    transpose_by_copy(queue, a);
  } else {
    passes each(queue, a);
    for (std::int64_t i = 0; i < a.batch; ++i) {
      each.run(static_cast<unsigned char*>(a.data) + i * a.stride * a.element_bytes);
    }
  }
}

}  // namespace twill::cpu
