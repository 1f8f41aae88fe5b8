// Many small packed matrices (staged.hpp).

#include "families.hpp"

#include <algorithm>

#include "staged.hpp"
#include "staged_tiny.hpp"

#include "move/plan/transposes.hpp"
#include "staged_padding.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_args;
using detail::work_queue;
using kernels::small_matrices;

using detail::long_window;
using detail::short_window;

// Windows of a block that leave room for three blocks on a multiprocessor.
template <int Capacity>
std::int64_t runs_in(const device_limits& limits) {
  return limits.shared_bytes / 3 / kernels::small_region<Capacity>;
}

// Bytes after which full matrices end at a multiple of `line`, a power of two.
std::int64_t until_aligned(std::int64_t bytes, std::int64_t line) {
  return bytes / std::min(line, lowest_bit(bytes)) * line;
}

// Bytes of the window: as many matrices as fit, with room for threads that begin at a line of 128 bytes.
std::int64_t window_of(std::int64_t matrix_bytes, std::int64_t capacity) {
  const std::int64_t piece = until_aligned(matrix_bytes, 16), window = capacity / piece * piece;
  return window % 128 == 0 || piece + 112 > capacity ? window : (capacity - 112) / piece * piece;
}

template <class Unit, int Runs, int Capacity, int Threads>
void launch_windows(const work_queue& queue, const transpose_args& a) {
  small_matrices m{};
  m.rows = static_cast<int>(a.rows);
  m.cols = static_cast<int>(a.cols);
  m.bytes = a.batch * a.rows * a.cols * a.element_bytes;
  m.window = static_cast<int>(window_of(a.rows * a.cols * a.element_bytes, Capacity));
  m.line = Capacity > Threads * 16 || m.window + 112 <= Capacity ? 128 : 16;
  m.matrix = kernels::make_divider(a.rows * a.cols);
  m.column = kernels::make_divider(a.rows);
  choose_padding<Unit>(m);
  // Each block takes `Runs` windows with a long stride, or fewer where that leaves much of the device idle.
  const std::int64_t windows = ceil_div(m.bytes, m.window);
  const device_limits limits = limits_of(queue.device->properties());
  const std::int64_t most = std::min<std::int64_t>(Runs, runs_in<Capacity>(limits));
  const std::int64_t runs = std::clamp<std::int64_t>(windows / (4 * limits.multiprocessors), 1, most);
  const std::int64_t period = until_aligned(m.window, 128) / m.window;
  const std::int64_t blocks = ceil_div(ceil_div(windows, runs), period) * period;
  m.stride = blocks * m.window;
  start_kernel(queue, grid_of(blocks, Threads, runs * kernels::small_region<Capacity>),
               &kernels::transpose_staged<Unit, Runs, Capacity, Threads>, a, m);
}

// Shapes of one byte that have a kernel of their own.
struct tiny_shape {
  std::int64_t rows, cols, window;
  void (*kernel)(unsigned char*, const unsigned char*, std::int64_t);
};

template <int Rows, int Cols>
constexpr tiny_shape tiny = {Rows, Cols, kernels::tiny_window<Rows, Cols>, &kernels::transpose_staged_tiny<Rows, Cols>};

bool launch_tiny(const work_queue& queue, const transpose_args& a) {
  const tiny_shape shapes[] = {tiny<3, 3>, tiny<3, 5>, tiny<3, 7>, tiny<5, 3>, tiny<5, 5>,
                               tiny<5, 7>, tiny<7, 3>, tiny<7, 5>, tiny<7, 7>};
  const std::int64_t bytes = a.batch * a.rows * a.cols;
  for (const auto& shape : shapes) {
    if (shape.rows != a.rows || shape.cols != a.cols) continue;
    if (shape.window > limits_of(queue.device->properties()).shared_bytes) return false;
    start_kernel(queue, grid_of(ceil_div(bytes, shape.window), kernels::tiny_threads, shape.window), shape.kernel, a,
                 bytes);
    return true;
  }
  return false;
}

template <class Unit>
void launch_staged_of(const work_queue& queue, const transpose_args& a) {
  if (until_aligned(a.rows * a.cols * a.element_bytes, 16) <= short_window) {
    launch_windows<Unit, sizeof(Unit) == 1 ? 8 : 4, short_window, 256>(queue, a);
  } else {
    launch_windows<Unit, 2, long_window, 512>(queue, a);
  }
}

}  // namespace

// The matrices of full windows: these are staged in shared memory before they are stored.
std::int64_t small_in_place(const transpose_args& a) {
  const std::int64_t bytes = a.rows * a.cols * a.element_bytes;
  const bool is_short = until_aligned(bytes, 16) <= short_window;
  const std::int64_t together = window_of(bytes, is_short ? short_window : long_window) / bytes;
  return a.batch / together * together;
}

void launch_staged(const work_queue& queue, const transpose_args& a) {
  if (a.element_bytes == 1 && launch_tiny(queue, a)) return;
  with_unit(a.element_bytes, [&](auto one) { launch_staged_of<decltype(one)>(queue, a); });
}

}  // namespace twill::TWILL_BACKEND
