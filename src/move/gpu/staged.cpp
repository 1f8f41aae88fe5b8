// Packed matrices that are staged in shared memory (staged.hpp, staged_rows.hpp, staged_cols.hpp).

#include "staged.hpp"

#include <algorithm>
#include <utility>

#include "move/plan/matrices.hpp"
#include "move/plan/transposes.hpp"
#include "staged_cols.hpp"
#include "staged_padding.hpp"
#include "staged_rows.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using kernels::small_matrices;

using kernels::staged_threads;

// Bytes of the window: as many matrices as fit, with room for threads that begin at a line of 128 bytes.
std::int64_t window_of(std::int64_t matrix_bytes) {
  constexpr std::int64_t capacity = kernels::staged_window_bytes;
  const std::int64_t piece = matrix_bytes * detail::pieces_to_align(matrix_bytes, 16),
                     window = capacity / piece * piece;
  return window % 128 == 0 || piece + 112 > capacity ? window : (capacity - 112) / piece * piece;
}

// Bits at the multiples of `period` below 16, the most units of a vector.
std::uint32_t bits_at_multiples(std::int64_t period) {
  std::uint32_t bits = 0;
  for (std::int64_t at = 0; at < 16; at += period) bits |= std::uint32_t{1} << at;
  return bits;
}

small_matrices shape_of(const transpose_args& a) {
  small_matrices m{};
  m.column_starts = bits_at_multiples(a.rows);
  m.matrix_starts = bits_at_multiples(a.rows * a.cols);
  m.rows = static_cast<int>(a.rows);
  m.cols = static_cast<int>(a.cols);
  m.matrix = kernels::make_divider(a.rows * a.cols);
  m.column = kernels::make_divider(a.rows);
  return m;
}

// For counting bank conflicts in two warps that are not neighbours: a byte of the input that a lane gathers, of its
// vector's word 0 ^ order in the first warp.
template <class Unit>
int gathered_byte(const small_matrices& m, int warp, int lane, int order = 0) {
  constexpr int size = static_cast<int>(sizeof(Unit)), units = 16 / size;
  const int unit = (warp * 5 * 32 + lane) * units + (warp * 5 % units ^ order * units / 4);
  const int within = unit % (m.rows * m.cols);
  return (unit - within + within % m.rows * m.cols + within / m.rows) * size;
}

// Whether a kernel without padding, in which quarters of a warp gather in different orders, is expected to be faster
// than one with `padding`. It spends fewer instructions, and copies the input's vectors, which padding by words rules
// out: that is kept only if it needs fewer than three quarters of the wavefronts, padding by vectors if it needs no
// more.
bool pays_to_reorder(const small_matrices& m, const shared_padding& padding) {
  static_assert(detail::least_reordered_rows >= 16);  // find_reordered
  if (m.rows < detail::least_reordered_rows) return false;
  int wavefronts = 0;
  for (const int warp : {0, 1}) {
    wavefronts += bank_accesses(1, [&](int lane) { return gathered_byte<unsigned char>(m, warp, lane, lane / 8); });
  }
  return padding.pad % 16 == 0 ? wavefronts < padding.wavefronts : 3 * wavefronts <= 4 * padding.wavefronts;
}

template <int Rows, int Cols>
bool launch_tiny_of(const launch_queue& queue, const transpose_args& a) {
  constexpr std::int64_t window = kernels::tiny_window<Rows, Cols>;
  if (a.rows != Rows || a.cols != Cols || window > limits_of(queue).shared_bytes) return false;
  const std::int64_t bytes = a.batch * Rows * Cols;
  return start_kernel(queue, {ceil_div(bytes, window), kernels::tiny_threads, window},
                      &kernels::transpose_staged_tiny<Rows, Cols>, a, bytes);
}

// Shapes of one byte that have a kernel of their own.
template <int... Sides>
bool launch_tiny(const launch_queue& queue, const transpose_args& a) {
  return ((launch_tiny_of<Sides, 3>(queue, a) || launch_tiny_of<Sides, 5>(queue, a) ||
           launch_tiny_of<Sides, 7>(queue, a)) ||
          ...);
}

// The number of sequences per starting vector that balances idle threads against the places that each sequence
// computes.
int sequences_of_band(std::int64_t slots, std::int64_t vectors, int threads) {
  constexpr std::int64_t places_cost = 4;  // in vectors stored
  int best = 1;
  std::int64_t least = INT64_MAX;
  for (int sequences = 1; sequences <= vectors; ++sequences) {
    const std::int64_t each = places_cost + ceil_div(vectors, sequences), all = slots * sequences;
    const std::int64_t cost = (all + ceil_div(all, threads) * threads) * each;  // threads without one wait for others
    if (cost < least) best = sequences, least = cost;
  }
  return best;
}

