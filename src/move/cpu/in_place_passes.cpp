// The passes of src/move/gpu/in_place_passes.hpp (Catanzaro, Keller and Garland, 2014). A row, or as many columns as
// fit, go through a buffer; indices step from element to element without a division.

#include "families.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "element_size.hpp"
#include "tasks.hpp"

namespace twill::cpu {
namespace {

constexpr std::int64_t cache_bytes = host::work_buffer::bytes;  // what a second-level cache holds

struct grid {
  std::int64_t height, length, b, bytes;
  bool backwards;
};

// One more than `value`, or 0 at `limit`.
void count_up(std::int64_t& value, std::int64_t limit) {
  if (++value == limit) value = 0;
}

// Which row an element of row i changes places with by the rotation, from column j on.
class rotation_index {
 public:
  rotation_index(const grid& g, std::int64_t i, std::int64_t j)
      : g_(g), in_block_(j % g.b), row_((i + j / g.b) % g.height) {}

  std::int64_t row() const { return row_; }
  void step() {
    count_up(in_block_, g_.b);
    if (in_block_ == 0) count_up(row_, g_.height);
  }

 private:
  const grid& g_;
  std::int64_t in_block_, row_;
};

// Which column an element of row r changes places with, from column j on.
class row_index {
 public:
  row_index(const grid& g, std::int64_t r, std::int64_t j)
      : g_(g), product_(j * g.height % g.length), rotated_(g, r, j) {}

  std::int64_t column() const {
    const std::int64_t at = product_ + rotated_.row();
    return at < g_.length ? at : at - g_.length;
  }
  void step() {
    product_ += g_.height;
    if (product_ >= g_.length) product_ -= g_.length;
    rotated_.step();
  }

 private:
  const grid& g_;
  std::int64_t product_;  // j * height mod length
  rotation_index rotated_;
};

// The same as rotation_index by the pass over columns. With k = i * length + j it is (k mod height - k / (height * b))
// mod height, and height * b is a multiple of the length: the subtrahend is that of the whole row.
class column_index {
 public:
  column_index(const grid& g, std::int64_t i, std::int64_t j)
      : g_(g), row_((i * g.length + j - i * g.length / (g.height * g.b)) % g.height) {}

  std::int64_t row() const { return row_; }
  void step() { count_up(row_, g_.height); }

 private:
  const grid& g_;
  std::int64_t row_;
};

class passes {
 public:
  passes(const detail::work_queue& queue, const detail::transpose_in_place_args& a)
      : queue_(queue), scratch_(static_cast<unsigned char*>(a.scratch)), scratch_bytes_(a.scratch_bytes) {
    g_.height = std::min(a.rows, a.cols);
    g_.length = std::max(a.rows, a.cols);
    g_.b = g_.length / std::gcd(a.rows, a.cols);
    g_.bytes = a.element_bytes;
    g_.backwards = a.rows > a.cols;
  }

  void run(unsigned char* matrix) {
    matrix_ = matrix;
    const bool coprime = g_.b == g_.length;
    if (!g_.backwards && !coprime) columns<rotation_index>();
    if (g_.backwards) columns<column_index>();
    rows();
    if (!g_.backwards) columns<column_index>();
    if (g_.backwards && !coprime) columns<rotation_index>();
  }

 private:
  // The columns [first, end) of row r, to `to`: forwards what stands there, backwards what belongs there.
  void permute_row(std::int64_t r, std::int64_t first, std::int64_t end, unsigned char* to) const {
    const unsigned char* from = matrix_ + r * g_.length * g_.bytes;
    with_size(g_.bytes, [&](auto bytes) {
      row_index other(g_, r, first);
      for (std::int64_t j = first; j < end; ++j, other.step()) {
        if (g_.backwards) {
          copy_element(to + j * bytes, from + other.column() * bytes, bytes);
        } else {
          copy_element(to + other.column() * bytes, from + j * bytes, bytes);
        }
      }
    });
  }

  void rows() {
    const std::int64_t row_bytes = g_.length * g_.bytes;
    if (row_bytes <= cache_bytes) {
      const std::int64_t at_once = std::max<std::int64_t>(1, cache_bytes / row_bytes);
      run_tasks(queue_, g_.height, at_once, [&](std::int64_t first, std::int64_t end) {
        host::work_buffer held;
        for (std::int64_t r = first; r < end; ++r) {
          permute_row(r, 0, g_.length, held.data());
          std::memcpy(matrix_ + r * row_bytes, held.data(), static_cast<std::size_t>(row_bytes));
        }
      });
      return;
    }
    const std::int64_t part = detail::ceil_divided(g_.length, 4 * team_of(queue_).size());
    for (std::int64_t r = 0; r < g_.height; ++r) {
      run_tasks(queue_, g_.length, part,
                [&](std::int64_t first, std::int64_t end) { permute_row(r, first, end, scratch_); });
      run_tasks(queue_, row_bytes, part * g_.bytes, [&](std::int64_t first, std::int64_t end) {
        std::memcpy(matrix_ + r * row_bytes + first, scratch_ + first, static_cast<std::size_t>(end - first));
      });
    }
  }

  // All rows of the columns [first, first + width), through `buffer`.
  template <class Index>
  void permute_strip(std::int64_t first, std::int64_t width, unsigned char* buffer) const {
    const std::int64_t pitch = g_.length * g_.bytes;
    with_size(g_.bytes, [&](auto bytes) {
      for (std::int64_t i = 0; i < g_.height; ++i) {
        Index other(g_, i, first);
        for (std::int64_t x = 0; x < width; ++x, other.step()) {
          const std::int64_t from = g_.backwards ? i : other.row(), to = g_.backwards ? other.row() : i;
          copy_element(buffer + (to * width + x) * bytes, matrix_ + from * pitch + (first + x) * bytes, bytes);
        }
      }
    });
    for (std::int64_t i = 0; i < g_.height; ++i) {
      std::memcpy(matrix_ + i * pitch + first * g_.bytes, buffer + i * width * g_.bytes,
                  static_cast<std::size_t>(width * g_.bytes));
    }
  }

  template <class Index>
  void columns() {
    const std::int64_t column = g_.height * g_.bytes;
    const std::int64_t width = std::min<std::int64_t>(g_.length, cache_bytes / column);
    if (width > 0) {
      run_tasks(queue_, g_.length, width, [&](std::int64_t first, std::int64_t end) {
        host::work_buffer held;
        permute_strip<Index>(first, end - first, held.data());
      });
      return;
    }
    const std::int64_t wide = scratch_bytes_ / column;  // at least one column
    for (std::int64_t j = 0; j < g_.length; j += wide) {
      permute_strip<Index>(j, std::min(wide, g_.length - j), scratch_);
    }
  }

  const detail::work_queue& queue_;
  unsigned char* scratch_;
  std::int64_t scratch_bytes_;
  unsigned char* matrix_ = nullptr;
  grid g_{};
};

}  // namespace

void transpose_by_passes(const detail::work_queue& queue, const detail::transpose_in_place_args& a) {
  passes all(queue, a);
  for (std::int64_t i = 0; i < a.batch; ++i) {
    all.run(static_cast<unsigned char*>(a.data) + i * a.stride * a.element_bytes);
  }
}

}  // namespace twill::cpu
