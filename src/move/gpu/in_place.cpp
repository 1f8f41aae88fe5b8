// How matrices are transposed in place. Square ones swap tiles in one pass; small ones go through shared memory at
// once; others are transposed into scratch memory and copied back where that is large enough, else transposed by passes
// over rows and columns. The choice depends on shape, strides, alignment, scratch and device and takes constant
// time.

#include <algorithm>

#include "families.hpp"
#include "in_place_small.hpp"
#include "move/plan/matrices.hpp"
#include "move/plan/normal_form.hpp"
#include "move/plan/transposes.hpp"
#include "operations.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_in_place_args;
using detail::work_queue;

// Bytes of shared memory, padding included, that a run of so many bytes takes wherever it begins.
std::int64_t padded_bytes(std::int64_t run, int pad_shift) {
  const std::int64_t rounded = ceil_div(run + 15, 16) * 16;
  return rounded + (rounded >> pad_shift) * 16;
}

// 16 bytes now and then spread what neighbouring lanes take from one column over the banks.
int pad_shift_of(const transpose_in_place_args& a) {
  const std::int64_t row = a.cols * a.element_bytes;
  const std::int64_t distance = lowest_bit(row * std::max<std::int64_t>(1, 16 / a.element_bytes));
  int shift = 7;
  while (std::int64_t{1} << shift < distance) ++shift;
  return distance > 32 ? shift : 31;
}

bool fits_shared(const work_queue& queue, const transpose_in_place_args& a) {
  const std::int64_t limit = shared_of(queue);
  return a.cols <= limit && a.rows * a.cols <= limit / a.element_bytes &&
         padded_bytes(a.rows * a.cols * a.element_bytes, pad_shift_of(a)) <= limit;
}

template <class Unit>
void launch_in_place_small_of(const work_queue& queue, const transpose_in_place_args& a) {
  const std::int64_t bytes = a.rows * a.cols * a.element_bytes,
                     budget = std::min<std::int64_t>(16384, shared_of(queue) / 2);
  kernels::small_in_place_matrices m{};
  m.batch = a.batch;
  m.stride = a.stride * a.element_bytes;
  m.rows = static_cast<int>(a.rows);
  m.cols = static_cast<int>(a.cols);
  m.units = static_cast<int>(a.element_bytes / static_cast<std::int64_t>(sizeof(Unit)));
  m.bytes = static_cast<int>(bytes);
  m.pad_shift = pad_shift_of(a);
  m.by_rows = kernels::make_divider(a.rows);
  m.by_cols = kernels::make_divider(a.cols);
  m.by_units = kernels::make_divider(m.units);
  const std::int64_t period = bytes / std::min<std::int64_t>(16, lowest_bit(bytes));
  const bool gapless = a.batch == 1 || m.stride == bytes;
  // So many that the next block's matrices begin at a line, if that many fit.
  const std::int64_t count = std::max<std::int64_t>(1, budget / bytes), line = detail::pieces_to_align(bytes, 128);
  m.at_once = gapless ? static_cast<int>(std::min(a.batch, count >= line ? count / line * line : count)) : 1;
  const std::int64_t run = m.at_once * bytes;
  const std::int64_t threads = std::clamp<std::int64_t>(ceil_div(ceil_div(run, 64), 32) * 32, 32, 1024);
  m.period = period <= threads ? static_cast<int>(period) : 0;
  start_kernel(queue, grid_of(ceil_div(a.batch, m.at_once), threads, padded_bytes(run, m.pad_shift)),
               &kernels::in_place_small<Unit>, a, m);
}

constexpr std::int64_t most_bytes_sharing = 32768;  // of a matrix: a multiprocessor holds several such blocks

void launch_in_place_small(const work_queue& queue, const transpose_in_place_args& a, std::int64_t unit) {
  const detail::transpose_args staged{a.data,  a.data, a.element_bytes, a.rows,   a.cols,
                                      a.batch, a.cols, a.rows,          a.stride, a.stride};
  const detail::device_model model = detail::model_of(queue.device->properties());
  const std::int64_t bytes = a.rows * a.cols * a.element_bytes;
  // in_place_small has more threads, so it is faster for a few large elements; with gaps, staged-misaligned would put
  // only one small matrix in a block.
  const bool fills_block = bytes >= 2048 || a.batch == 1 || a.stride == a.rows * a.cols;
  const bool by_staged = fills_block && unit == a.element_bytes &&
                         (a.element_bytes <= 4 || bytes > most_bytes_sharing) &&
                         detail::with_pads(bytes) <= model.shared_bytes;
  if (detail::is_staged(staged, model)) return void(launch_staged({queue}, staged));
  if (by_staged || detail::is_staged_misaligned(staged, model)) return void(launch_staged_misaligned({queue}, staged));
  with_unit(unit, [&](auto one) { launch_in_place_small_of<decltype(one)>(queue, a); });
}

