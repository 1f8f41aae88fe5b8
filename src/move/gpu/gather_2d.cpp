// Matrices of any element size, alignment and shape, gathered (gather_2d.hpp).

#include "families.hpp"

#include <algorithm>

#include "gather_2d.hpp"

#include "backends/error.hpp"
#include "gpu/limits.hpp"
#include "launch.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_args;
using detail::work_queue;
using kernels::gather_matrices;

std::int64_t floor_multiple(std::int64_t value, std::int64_t of) {
  return value < of ? value : value / of * of;
}

// The pieces that blocks work on, and their place in shared memory.
struct gather_plan {
  gather_matrices m;
  bool wrapped = false;
  std::int64_t shared_bytes = 0;
};

constexpr int no_padding = 31;

// Elements after which a run of them has come to a multiple of `line` bytes; `line` is a power of two.
std::int64_t elements_of(std::int64_t line, std::int64_t element_bytes) {
  return line / std::min(line, lowest_bit(element_bytes));
}

// Boundaries of the output between pieces move to multiples of 16 bytes, so that all chunks are written whole.
void move_boundaries(gather_plan& p, const transpose_args& a) {
  if (p.m.phases == 1) return;
  p.m.shear = 16;
  p.m.extra_rows = static_cast<int>(ceil_div(15, a.element_bytes));
}

// One input run, as it is; 16 bytes of padding now and then spread what neighbouring lanes gather over the banks.
void lay_out_single_run(gather_plan& p, const transpose_args& a) {
  p.m.one_in_run = true;
  p.m.pitch = static_cast<int>(a.cols * a.element_bytes);
  const std::int64_t distance = lowest_bit(p.m.pitch * std::max<std::int64_t>(1, 16 / a.element_bytes));
  if (distance > 32) p.m.byte_pad_shift = std::max(7, floor_log2(distance));
  const std::int64_t bytes = std::int64_t{p.m.matrices} * (p.m.tile_rows + p.m.extra_rows) * p.m.pitch;
  p.m.run_chunks_shift = floor_log2(2 * ceil_div(bytes, 16) - 1);
  p.shared_bytes = ceil_div(bytes + (bytes >> p.m.byte_pad_shift) * 16, 16) * 16 + 16;
}

// Rows of 2^k chunks, and padding after as many rows as a chunk of the output takes.
void lay_out_rows(gather_plan& p, const transpose_args& a, std::int64_t row_bytes) {
  const int rows = p.m.tile_rows + p.m.extra_rows;
  p.m.pitch = static_cast<int>(row_bytes);
  p.m.run_chunks_shift = floor_log2(row_bytes / 16);
  p.m.row_pad_shift = floor_log2(std::max<std::int64_t>(1, 16 / a.element_bytes));
  p.shared_bytes = rows * row_bytes + ((rows >> p.m.row_pad_shift) + 1) * 16;
}

// Tiles of 256 bytes each way and more, less where that leaves most of the device idle or does not fit.
void plan_tiles(gather_plan& p, const transpose_args& a, const device_limits& limits) {
  const std::int64_t bytes = a.element_bytes, step = elements_of(128, bytes);
  move_boundaries(p, a);
  std::int64_t wide = 256, high = ceil_div(256 / bytes, step) * step;
  const auto too_few = [&] {
    return ceil_div(a.rows, high) * ceil_div(a.cols * bytes, wide) * a.batch < 2 * limits.multiprocessors;
  };
  const auto too_large = [&] {
    return (high + p.m.extra_rows) * (wide + 16) > std::min<std::int64_t>(limits.shared_bytes, 40 * 1024);
  };
  while (high * wide < limits.budget) high += step;
  while (wide > 64 && (too_few() || too_large())) wide /= 2;
  while (high > step && (too_few() || too_large())) high -= step;
  p.m.tile_cols = static_cast<int>(std::max<std::int64_t>(1, wide / bytes));
  p.m.tile_rows = static_cast<int>(high);
  lay_out_rows(p, a, wide);
}

// Full rows of a packed input: one contiguous run of it.
void plan_tall(gather_plan& p, const transpose_args& a, const device_limits& limits) {
  move_boundaries(p, a);
  const std::int64_t row = a.cols * a.element_bytes, rows = std::max<std::int64_t>(1, limits.budget / row);
  p.m.tile_cols = static_cast<int>(a.cols);
  // A power of two of lines, which the groups of lanes share evenly.
  const std::int64_t line = elements_of(128, a.element_bytes);
  p.m.tile_rows = static_cast<int>(rows < line ? rows : line << floor_log2(rows / line));
  lay_out_single_run(p, a);
}

// Full columns: one contiguous run of a packed output.
void plan_wide(gather_plan& p, const transpose_args& a, const device_limits& limits) {
  const std::int64_t bytes = a.element_bytes;
  const std::int64_t row = std::int64_t{16} << floor_log2(std::max<std::int64_t>(1, limits.budget / a.rows / 16));
  p.wrapped = true;
  p.m.tile_rows = static_cast<int>(a.rows);
  p.m.tile_cols =
      static_cast<int>(floor_multiple(std::max<std::int64_t>(1, row / bytes), elements_of(128, a.rows * bytes)));
  lay_out_rows(p, a, row);
}