// Wavefronts of two loads: of the units that a warp reads first of its vectors, and of the middle ones that the next
// warp reads.
template <class Unit>
int wavefronts_of_band(const kernels::staged_cols_matrices& m) {
  constexpr int size = static_cast<int>(sizeof(Unit)), units = 16 / size;
  int wavefronts = 0;
  for (const int warp : {0, 1}) {
    wavefronts += bank_accesses(1, [&](int lane) {
      const int i = warp * 32 + lane, sequence = i / m.slots, order = m.reorders ? lane / 8 * units / 4 : 0;
      const int start = m.quarter != 0 ? lane / 8 * m.quarter + warp * 8 + lane % 8 : i % m.slots;
      const int unit = (start + sequence * m.length * m.slots) * units + (warp * units / 2 ^ order);
      const int row = unit % m.rows, column = unit / m.rows;
      return row * m.pitch + row / units * detail::band_pad + static_cast<int>(row * (m.in_ld & 15) & 15) +
             column * size;
    });
  }
  return wavefronts;
}

// Distributes the vectors of a band over threads: `slots` starting vectors, each of which begins sequences.
template <int Groups>
void distribute_band(kernels::staged_cols_matrices& m, int vectors, int threads) {
  const std::int64_t each = ceil_div(vectors - 1, Groups);
  m.sequences = sequences_of_band(m.slots, each, threads);
  m.length = static_cast<int>(ceil_div(each, m.sequences));
  m.by_slots = kernels::make_divider(m.slots);
}

// Distributes them, and where loads then take many wavefronts, in another way if it leaves fewer: quarters of a warp
// gather words in different orders, or take starting vectors far from each other, of many rows.
template <class Unit, int Groups>
void avoid_bank_conflicts(kernels::staged_cols_matrices& m, int vectors, int threads) {
  constexpr int units = 16 / static_cast<int>(sizeof(Unit)), most = 36;  // wavefronts of a warp's vectors
  distribute_band<Groups>(m, vectors, threads);
  int fewest = wavefronts_of_band<Unit>(m);
  if (fewest * units / 2 <= most) return;
  const auto try_way = [&](const kernels::staged_cols_matrices& way) {
    const int wavefronts = wavefronts_of_band<Unit>(way);
    if (wavefronts < fewest) m = way, fewest = wavefronts;
  };
  kernels::staged_cols_matrices way = m;
  way.reorders = true;
  if (kernels::may_reorder<Unit> && m.rows >= units) try_way(way);
  if constexpr (kernels::may_be_quartered<Unit, Groups>) {
    if (m.rows < 64) return;
    way.quarter = static_cast<int>(ceil_div(m.rows, 8)) * 2;
    way.slots = static_cast<int>(ceil_div(way.quarter, 8)) * 32;
    distribute_band<Groups>(way, vectors, threads);
    way.reorders = false;
    try_way(way);
    way.reorders = true;
    if (kernels::may_reorder<Unit>) try_way(way);
  }
}

template <class Unit, int Vectors, int Threads, int Groups = 1>
bool launch_bands(const launch_queue& queue, const transpose_args& a) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Unit));
  const std::int64_t tiles = ceil_div(a.cols, detail::band_bytes(Vectors) / size);
  kernels::staged_cols_matrices m{};
  m.cols = a.cols;
  m.rows = static_cast<int>(a.rows);
  m.in_ld = a.in_ld * size;
  m.packed_bytes = packed_input_bytes(a);
  m.by_rows = kernels::make_divider(a.rows);
  m.pitch = (Vectors + 1) * 16;
  m.slots = m.rows * Groups;
  avoid_bank_conflicts<Unit, Groups>(m, Vectors, Threads);
  const std::int64_t all_tiles = set_batch(m, a, tiles);
  return start_kernel(queue, {all_tiles, Threads, detail::bytes_of_band(a.rows, size, Vectors)},
                      &kernels::transpose_staged_cols<Unit, Vectors, Threads, Groups>, a, m);
}

// Launches the bands of width 32 >> Index % 3 vectors and of blocks Index / 3 in the planner's table, if they are
// `shape`.
template <class Unit, int Index>
bool launch_if_planned(const launch_queue& queue, const transpose_args& a, const detail::band_shape& shape) {
  constexpr int width = Index % 3, vectors = 32 >> width, groups = width == 0 && sizeof(Unit) < 4 ? 4 : 1;
  constexpr detail::band_blocks blocks = detail::staged_cols_costs[detail::place_of(sizeof(Unit))].blocks[Index / 3];
  if constexpr (blocks.factor[width] != 0) {
    if (shape.vectors == vectors && shape.threads == blocks.threads) {
      return launch_bands<Unit, vectors, blocks.threads, groups>(queue, a);
    }
  }
  return false;
}

template <class Unit, int... Index>
bool launch_planned(const launch_queue& queue, const transpose_args& a, const detail::band_shape& shape,
                    std::integer_sequence<int, Index...>) {
  return (launch_if_planned<Unit, Index>(queue, a, shape) || ...);
}

// Without bank conflicts: the vectors of R rows are an even number; with a vector of padding after each power of two
// that divides their bytes, they are an odd one.
bool launch_staged_blocks(const launch_queue& queue, const transpose_args& a) {
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
  const block_grid grid{tiles, row_bytes / 16 << s.chunks_shift, staged + staged / between * 16};
  return with_unit<4>(bytes, [&](auto one) {
    return start_kernel(queue, grid, &kernels::transpose_staged_blocks<decltype(one)>, a, s);
  });
}

}  // namespace

