// Which kernel transposes what: aligned matrices go through register blocks (transpose_tile), all others are gathered
// (transpose_gather). The choice depends on shape, strides and alignment alone and takes constant time.

#include <algorithm>
#include <string>

#include "kernels/transpose_gather.hpp"
#include "kernels/transpose_tile.hpp"

#include "backends/backend.hpp"
#include "core/check.hpp"
#include "launch.hpp"
#include "ops/table.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_args;
using detail::work_queue;
using kernels::gather_matrices;

constexpr std::int64_t grid_x_limit = (std::int64_t{1} << 24) - 1;  // times 256 threads: below AMD's 2^32

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}
std::int64_t lowest_bit(std::int64_t bits) {
  return bits & -bits;
}
std::int64_t floor_multiple(std::int64_t value, std::int64_t of) {
  return value < of ? value : value / of * of;
}

detail::launch_config grid_of(std::int64_t blocks, int threads, std::int64_t shared_bytes) {
  const std::int64_t x = std::min(blocks, grid_x_limit), y = ceil_div(blocks, x);
  if (y > 65535) {
    detail::fail(errc::unsupported, "the matrices need too large a grid", std::to_string(blocks) + " blocks",
                 "split the batch");
  }
  return {{static_cast<unsigned>(x), static_cast<unsigned>(y), 1},
          {static_cast<unsigned>(threads), 1, 1},
          static_cast<std::size_t>(shared_bytes)};
}

// All row addresses of both sides and the strides between them as one pattern of bits: its lowest bit aligns them all.
std::int64_t alignment_of(const transpose_args& a) {
  const auto addresses = reinterpret_cast<std::uintptr_t>(a.in) | reinterpret_cast<std::uintptr_t>(a.out);
  const std::int64_t strides = a.in_ld | a.out_ld | (a.batch > 1 ? a.in_stride | a.out_stride : 0);
  return lowest_bit(static_cast<std::int64_t>(addresses) | strides * a.element_bytes | 16);
}

// --- aligned matrices ------------------------------------------------------------------------------------------------

template <int Bytes, int Chunks>
void start_tile(const work_queue& queue, const transpose_args& a) {
  constexpr std::int64_t edge = Chunks * 16 / Bytes;
  const kernels::tile_matrices m{a.rows,
                                 a.cols,
                                 a.in_ld * Bytes,
                                 a.out_ld * Bytes,
                                 a.in_stride * Bytes,
                                 a.out_stride * Bytes,
                                 ceil_div(a.rows, edge),
                                 ceil_div(a.cols, edge)};
  const auto config = grid_of(m.tiles_r * m.tiles_c * a.batch, Chunks * Chunks, edge * Chunks * 16);
  check(launch(queue, config, &kernels::transpose_tile<Bytes, Chunks>, static_cast<unsigned char*>(a.out),
               static_cast<const unsigned char*>(a.in), m),
        "launch of transpose");
}

template <int Bytes>
void start_tile(const work_queue& queue, const transpose_args& a) {
  // A tile 256 bytes wide, or 128 where shared memory or the number of tiles is small.
  constexpr std::int64_t edge = 256 / Bytes;
  const auto& device = queue.device->properties();
  const std::int64_t tiles = ceil_div(a.rows, edge) * ceil_div(a.cols, edge) * a.batch;
  const bool fits = static_cast<std::int64_t>(device.shared_bytes_per_block) >= edge * 256;
  if (fits && tiles >= 2 * device.multiprocessors) return start_tile<Bytes, 16>(queue, a);
  start_tile<Bytes, 8>(queue, a);
}

// --- everything else -------------------------------------------------------------------------------------------------

// A piece of the problem for one block, before it is laid out in shared memory.
struct gather_plan {
  gather_matrices m;
  bool wrapped = false;
  std::int64_t shared_bytes = 0;
  std::int64_t lane_bytes = 1;  // in shared memory, between the elements that neighbouring lanes gather
};

std::int64_t elements_of_chunk(std::int64_t element_bytes) {
  return std::max<std::int64_t>(1, 16 / element_bytes);
}

// Elements after which a run of them has come to a multiple of 128 bytes.
std::int64_t elements_of_line(std::int64_t element_bytes) {
  return 128 / std::min<std::int64_t>(128, lowest_bit(element_bytes));
}

