// How rectangular matrices are turned by passes over rows and columns (kernels/turn_passes.hpp): in which order, and in
// pieces of which size.

#include <algorithm>
#include <numeric>

#include "kernels/turn_long_row.hpp"
#include "kernels/turn_passes.hpp"

#include "core/check.hpp"
#include "launch.hpp"
#include "ops/in_place_plan.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_in_place_args;
using detail::work_queue;
using kernels::turn_grid;
using kernels::turn_pass;

template <class Unit>
class passes {
 public:
  passes(const work_queue& queue, const transpose_in_place_args& a) : queue_(queue), a_(a), grid_{} {
    grid_.height = std::min(a.rows, a.cols);
    grid_.length = std::max(a.rows, a.cols);
    grid_.b = grid_.length / std::gcd(a.rows, a.cols);
    grid_.stride = a.stride * a.element_bytes;
    grid_.units = static_cast<int>(a.element_bytes / size);
    grid_.backwards = a.rows > a.cols;
  }

  void run() {
    const bool coprime = grid_.b == grid_.length;
    if (!grid_.backwards && !coprime) columns(turn_pass::rotate);
    if (grid_.backwards) columns(turn_pass::column);
    rows();
    if (!grid_.backwards) columns(turn_pass::column);
    if (grid_.backwards && !coprime) columns(turn_pass::rotate);
  }

 private:
  static constexpr std::int64_t size = sizeof(Unit);

  void rows() {
    const std::int64_t bytes = grid_.length * a_.element_bytes, shared = ceil_div(bytes + 15, 16) * 16;
    if (shared > shared_of(queue_)) {
      long_rows();
      return;
    }
    const std::int64_t most = std::min<std::int64_t>(1024, queue_.device->properties().max_threads_per_block);
    const std::int64_t threads = std::clamp<std::int64_t>(ceil_div(ceil_div(bytes, 128), 32) * 32, 32, most);
    const std::int64_t units = threads * 16 / size, elements = units / grid_.units;
    const kernels::row_step turn{static_cast<int>(units % grid_.units),
                                 static_cast<int>(elements * grid_.height % grid_.length),
                                 static_cast<int>(elements / grid_.b), static_cast<int>(elements % grid_.b)};
    check(launch(queue_, grid_of(grid_.height * a_.batch, threads, shared), &kernels::turn_row<Unit>, bytes_of(a_.data),
                 grid_, turn, a_.batch),
          in_place_call);
  }

  // Each row through scratch memory: a pass there, and a copy back.
  void long_rows() {
    constexpr std::int64_t stretch_bytes = 24576;
    const std::int64_t bytes = a_.element_bytes, step = 16 / std::min<std::int64_t>(16, lowest_bit(bytes));
    kernels::long_row m{};
    m.grid = grid_;
    m.stretch = static_cast<int>(std::min(stretch_bytes, shared_of(queue_) / 2) / bytes / step * step);
    m.run = static_cast<int>(ceil_div(m.stretch, grid_.height) + 2);
    const bool whole = reinterpret_cast<std::uintptr_t>(a_.scratch) % 16 == 0;
    if (!whole || grid_.length > INT32_MAX || grid_.height > m.stretch / 4) {  // runs of a few elements are slower
      each_strip(turn_pass::row, {0, 0, 1, grid_.length});
      return;
    }
    m.runs = kernels::make_divider(m.run);
    m.b = kernels::make_divider(grid_.b);
    const auto config = grid_of(ceil_div(grid_.length, m.stretch), kernels::long_row_threads,
                                m.stretch * bytes + m.stretch * bytes / 128 * 16 + 16);
    for (std::int64_t row = 0; row < grid_.height * a_.batch; ++row) {
      m.row = row % grid_.height;
      unsigned char* data = bytes_of(a_.data) + row / grid_.height * grid_.stride + m.row * grid_.length * bytes;
      check(launch(queue_, config, &kernels::turn_long_row<Unit>, bytes_of(a_.scratch), data, m), in_place_call);
      queue_.device->copy(queue_.native, data, a_.scratch, static_cast<std::size_t>(grid_.length * bytes),
                          detail::copy_direction::device_to_device);
    }
  }

