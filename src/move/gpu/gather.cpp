#include "gather.hpp"

#include <algorithm>

#include "box.hpp"
#include "gpu/limits.hpp"
#include "launch.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::permute_args;
using detail::work_queue;
using kernels::permute_box;
using kernels::table_dim;
using kernels::table_dims;

constexpr std::int64_t least_box_bytes = 512;  // below, tables cost more than they bring

void add(table_dims& table, const box_dim& d, std::int64_t place, bool is_row, std::int64_t stride) {
  table.dim[table.rank++] = {kernels::make_divisor(d.tile), static_cast<int>(place), is_row, stride};
}

// The tables' indices, and the counts of a box; the dimensions that the grid cuts are left to it.
void fill_box(permute_box& m, const box_plan& p) {
  m.runs = m.length = m.places = m.columns = 1;
  std::int64_t rows = 1;
  for (int i = 0; i < p.rank; ++i) {
    const box_dim& d = p.dims[i];
    const int whole = d.tile == d.extent ? static_cast<int>(d.tile) : 1;
    if (d.in_run) m.length *= whole;
    if (!d.out_run) continue;
    m.places *= whole;
    add(m.place, d, d.in_run ? d.in_stride : rows, !d.in_run, 0);
    if (d.in_run) continue;
    m.runs *= whole;
    add(m.run, d, 0, true, d.in_stride);
    rows *= d.tile;
  }
  for (int i = 0; i < p.rank; ++i) {
    const box_dim& d = p.dims[p.in_order[i]];
    if (!d.in_run || d.out_run) continue;
    m.columns *= d.tile == d.extent ? static_cast<int>(d.tile) : 1;
    add(m.column, d, d.in_stride, false, d.out_stride);
  }
  const std::int64_t length = p.in_run_bytes();
  m.pitch = static_cast<int>(ceil_div(length, 16) * 16);
  m.row_pad_shift = 0;
  for (std::int64_t bytes = p.unit; bytes < 16; bytes *= 2) ++m.row_pad_shift;
  m.chunks = m.pitch / 16;
  m.by_chunks = kernels::make_divisor(m.chunks);
  m.most_runs = static_cast<int>(rows);
  m.most_places = static_cast<int>(p.out_run_bytes() / p.unit);
  m.most_columns = static_cast<int>(p.box_bytes() / p.out_run_bytes());
  m.row_bytes = static_cast<int>(rows * m.pitch + ((rows >> m.row_pad_shift) + 1) * 16);
}

void fill_grid(permute_box& m, const box_plan& p) {
  m.blocks = static_cast<int>(p.blocks());
  for (int i = 0; i < p.rank; ++i) {
    const box_dim& d = p.dims[i];
    if (d.in_stride < 0) m.in_low += (d.extent - 1) * d.in_stride;
    if (d.in_stride > 0) m.in_high += (d.extent - 1) * d.in_stride;
    if (d.tile == d.extent) continue;
    const std::int64_t tiles = ceil_div(d.extent, d.tile);
    m.grid[m.grid_rank++] = {kernels::make_divisor(tiles),
                             static_cast<int>(d.tile),
                             static_cast<int>(d.extent - (tiles - 1) * d.tile),
                             d.out_run && !d.in_run,
                             d.in_run,
                             d.out_run,
                             d.in_run && !d.out_run,
                             d.tile * d.in_stride,
                             d.tile * d.out_stride};
  }
  m.in_high += p.unit;
}

// Whether the output's runs begin at multiples of 16 bytes.
bool out_aligned(const box_plan& p, const void* out) {
  auto bits = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out));
  for (int i = 0; i < p.rank; ++i) {
    const box_dim& d = p.dims[i];
    bits |= !d.out_run ? d.out_stride : d.tile < d.extent ? d.tile * d.out_stride : 0;
  }
  return bits % 16 == 0;
}

std::int64_t shared_bytes(const permute_box& m) {
  return m.row_bytes + std::int64_t{m.most_runs} * 8 + std::int64_t{m.most_columns} * 12 + m.most_places * 4;
}

// Long runs on both sides, in a box large enough to be worth its tables and small enough for several blocks at a time.
void size_box(box_plan& p, const device_limits& limits, const void* out) {
  const std::int64_t most = std::min<std::int64_t>(48 << 10, limits.shared_bytes / 2);
  constexpr std::int64_t enough = 24 << 10, most_places = 2048;
  std::int64_t in_bytes = 256, out_bytes = 256;
  choose_box(p, in_bytes, out_bytes);
  if (!out_aligned(p, out)) choose_box(p, in_bytes, out_bytes = 512);  // fewer chunks that two blocks share
  for (int turn = 0; turn < 8 && p.box_bytes() < enough; ++turn) {
    const box_plan before = p;
    (turn % 2 == 0 ? out_bytes : in_bytes) *= 2;
    choose_box(p, in_bytes, out_bytes);
    if (p.box_bytes() > most || p.out_run_bytes() > most_places * p.unit) {
      p = before;
      break;
    }
  }
  const auto too_large = [&] {
    return p.box_bytes() > most || (p.blocks() < 2 * limits.multiprocessors && p.box_bytes() > 2048);
  };
  while (too_large() && in_bytes + out_bytes > 64) {
    (in_bytes > out_bytes ? in_bytes : out_bytes) /= 2;
    choose_box(p, in_bytes, out_bytes);
  }
}

template <class Unit>
void start(const work_queue& queue, const permute_args& a, const permute_box& m) {
  check(launch(queue, grid_of(m.blocks, kernels::permute_threads, shared_bytes(m)), &kernels::permute_gather<Unit>,
               static_cast<unsigned char*>(a.out), static_cast<const unsigned char*>(a.in), m),
        "launch of permute");
}

}  // namespace

bool permute_by_gather(const work_queue& queue, const permute_args& a) {
  const device_limits limits = limits_of(queue.device->properties());
  box_plan p = plan_units(a, unit_of(a));
  size_box(p, limits, a.out);
  if (p.box_bytes() < least_box_bytes && p.blocks() > 1) return false;
  if (p.blocks() > INT32_MAX) return false;
  permute_box m{};
  fill_box(m, p);
  fill_grid(m, p);
  m.out_aligned = out_aligned(p, a.out);
  if (shared_bytes(m) > limits.shared_bytes) return false;
  switch (p.unit) {
    case 1:
      start<std::uint8_t>(queue, a, m);
      break;
    case 2:
      start<std::uint16_t>(queue, a, m);
      break;
    case 4:
      start<std::uint32_t>(queue, a, m);
      break;
    case 8:
      start<std::uint64_t>(queue, a, m);
      break;
    default:
      start<word16>(queue, a, m);
  }
  return true;
}

}  // namespace twill::TWILL_BACKEND