// What a plan may take of the device.
struct device_limits {
  std::int64_t shared_bytes, budget;  // of a block: all of it; what its input should take
  int multiprocessors;
};

device_limits limits_of(const device_properties& device) {
  const auto shared = static_cast<std::int64_t>(device.shared_bytes_per_block);
  return {shared, std::min<std::int64_t>(16384, shared / 2), std::max(1, device.multiprocessors)};
}

// Tiles of about 256 bytes each way, less where that leaves most of the device idle or does not fit.
void plan_tiles(gather_plan& p, const transpose_args& a, const device_limits& limits) {
  const std::int64_t bytes = a.element_bytes;
  std::int64_t wide = 256, high = 256;
  while (high > 64 &&
         ceil_div(a.rows * bytes, high) * ceil_div(a.cols * bytes, wide) * a.batch < 2 * limits.multiprocessors) {
    (wide < high ? high : wide) /= 2;
  }
  if (p.m.out_ld % 16 != 0) {  // tile boundaries of the output are moved to multiples of 16 bytes
    p.m.shear = 16;
    p.m.extra_rows = static_cast<int>(ceil_div(15, bytes));
  }
  const std::int64_t step = 16 / std::min<std::int64_t>(16, lowest_bit(bytes));  // rows that make 16-byte multiples
  for (;;) {
    p.m.tile_cols = static_cast<int>(std::max<std::int64_t>(1, wide / bytes));
    p.m.tile_rows = static_cast<int>(ceil_div(std::max<std::int64_t>(1, high / bytes), step) * step);
    const std::int64_t pitch = ceil_div(p.m.tile_cols * bytes, 16) * 16;
    p.shared_bytes = pitch * (p.m.tile_rows + p.m.extra_rows);
    p.lane_bytes = pitch * elements_of_chunk(bytes);
    if (p.shared_bytes + p.shared_bytes / 8 <= std::min<std::int64_t>(limits.shared_bytes, 48 * 1024)) return;
    (wide < high ? high : wide) /= 2;
  }
}

// Full rows of a packed input: one contiguous run of it.
void plan_tall(gather_plan& p, const transpose_args& a, std::int64_t block_budget) {
  const std::int64_t row = a.cols * a.element_bytes;
  p.m.tile_cols = static_cast<int>(a.cols);
  p.m.tile_rows = static_cast<int>(std::min(
      a.rows, floor_multiple(std::max<std::int64_t>(1, block_budget / row), elements_of_line(a.element_bytes))));
  p.m.one_in_run = true;
  p.shared_bytes = p.m.tile_rows * row;
  p.lane_bytes = row * elements_of_chunk(a.element_bytes);
}

// Full columns: one contiguous run of a packed output.
void plan_wide(gather_plan& p, const transpose_args& a, std::int64_t block_budget) {
  const std::int64_t column = a.rows * a.element_bytes;
  p.m.tile_rows = static_cast<int>(a.rows);
  p.m.tile_cols = static_cast<int>(std::min(
      a.cols, floor_multiple(std::max<std::int64_t>(1, block_budget / column), elements_of_line(a.element_bytes))));
  p.wrapped = true;
  const std::int64_t pitch = ceil_div(p.m.tile_cols * a.element_bytes, 16) * 16;
  p.shared_bytes = pitch * a.rows;
  p.lane_bytes = pitch * elements_of_chunk(a.element_bytes);
}

// Whole matrices: the same bytes on both sides, in another order.
void plan_matrices(gather_plan& p, const transpose_args& a, std::int64_t block_budget) {
  const std::int64_t matrix = a.rows * a.cols * a.element_bytes;
  p.m.matrices = static_cast<int>(std::min(a.batch, std::max<std::int64_t>(1, block_budget / matrix)));
  p.m.tile_rows = static_cast<int>(a.rows);
  p.m.tile_cols = static_cast<int>(a.cols);
  p.m.one_in_run = true;
  p.wrapped = true;
  p.shared_bytes = p.m.matrices * matrix;
  p.lane_bytes = a.cols * a.element_bytes * elements_of_chunk(a.element_bytes);
}

