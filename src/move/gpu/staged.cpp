// Packed matrices that are staged in shared memory (staged.hpp, staged_rows_cols.hpp).

#include "staged.hpp"

#include <algorithm>

#include "families.hpp"
#include "move/plan/transposes.hpp"
#include "staged_padding.hpp"
#include "staged_rows_cols.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_args;
using detail::work_queue;
using kernels::small_matrices;

using kernels::staged_threads;

// Bytes after which full matrices end at a multiple of `line`, a power of two.
std::int64_t until_aligned(std::int64_t bytes, std::int64_t line) {
  return bytes / std::min(line, lowest_bit(bytes)) * line;
}

// Bytes of the window: as many matrices as fit, with room for threads that begin at a line of 128 bytes.
std::int64_t window_of(std::int64_t matrix_bytes) {
  constexpr std::int64_t capacity = kernels::staged_window_bytes;
  const std::int64_t piece = until_aligned(matrix_bytes, 16), window = capacity / piece * piece;
  return window % 128 == 0 || piece + 112 > capacity ? window : (capacity - 112) / piece * piece;
}

// Extents, and the padding for the vectors of the output.
template <class Unit>
small_matrices shape_of(const transpose_args& a) {
  small_matrices m{};
  m.rows = static_cast<int>(a.rows);
  m.cols = static_cast<int>(a.cols);
  m.matrix = kernels::make_divider(a.rows * a.cols);
  m.column = kernels::make_divider(a.rows);
  constexpr int size = static_cast<int>(sizeof(Unit)), elements = 16 / size;
  fewest_conflicts<Unit>(m, [&](int warp, int lane) {
    const int unit = (warp * 32 + lane) * elements + warp * 5 % elements, within = unit % (m.rows * m.cols);
    return (unit - within + within % m.rows * m.cols + within / m.rows) * size;
  });
  return m;
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
    if (shape.window > limits_of(queue).shared_bytes) return false;
    start_kernel(queue, grid_of(ceil_div(bytes, shape.window), kernels::tiny_threads, shape.window), shape.kernel, a,
                 bytes);
    return true;
  }
  return false;
}

// Of three pitches of bands of 1 byte that fit, the one with the fewest bank conflicts in two loads, of the first units
// of a warp's vectors and of the middle ones of the next warp's. None is a multiple of 16 bytes: stores of the rows of
// a warp would conflict.
template <int Vectors>
int pitch_of_band(int rows, std::int64_t most_bytes) {
  constexpr int units = 16, least = detail::band_pitch(1, Vectors);
  int row[64], column[64];
  for (int lane = 0; lane < 64; ++lane) {
    const int unit = lane * units + lane / 32 * units / 2;
    column[lane] = unit / rows;
    row[lane] = unit - column[lane] * rows;
  }
  int best = least, fewest = INT32_MAX;
  for (int pitch = least; pitch <= least + 16; pitch += 8) {
    if (detail::bytes_of_band(rows, 1, Vectors, pitch) > most_bytes) break;
    int accesses = 0;
    for (const int first : {0, 32}) {
      accesses += bank_accesses(1, [&](int lane) {
        const int i = first + lane;
        return row[i] * pitch + row[i] / units * detail::band_pad(1, Vectors) + column[i];
      });
    }
    if (accesses < fewest) best = pitch, fewest = accesses;
    if (fewest <= 2 * 2) break;  // two wavefronts a load: few numbers of rows have fewer with any pitch
  }
  return best;
}

template <class Unit, int Vectors, int Threads>
void launch_bands(const work_queue& queue, const transpose_args& a) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Unit));
  const std::int64_t tiles = ceil_div(a.cols, detail::band_bytes(Vectors) / size);
  kernels::staged_cols_matrices m{};
  m.cols = a.cols;
  m.rows = static_cast<int>(a.rows);
  m.by_rows = kernels::make_divider(a.rows);
  m.in_ld = a.in_ld * size;
  m.pitch =
      size == 1 ? pitch_of_band<Vectors>(m.rows, limits_of(queue).shared_bytes / 3) : detail::band_pitch(size, Vectors);
  const std::int64_t all_tiles = set_batch(m, a, tiles);
  const std::int64_t shared = detail::bytes_of_band(a.rows, size, Vectors, m.pitch);
  const auto config = grid_of(all_tiles, Threads, shared);
  start_kernel(queue, config, &kernels::transpose_staged_cols<Unit, Vectors, Threads>, a, m);
}

}  // namespace