bool launch_staged(const launch_queue& queue, const transpose_args& a) {
  static_assert(kernels::staged_window_bytes == detail::staged_window_bytes);
  if (launch_tiny<3, 5, 7>(queue, a)) return true;
  small_matrices m = shape_of(a);
  set_padding(m, padding_of_words<unsigned char>(
                     [&](int warp, int lane) { return gathered_byte<unsigned char>(m, warp, lane); }));
  m.bytes = a.batch * a.rows * a.cols;
  m.window = static_cast<int>(window_of(a.rows * a.cols));
  m.line = m.window + 112 <= kernels::staged_window_bytes ? 128 : 16;
  // Up to staged_windows windows a block, with a long stride, in as few waves of four blocks a multiprocessor as these
  // make; fewer to fit three blocks on a multiprocessor, one where there are less than two waves of windows.
  const std::int64_t windows = ceil_div(m.bytes, m.window);
  const device_limits limits = limits_of(queue);
  const std::int64_t most =
      std::min<std::int64_t>(kernels::staged_windows, limits.shared_bytes / 3 / kernels::staged_region);
  const std::int64_t wave = 4 * std::int64_t{limits.multiprocessors};  // blocks
  const std::int64_t runs = windows < 2 * wave ? 1 : ceil_div(windows, wave * ceil_div(windows, wave * most));
  const std::int64_t period = detail::pieces_to_align(m.window, 128);
  const std::int64_t blocks = ceil_div(ceil_div(windows, runs), period) * period;
  m.stride = blocks * m.window;
  return start_kernel(queue, {blocks, staged_threads, runs * kernels::staged_region},
                      &kernels::transpose_staged<staged_threads>, a, m);
}

bool launch_staged_misaligned(const launch_queue& queue, const transpose_args& a) {
  kernels::matrix_runs w{};
  w.batch = a.batch;
  w.in_stride = a.in_stride * a.element_bytes;
  w.out_stride = a.out_stride * a.element_bytes;
  w.bytes = static_cast<int>(a.rows * a.cols * a.element_bytes);
  w.at_once = static_cast<int>(detail::staged_at_once(a, detail::model_of(queue.device->properties())));
  const std::int64_t bytes = std::int64_t{w.at_once} * w.bytes, four_vectors = 4 * 16;  // of a thread
  const std::int64_t threads =
      std::clamp<std::int64_t>(ceil_div(bytes, four_vectors * 32) * 32, kernels::least_staged_misaligned_threads,
                               kernels::most_staged_misaligned_threads);
  const block_grid grid{ceil_div(a.batch, w.at_once), threads, detail::with_pads(bytes)};
  return with_unit(a.element_bytes, [&](auto one) {
    using unit = decltype(one);
    w.shape = shape_of(a);
    const auto padding =
        padding_of_vectors<unit>([&](int warp, int lane) { return gathered_byte<unit>(w.shape, warp, lane); });
    if constexpr (kernels::may_reorder<unit>) {
      if (pays_to_reorder(w.shape, padding)) {
        return start_kernel(queue, grid, &kernels::transpose_staged_misaligned<unit, true>, a, w);
      }
    }
    set_padding(w.shape, padding);
    return start_kernel(queue, grid, &kernels::transpose_staged_misaligned<unit, false>, a, w);
  });
}

bool launch_staged_rows(const launch_queue& queue, const transpose_args& a) {
  if (detail::has_staged_blocks(a, shared_of(queue))) return launch_staged_blocks(queue, a);
  kernels::staged_rows_matrices s{};
  s.chunks_shift = detail::staged_rows_shift(a.cols);
  const std::int64_t written = std::int64_t{16} << s.chunks_shift;
  const std::int64_t tiles = set_batch(s, a, ceil_div(a.rows * a.element_bytes, written));
  const std::int64_t shared = detail::with_pads((written + kernels::staged_rows_overlap) * a.cols);
  s.rows = a.rows;
  s.out_ld = a.out_ld * a.element_bytes;
  s.shape.cols = static_cast<int>(a.cols);
  const int lane_bytes = 16 * s.shape.cols;  // from the chunk of a lane to that of the next
  return with_unit<8>(a.element_bytes, [&](auto one) {
    using unit = decltype(one);
    const auto byte = [&](int warp, int lane) { return lane * lane_bytes + warp * 7 * lane_bytes / 16; };
    set_padding(s.shape, padding_of_words<unit>(byte));
    return start_kernel(queue, {tiles, kernels::staged_rows_threads, shared}, &kernels::transpose_staged_rows<unit>, a,
                        s);
  });
}

bool launch_staged_cols(const launch_queue& queue, const transpose_args& a) {
  const detail::band_shape shape = detail::shape_of_bands(a, detail::model_of(queue.device->properties()));
  return with_unit<4>(a.element_bytes, [&](auto one) {
    return launch_planned<decltype(one)>(queue, a, shape, std::make_integer_sequence<int, 12>{});
  });
}

}  // namespace twill::TWILL_BACKEND