// The largest matrix in bytes that a block transposes in shared memory, subject to what fits: larger ones are faster by
// swapping tiles, or by a transpose into scratch memory (H100; docs/decisions.md, "In place").
std::int64_t largest_staged(const work_queue& queue, const transpose_in_place_args& a, std::int64_t unit) {
  const device_limits limits = limits_of(queue);
  const bool is_square = a.rows == a.cols, swaps_units = is_square && unit == a.element_bytes;
  const bool swaps_vectors = is_square && alignment_of(a) == 16;
  const bool swaps_fast = swaps_units && (swaps_vectors || a.element_bytes > 2),
             swaps_narrow = swaps_units && !swaps_fast;
  // Matrices that fill all, half or a quarter of the multiprocessors: a block each pays, against one or two passes by
  // all blocks.
  const int divisor = swaps_fast ? 1 : swaps_narrow && a.element_bytes == 2 ? 2 : 4;
  const int least_batch = std::max(2, limits.multiprocessors / divisor);
  if (a.batch < least_batch) {
    if (!is_square) return most_bytes_sharing;
    const std::int64_t largest =
        std::min<std::int64_t>(65536 / a.element_bytes, detail::without_pads(limits.shared_bytes));
    return swaps_narrow ? largest : a.batch > 1 ? 8192 : 4096;
  }
  if (unit != a.element_bytes) return unit == 1 ? most_bytes_sharing : limits.shared_bytes;
  if (swaps_vectors && a.element_bytes <= 2) return 8192;
  if (swaps_fast) return std::max<std::int64_t>(8192, limits.shared_bytes / 3);
  return detail::without_pads(limits.shared_bytes);
}

void transpose_by_copy(const work_queue& queue, const transpose_in_place_args& a) {
  const std::int64_t matrix = a.rows * a.cols, bytes = matrix * a.element_bytes;
  const std::int64_t at_once = std::min(a.batch, a.scratch_bytes / bytes);
  for (std::int64_t first = 0; first < a.batch; first += at_once) {
    const std::int64_t count = std::min(at_once, a.batch - first);
    unsigned char* data = bytes_of(a.data) + first * a.stride * a.element_bytes;
    permute(queue, detail::normal_form_of(
                       {data, a.scratch, a.element_bytes, a.rows, a.cols, count, a.cols, a.rows, a.stride, matrix}));
    const std::int64_t stride = a.stride * a.element_bytes;
    if (count == 1 || stride == bytes) {
      queue.device->copy(queue.native, data, a.scratch, static_cast<std::size_t>(count * bytes),
                         detail::copy_direction::device_to_device);
    } else {
      copy(queue, {a.scratch, data, count, bytes, bytes, stride});
    }
  }
}

}  // namespace

void transpose_in_place(const work_queue& queue, const transpose_in_place_args& a) {
  const std::int64_t unit = std::min(alignment_of(a), lowest_bit(a.element_bytes));
  const std::int64_t bytes = a.rows * a.cols * a.element_bytes;
  const bool is_square = a.rows == a.cols, scratch_matrix = a.scratch_bytes >= bytes;
  const std::int64_t small = is_square || scratch_matrix ? largest_staged(queue, a, unit) : INT64_MAX;
  if (is_in_place_elementwise(a, unit)) {
    launch_in_place_elementwise(queue, a, unit);
  } else if (a.ld == a.cols && bytes <= small && fits_shared(queue, a)) {
    launch_in_place_small(queue, a, unit);
  } else if (is_square) {
    swap_square(queue, a, unit);
  } else if (scratch_matrix) {
    transpose_by_copy(queue, a);
  } else {
    launch_in_place_passes(queue, a, unit);
  }
}

}  // namespace twill::TWILL_BACKEND