// Whole matrices: the same bytes on both sides, in another order.
void plan_matrices(gather_plan& p, const transpose_args& a, const device_limits& limits) {
  const std::int64_t bytes = a.rows * a.cols * a.element_bytes;
  p.wrapped = true;
  const std::int64_t count = floor_multiple(std::max<std::int64_t>(1, limits.budget / bytes), elements_of(16, bytes));
  p.m.matrices = static_cast<int>(std::min(a.batch, count));
  p.m.tile_rows = static_cast<int>(a.rows);
  p.m.tile_cols = static_cast<int>(a.cols);
  lay_out_single_run(p, a);
}

// Chunks after which the pattern of a wrapped run comes again; 0 when that is more than the threads of a block.
int period_of(const gather_plan& p, const transpose_args& a) {
  if (!p.wrapped) return 0;
  const std::int64_t pattern = a.rows * (p.m.one_in_run ? a.cols : 1) * a.element_bytes;
  const std::int64_t chunks = pattern / std::min<std::int64_t>(16, lowest_bit(pattern));
  return chunks <= kernels::gather_threads ? static_cast<int>(chunks) : 0;
}

gather_plan plan_of(const transpose_args& a, std::int64_t unit, const device_limits& limits) {
  const std::int64_t bytes = a.element_bytes, narrow = limits.budget / 8;
  gather_plan p;
  p.m = {};
  p.m.rows = a.rows;
  p.m.cols = a.cols;
  p.m.batch = a.batch;
  p.m.in_ld = a.in_ld * bytes;
  p.m.out_ld = a.out_ld * bytes;
  p.m.in_stride = a.in_stride * bytes;
  p.m.out_stride = a.out_stride * bytes;
  p.m.matrices = 1;
  p.m.units = static_cast<int>(bytes / unit);
  p.m.row_pad_shift = p.m.byte_pad_shift = no_padding;
  p.m.phases = static_cast<int>(16 / std::min<std::int64_t>(16, lowest_bit(p.m.out_ld)));
  const gather_plan blank = p;
  const std::int64_t elements = a.rows * a.cols;
  const bool packed = a.in_ld == a.cols && a.out_ld == a.rows &&
                      (a.batch == 1 || (a.in_stride == elements && a.out_stride == elements));
  if (packed && elements <= limits.budget / bytes) {
    plan_matrices(p, a, limits);
  } else if (a.in_ld == a.cols && a.cols * bytes <= narrow) {
    plan_tall(p, a, limits);
  } else if (a.out_ld == a.rows && a.rows * bytes <= narrow) {
    plan_wide(p, a, limits);
  } else {
    plan_tiles(p, a, limits);
  }
  // Rows for moved boundaries, padding and the least run can take long runs beyond a small shared memory.
  if (p.shared_bytes > limits.shared_bytes) {
    p = blank;
    plan_tiles(p, a, limits);
  }
  p.m.tiles_r = ceil_div(a.rows, p.m.tile_rows);
  p.m.tiles_c = ceil_div(a.cols, p.m.tile_cols);
  p.m.period = period_of(p, a);
  return p;
}

using gather_kernel = void (*)(unsigned char*, const unsigned char*, gather_matrices);

template <class Unit, bool ManyUnits>
gather_kernel kernel_of(const gather_plan& p) {
  const bool padded = p.m.byte_pad_shift != no_padding;
  if (p.wrapped && padded) return &kernels::transpose_gather<Unit, ManyUnits, true, true>;
  if (p.wrapped) return &kernels::transpose_gather<Unit, ManyUnits, true, false>;
  if (padded) return &kernels::transpose_gather<Unit, ManyUnits, false, true>;
  return &kernels::transpose_gather<Unit, ManyUnits, false, false>;
}

template <class Unit>
void start_gather_of(const work_queue& queue, const transpose_args& a) {
  const auto p = plan_of(a, sizeof(Unit), limits_of(queue.device->properties()));
  const std::int64_t blocks = p.m.tiles_r * p.m.tiles_c * ceil_div(a.batch, p.m.matrices);
  const auto kernel = p.m.units > 1 ? kernel_of<Unit, true>(p) : kernel_of<Unit, false>(p);
  check(launch(queue, grid_of(blocks, kernels::gather_threads, p.shared_bytes), kernel,
               static_cast<unsigned char*>(a.out), static_cast<const unsigned char*>(a.in), p.m),
        "launch of transpose");
}

}  // namespace

void start_gather(const work_queue& queue, const transpose_args& a, std::int64_t alignment) {
  switch (std::min(alignment, lowest_bit(a.element_bytes))) {
    case 1:
      return start_gather_of<std::uint8_t>(queue, a);
    case 2:
      return start_gather_of<std::uint16_t>(queue, a);
    case 4:
      return start_gather_of<std::uint32_t>(queue, a);
    case 8:
      return start_gather_of<std::uint64_t>(queue, a);
    default:
      return start_gather_of<word16>(queue, a);
  }
}

}  // namespace twill::TWILL_BACKEND