  void columns(turn_pass pass) {
    const std::int64_t pitch = grid_.length * a_.element_bytes, limit = shared_of(queue_);
    const std::int64_t distances = pitch | (a_.batch > 1 ? grid_.stride : 0);
    const bool aligned = (static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a_.data)) | distances) % 16 == 0;
    // As many lanes side by side as a block has, down to a line of 128 bytes; less where columns are long.
    std::int64_t width = 256 * (aligned ? 16 : size);
    while (width > 128 && grid_.height * width > std::min<std::int64_t>(32768, limit / 2)) width /= 2;
    while (width > size && grid_.height > limit / 2 / width) width /= 2;
    if (width <= 16 && grid_.height <= limit / 32) width = 32;
    if (grid_.height > limit / width) {
      each_strip(pass,
                 {0, 0, grid_.height, std::max<std::int64_t>(1, a_.scratch_bytes / (grid_.height * a_.element_bytes))});
      return;
    }
    if (aligned && width >= 16) {
      columns<word16>(pass, width);
    } else {
      columns<Unit>(pass, width);
    }
  }

  template <class Piece>
  void columns(turn_pass pass, std::int64_t width) {
    const std::int64_t pieces = width / static_cast<std::int64_t>(sizeof(Piece));
    const std::int64_t most = std::min<std::int64_t>(1024, queue_.device->properties().max_threads_per_block);
    const std::int64_t lanes = std::max<std::int64_t>(128, pieces), wanted = ceil_div(grid_.height * pieces / 8, lanes);
    const std::int64_t threads = std::clamp<std::int64_t>(wanted, 1, most / lanes) * lanes;
    const std::int64_t step = threads / pieces, above = step * grid_.length / grid_.height;
    kernels::column_strip s{};
    s.strips = ceil_div(grid_.length * a_.element_bytes, width);
    s.batch = a_.batch;
    s.width = static_cast<int>(width);
    s.block = above / grid_.b;
    s.in_block = above % grid_.b;
    s.row = static_cast<int>(pass == turn_pass::rotate ? step : step * grid_.length % grid_.height);
    check(launch(queue_, grid_of(s.strips * a_.batch, threads, grid_.height * width),
                 &kernels::turn_columns<Unit, Piece>, bytes_of(a_.data), grid_, s, pass),
          in_place_call);
  }

  // A pass strip by strip through scratch memory.
  void each_strip(turn_pass pass, kernels::turn_strip s) {
    const std::int64_t cols = s.cols, lines = pass == turn_pass::row ? grid_.height : 1;
    unsigned char* scratch = bytes_of(a_.scratch);
    for (std::int64_t matrix = 0; matrix < a_.batch; ++matrix) {
      unsigned char* data = bytes_of(a_.data) + matrix * grid_.stride;
      for (s.row = 0; s.row < lines; ++s.row) {
        for (s.col = 0; s.col < grid_.length; s.col += cols) {
          s.cols = std::min(cols, grid_.length - s.col);
          const auto config = grid_of(ceil_div(s.rows * s.cols * grid_.units, 256), 256, 0);
          check(launch(queue_, config, &kernels::turn_to_scratch<Unit>, scratch, data, grid_, s, pass), in_place_call);
          check(launch(queue_, config, &kernels::copy_strip<Unit>, data, scratch, grid_, s), in_place_call);
        }
      }
    }
  }

  work_queue queue_;
  transpose_in_place_args a_;
  turn_grid grid_;
};

}  // namespace

void turn_by_passes(const work_queue& queue, const transpose_in_place_args& a, std::int64_t unit) {
  const auto scratch = lowest_bit(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.scratch)) | 16);
  with_unit(std::min(unit, scratch), [&](auto one) { passes<decltype(one)>(queue, a).run(); });
}

}  // namespace twill::TWILL_BACKEND
