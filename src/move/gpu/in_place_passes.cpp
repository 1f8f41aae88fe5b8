// How rectangular matrices are transposed by passes over rows and columns (in_place_passes.hpp): in which order, and in
// pieces of which size. A pass is one launch where lines fit in shared memory, completely or a quarter of each element
// at least; else as many lines as scratch memory holds take two launches.

#include <algorithm>
#include <numeric>

#include "families.hpp"
#include "in_place_passes.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_in_place_args;
using detail::work_queue;
using kernels::in_place_grid;
using kernels::in_place_pass;

template <class Part>
void launch_row_parts(const work_queue& queue, const transpose_in_place_args& a, in_place_grid grid) {
  constexpr std::int64_t size = sizeof(Part);
  const std::int64_t threads = std::min<std::int64_t>(1024, queue.device->properties().max_threads_per_block);
  grid.units = 1;
  const kernels::row_step step{0, static_cast<int>(threads * grid.height % grid.length),
                               static_cast<int>(threads / grid.b), static_cast<int>(threads % grid.b)};
  const kernels::row_parts m{grid, step, static_cast<int>(a.element_bytes / size), a.batch};
  start_kernel(queue, grid_of(grid.height * a.batch, threads, grid.length * size), &kernels::in_place_row_parts<Part>,
               a, m);
}

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
    if (!grid_.backwards && !coprime) columns(in_place_pass::rotate);
    if (grid_.backwards) columns(in_place_pass::column);
    rows();
    if (!grid_.backwards) columns(in_place_pass::column);
    if (grid_.backwards && !coprime) columns(in_place_pass::rotate);
  }

 private:
  template <class>
  friend class passes;
  static constexpr std::int64_t size = sizeof(Unit);
  using narrower = typename kernels::unit_of_bytes<size == 1 ? 1 : size / 2>::type;

  void rows() {
    const std::int64_t bytes = grid_.length * a_.element_bytes, shared = ceil_div(bytes + 15, 16) * 16;
    if (shared > shared_of(queue_)) {
      const std::int64_t at_once = a_.scratch_bytes / bytes;
      if (!rows_in_parts()) each_strip(in_place_pass::row, {0, 0, std::min(at_once, grid_.height), grid_.length});
      return;
    }
    const std::int64_t most = std::min<std::int64_t>(1024, queue_.device->properties().max_threads_per_block);
    const std::int64_t threads = std::clamp<std::int64_t>(ceil_div(ceil_div(bytes, 128), 32) * 32, 32, most);
    const std::int64_t units = threads * 16 / size, elements = units / grid_.units;
    const kernels::row_step step{static_cast<int>(units % grid_.units),
                                 static_cast<int>(elements * grid_.height % grid_.length),
                                 static_cast<int>(elements / grid_.b), static_cast<int>(elements % grid_.b)};
    check(launch_dependent(queue_, grid_of(grid_.height * a_.batch, threads, shared), &kernels::in_place_row<Unit>,
                           bytes_of(a_.data), grid_, step, a_.batch),
          a_.launch);
  }

  // The row pass with a part of every element in shared memory at a time; false, without a launch, if not applicable.
  bool rows_in_parts() {
    std::int64_t part = size;
    while (part > 1 && grid_.length * part > shared_of(queue_)) part /= 2;
    if (grid_.length * part > shared_of(queue_) || a_.element_bytes > 4 * part) return false;
    // One block cannot keep a device busy: below so many rows, all blocks are better given to one row after the other.
    if (2 * grid_.height * a_.batch < queue_.device->properties().multiprocessors) return false;
    with_unit(part, [&](auto one) { launch_row_parts<decltype(one)>(queue_, a_, grid_); });
    return true;
  }

  void columns(in_place_pass pass) {
    const std::int64_t pitch = grid_.length * a_.element_bytes, limit = shared_of(queue_);
    const std::int64_t distances = pitch | (a_.batch > 1 ? grid_.stride : 0);
    const bool aligned = (address_of(a_.data) | distances) % 16 == 0;
    // As many lanes side by side as a block has, down to a line of 128 bytes; less where columns are long.
    std::int64_t width = 256 * (aligned ? 16 : size);
    while (width > 128 && grid_.height * width > std::min<std::int64_t>(32768, limit / 2)) width /= 2;
    while (width > size && grid_.height > limit / 2 / width) width /= 2;
    if (width <= 16 && grid_.height <= limit / 32) width = 32;
    if (grid_.height > limit / width) {
      if (size > 1 && grid_.height <= limit / std::max<std::int64_t>(1, size / 4)) {
        passes<narrower>(queue_, a_).columns(pass);
      } else {
        each_strip(pass, {0, 0, grid_.height, a_.scratch_bytes / (grid_.height * a_.element_bytes)});
      }
      return;
    }
    if (aligned && width >= 16) {
      columns<word16>(pass, width);
    } else {
      columns<Unit>(pass, width);
    }
  }

  template <class Piece>
  void columns(in_place_pass pass, std::int64_t width) {
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
    s.row = static_cast<int>(pass == in_place_pass::rotate ? step : step * grid_.length % grid_.height);
    check(launch_dependent(queue_, grid_of(s.strips * a_.batch, threads, grid_.height * width),
                           &kernels::in_place_column<Unit, Piece>, bytes_of(a_.data), grid_, s, pass),
          a_.launch);
  }

  // A pass through scratch memory, strip by strip: some complete rows, or some complete columns.
  void each_strip(in_place_pass pass, const kernels::in_place_strip& strip) {
    if constexpr (size == 16) {
      passes<narrower>(queue_, a_).each_strip(pass, strip);
    } else {
      kernels::in_place_strip s = strip;
      for (std::int64_t matrix = 0; matrix < a_.batch; ++matrix) {
        unsigned char* data = bytes_of(a_.data) + matrix * grid_.stride;
        for (s.row = 0; s.row < grid_.height; s.row += strip.rows) {
          s.rows = std::min(strip.rows, grid_.height - s.row);
          for (s.col = 0; s.col < grid_.length; s.col += strip.cols) {
            s.cols = std::min(strip.cols, grid_.length - s.col);
            launch_strip(data, s, pass);
          }
        }
      }
    }
  }

  void launch_strip(unsigned char* data, const kernels::in_place_strip& s, in_place_pass pass) {
    unsigned char* scratch = bytes_of(a_.scratch);
    const auto config = grid_of(ceil_div(s.rows * s.cols * grid_.units, 256), 256, 0);
    check(launch_dependent(queue_, config, &kernels::in_place_to_scratch<Unit>, scratch, data, grid_, s, pass),
          a_.launch);
    check(launch_dependent(queue_, config, &kernels::copy_from_scratch<Unit>, data, scratch, grid_, s), a_.launch);
  }

  work_queue queue_;
  transpose_in_place_args a_;
  in_place_grid grid_;
};

}  // namespace

void launch_in_place_passes(const work_queue& queue, const transpose_in_place_args& a, std::int64_t unit) {
  const auto scratch = lowest_bit(address_of(a.scratch) | 16);
  with_unit(std::min(unit, scratch), [&](auto one) { passes<decltype(one)>(queue, a).run(); });
}

}  // namespace twill::TWILL_BACKEND