gather_plan plan_of(const transpose_args& a, std::int64_t unit, const device_limits& limits) {
  const std::int64_t bytes = a.element_bytes, budget = limits.budget, narrow = budget / 8;
  gather_plan p;
  p.m = {a.rows,
         a.cols,
         a.batch,
         a.in_ld * bytes,
         a.out_ld * bytes,
         a.in_stride * bytes,
         a.out_stride * bytes,
         0,
         0,
         0,
         0,
         1,
         static_cast<int>(bytes / unit),
         0,
         0,
         0,
         false};
  const bool packed = a.in_ld == a.cols && a.out_ld == a.rows;
  const std::int64_t elements = a.rows * a.cols;
  if (packed && elements <= budget / bytes && (a.batch == 1 || (a.in_stride == elements && a.out_stride == elements))) {
    plan_matrices(p, a, budget);
  } else if (a.in_ld == a.cols && a.cols * bytes <= narrow) {
    plan_tall(p, a, budget);
  } else if (a.out_ld == a.rows && a.rows * bytes <= narrow) {
    plan_wide(p, a, budget);
  } else {
    plan_tiles(p, a, limits);
  }
  p.m.tiles_r = ceil_div(a.rows, p.m.tile_rows);
  p.m.tiles_c = ceil_div(a.cols, p.m.tile_cols);
  // The padding that spreads neighbouring lanes over the banks: 16 bytes after each power of two that divides their
  // distance.
  for (p.m.pad_shift = 7; p.m.pad_shift < 20 && p.lane_bytes >> p.m.pad_shift << p.m.pad_shift == p.lane_bytes;) {
    ++p.m.pad_shift;
  }
  p.m.pad_shift = std::max(7, p.m.pad_shift - 1);
  p.shared_bytes = ceil_div(p.shared_bytes + (p.shared_bytes >> p.m.pad_shift) * 16 + 32, 16) * 16;
  return p;
}

template <class Unit, bool ManyUnits, bool Wrapped>
void start_gather(const work_queue& queue, const transpose_args& a, const gather_plan& p) {
  const std::int64_t blocks = p.m.tiles_r * p.m.tiles_c * ceil_div(a.batch, p.m.matrices);
  check(launch(queue, grid_of(blocks, 256, p.shared_bytes), &kernels::transpose_gather<Unit, ManyUnits, Wrapped>,
               static_cast<unsigned char*>(a.out), static_cast<const unsigned char*>(a.in), p.m),
        "launch of transpose");
}

template <class Unit>
void start_gather(const work_queue& queue, const transpose_args& a) {
  const auto p = plan_of(a, sizeof(Unit), limits_of(queue.device->properties()));
  const bool many = p.m.units > 1;
  if (many && p.wrapped) return start_gather<Unit, true, true>(queue, a, p);
  if (many) return start_gather<Unit, true, false>(queue, a, p);
  if (p.wrapped) return start_gather<Unit, false, true>(queue, a, p);
  start_gather<Unit, false, false>(queue, a, p);
}

}  // namespace

void transpose(const work_queue& queue, const transpose_args& a) {
  const std::int64_t bytes = a.element_bytes, alignment = alignment_of(a);
  const bool chunked = alignment == 16 && a.rows * bytes % 16 == 0 && a.cols * bytes % 16 == 0;
  if (chunked && std::min(a.rows, a.cols) * bytes >= 128) {
    switch (bytes) {
      case 1:
        return start_tile<1>(queue, a);
      case 2:
        return start_tile<2>(queue, a);
      case 4:
        return start_tile<4>(queue, a);
      case 8:
        return start_tile<8>(queue, a);
      case 16:
        return start_tile<16>(queue, a);
      default:
        break;
    }
  }
  switch (std::min(alignment, lowest_bit(bytes))) {
    case 1:
      return start_gather<std::uint8_t>(queue, a);
    case 2:
      return start_gather<std::uint16_t>(queue, a);
    case 4:
      return start_gather<std::uint32_t>(queue, a);
    case 8:
      return start_gather<std::uint64_t>(queue, a);
    default:
      return start_gather<word16>(queue, a);
  }
}

}  // namespace twill::TWILL_BACKEND