void launch_staged(const work_queue& queue, const transpose_args& a) {
  static_assert(kernels::staged_window_bytes == detail::staged_window_bytes);
  if (launch_tiny(queue, a)) return;
  small_matrices m = shape_of<unsigned char>(a);
  m.bytes = a.batch * a.rows * a.cols;
  m.window = static_cast<int>(window_of(a.rows * a.cols));
  m.line = m.window + 112 <= kernels::staged_window_bytes ? 128 : 16;
  // Up to staged_windows windows a block, with a long stride; fewer to fill the device, or to fit three blocks on a
  // multiprocessor.
  const std::int64_t windows = ceil_div(m.bytes, m.window);
  const device_limits limits = limits_of(queue);
  const std::int64_t most =
      std::min<std::int64_t>(kernels::staged_windows, limits.shared_bytes / 3 / kernels::staged_region);
  const std::int64_t runs = std::clamp<std::int64_t>(windows / (4 * limits.multiprocessors), 1, most);
  const std::int64_t period = until_aligned(m.window, 128) / m.window;
  const std::int64_t blocks = ceil_div(ceil_div(windows, runs), period) * period;
  m.stride = blocks * m.window;
  start_kernel(queue, grid_of(blocks, staged_threads, runs * kernels::staged_region),
               &kernels::transpose_staged<staged_threads>, a, m);
}

void launch_staged_misaligned(const work_queue& queue, const transpose_args& a) {
  kernels::matrix_runs w{};
  w.batch = a.batch;
  w.in_stride = a.in_stride * a.element_bytes;
  w.out_stride = a.out_stride * a.element_bytes;
  w.bytes = static_cast<int>(a.rows * a.cols * a.element_bytes);
  w.at_once = static_cast<int>(detail::staged_at_once(a, detail::model_of(queue.device->properties())));
  const std::int64_t bytes = std::int64_t{w.at_once} * w.bytes;
  constexpr std::int64_t long_run = 32768;
  const std::int64_t threads =
      bytes > long_run ? kernels::staged_misaligned_threads : kernels::staged_misaligned_threads / 2;
  const auto config = grid_of(ceil_div(a.batch, w.at_once), threads, shared_with_padding(bytes));
  with_unit(a.element_bytes, [&](auto one) {
    w.shape = shape_of<decltype(one)>(a);
    start_kernel(queue, config, &kernels::transpose_staged_misaligned<decltype(one)>, a, w);
  });
}

namespace {

// Without bank conflicts: the vectors of R rows are an even number, with a vector more after each power of two that
// divides their bytes an odd one.
void launch_staged_blocks(const work_queue& queue, const transpose_args& a) {
  const std::int64_t bytes = a.element_bytes, row_bytes = a.cols * bytes, line_bytes = 16 / bytes * row_bytes;
  const std::int64_t down = ceil_div(a.rows * bytes, 16);
  kernels::staged_rows_matrices s{};
  s.chunks_shift = row_bytes <= 32 ? 5 : 4;
  const std::int64_t tiles = set_batch(s, a, ceil_div(down, std::int64_t{1} << s.chunks_shift));
  const std::int64_t staged = line_bytes << s.chunks_shift, between = lowest_bit(line_bytes);
  s.rows = a.rows;
  s.out_ld = a.out_ld * bytes;
  s.shape.cols = static_cast<int>(a.cols);
  s.shape.pad = 16;
  s.shape.pad_shift = floor_log2(between);
  const auto config = grid_of(tiles, row_bytes / 16 << s.chunks_shift, staged + staged / between * 16);
  with_unit<4>(bytes,
               [&](auto one) { start_kernel(queue, config, &kernels::transpose_staged_blocks<decltype(one)>, a, s); });
}

}  // namespace

void launch_staged_rows(const work_queue& queue, const transpose_args& a) {
  if (detail::has_staged_blocks(a, shared_of(queue))) return launch_staged_blocks(queue, a);
  kernels::staged_rows_matrices s{};
  s.chunks_shift = detail::staged_rows_shift(a.cols);
  const std::int64_t written = std::int64_t{16} << s.chunks_shift;
  const std::int64_t tiles = set_batch(s, a, ceil_div(a.rows * a.element_bytes, written));
  const std::int64_t shared = shared_with_padding((written + kernels::staged_rows_overlap) * a.cols);
  s.rows = a.rows;
  s.out_ld = a.out_ld * a.element_bytes;
  s.shape.cols = static_cast<int>(a.cols);
  const int lane_bytes = 16 * s.shape.cols;  // from the chunk of a lane to that of the next
  with_unit<8>(a.element_bytes, [&](auto one) {
    using unit = decltype(one);
    fewest_conflicts<unit>(s.shape, [&](int warp, int lane) { return lane * lane_bytes + warp * 7 * lane_bytes / 16; });
    start_kernel(queue, grid_of(tiles, kernels::staged_rows_threads, shared), &kernels::transpose_staged_rows<unit>, a,
                 s);
  });
}

void launch_staged_cols(const work_queue& queue, const transpose_args& a) {
  const std::int64_t shared = limits_of(queue).shared_bytes;
  const detail::band_shape shape = detail::shape_of_bands(a.rows, a.element_bytes, shared);
  with_unit<4>(a.element_bytes, [&](auto one) {
    using unit = decltype(one);
    if (shape.vectors == 32) return launch_bands<unit, 32, 256>(queue, a);
    if (shape.vectors == 16) return launch_bands<unit, 16, 256>(queue, a);
    if (shape.threads == 256) return launch_bands<unit, 8, 256>(queue, a);
    launch_bands<unit, 8, 512>(queue, a);
  });
}

}  // namespace twill::TWILL_BACKEND
