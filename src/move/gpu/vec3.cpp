// Elements of 3, 5 to 7, 9 to 15, 20 and 24 bytes (vec3.hpp).

#include "families.hpp"

#include <algorithm>

#include "vec3.hpp"

#include "gpu/bank_conflicts.hpp"
#include "move/plan/transposes.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_args;
using detail::work_queue;
using kernels::tile_range;
using kernels::vec3_element;
using kernels::vec3_layout;
using kernels::vec3_matrices;

struct vec3_plan {
  vec3_matrices m;
  vec3_layout layout;
  std::int64_t shared_bytes, blocks;
};

bool out_aligned(const vec3_matrices& m, const transpose_args& a) {
  return (address_of(a.out) | m.out_ld | (a.batch > 1 ? m.out_stride : 0)) % 16 == 0;
}

// Full columns, one behind the other, of which each ends within a chunk.
template <int Bytes>
bool wraps(const vec3_matrices& m, const transpose_args& a) {
  const bool packed = m.out_ld == m.rows * Bytes && (address_of(a.out) | (a.batch > 1 ? m.out_stride : 0)) % 16 == 0;
  return packed && m.out_ld % 16 != 0 && m.rows <= 64;
}

// Rows and columns of the tile: a part of a group for each thread; wider for few rows. Its height is a multiple of
// `group`.
template <int Bytes>
void choose_tile(vec3_plan& p, const transpose_args& a) {
  using element = vec3_element<Bytes>;
  constexpr std::int64_t group = element::group, parts_of_group = group / element::part, threads = element::threads;
  constexpr std::int64_t longest = (threads - 2) * 16 / Bytes / group * group;  // a chunk of a row for each thread
  constexpr std::int64_t widest = std::min(threads, longest);
  vec3_matrices& m = p.m;
  std::int64_t columns = std::min<std::int64_t>(element::columns, a.cols);
  std::int64_t groups = threads / columns / parts_of_group;
  if (p.layout == vec3_layout::wrapped) {
    groups = 1;
    columns = std::min(longest, std::max(group, threads * element::part / a.rows / group * group));
    m.height = static_cast<int>(a.rows);
  } else {
    if (ceil_div(a.rows, group) < groups) {
      groups = ceil_div(a.rows, group);
      columns =
          std::min(a.cols, std::max(columns, std::min(widest, threads / parts_of_group / groups / group * group)));
    }
    m.height = static_cast<int>(groups * group);
  }
  m.parts = static_cast<int>(groups * parts_of_group);
  m.columns = static_cast<int>(columns);
  m.width = kernels::make_divider(p.layout == vec3_layout::wrapped ? a.rows : columns);
}

// How often shared memory is accessed for a warp's first words.
template <int Bytes>
int accesses_of(const vec3_plan& p, const transpose_args& a) {
  using element = vec3_element<Bytes>;
  constexpr std::int64_t odd = Bytes / element::alignment, inverse = odd * odd * odd;
  const vec3_matrices& m = p.m;
  return bank_accesses(element::alignment == 8 ? 2 : 1, [&](std::int64_t lane) {
    if (p.layout == vec3_layout::wrapped) {
      const std::int64_t first = lane * element::part;
      return first % m.height * m.row_pitch + first / m.height * Bytes;
    }
    const std::int64_t column = lane % m.columns, address = address_of(a.out) + column * m.out_ld;
    const std::int64_t above =
        m.lead == 0 ? 0 : address / element::alignment % element::group * inverse & (element::group - 1);
    return (m.lead - above) * m.row_pitch + lane / m.columns * m.part_pitch + column * Bytes;
  });
}

// The runs in shared memory, padded so that few banks conflict.
template <int Bytes>
void lay_out_runs(vec3_plan& p, const transpose_args& a, std::int64_t run_bytes, bool in_aligned) {
  vec3_matrices& m = p.m;
  std::int64_t pitch = run_bytes + (in_aligned ? 0 : 30);
  const std::int64_t step = p.layout != vec3_layout::wrapped ? 16 : std::max(4, vec3_element<Bytes>::alignment);
  while ((pitch - m.run_ld) % step != 0) ++pitch;
  int fewest = INT32_MAX;
  std::int64_t best = pitch;
  const auto set = [&](std::int64_t to) {
    m.run_pitch = static_cast<int>(to);
    m.row_pitch = m.rows_in_run > 1 ? static_cast<int>(m.in_ld) : m.run_pitch;
    m.part_pitch = m.rows_in_run > 1 ? m.run_pitch : vec3_element<Bytes>::part * m.run_pitch;
  };
  for (int i = 0; i < 128 && fewest > 1; i += static_cast<int>(step), pitch += step) {
    set(pitch);
    const int accesses = accesses_of<Bytes>(p, a);
    if (accesses >= fewest) continue;
    fewest = accesses;
    best = pitch;
  }
  set(best);
}

// Which tiles the matrix fills, and in which of them all chunks may be read completely. Chunks reach 30 bytes around a
// run.
template <int Bytes>
void find_inside(vec3_matrices& m, bool in_aligned) {
  const auto tiles = [](std::int64_t skip, std::int64_t extent, std::int64_t tile) {
    return tile_range{static_cast<std::uint32_t>(ceil_div(skip, tile)),
                      static_cast<std::uint32_t>(std::max<std::int64_t>(0, extent / tile))};
  };
  m.full_r = tiles(m.lead, m.rows, m.height);
  m.full_c = tiles(0, m.cols, m.columns);
  m.inside_r = m.full_r;
  m.inside_c = m.full_c;
  if (in_aligned) return;
  const std::int64_t rows = ceil_div(32, m.in_ld), cols = ceil_div(32, Bytes);
  m.inside_r = m.in_ld == m.cols * Bytes ? tiles(m.lead + rows, m.rows - rows, m.height) : tile_range{0, 0};
  m.inside_c = tiles(cols, m.cols - cols, m.columns);
}

template <int Bytes>
vec3_plan plan_of(const transpose_args& a) {
  using element = vec3_element<Bytes>;
  constexpr std::int64_t group = element::group, threads = element::threads;
  vec3_plan p{};
  vec3_matrices& m = p.m;
  set_matrices(m, a);
  m.batch = static_cast<std::uint32_t>(a.batch);
  m.packed_bytes = packed_input_bytes(a);
  p.layout = wraps<Bytes>(m, a) ? vec3_layout::wrapped : vec3_layout::any;
  const bool columns_aligned = out_aligned(m, a);
  m.lead = p.layout == vec3_layout::wrapped || columns_aligned ? 0 : static_cast<int>(group - 1);
  choose_tile<Bytes>(p, a);

  const bool one_run = m.lead == 0 && p.layout != vec3_layout::wrapped && m.columns == m.cols &&
                       m.in_ld == m.cols * Bytes && m.in_ld * element::part <= (threads - 2) * 16;
  m.rows_in_run = one_run ? element::part : 1;
  m.runs = (m.height + m.lead) / m.rows_in_run;
  m.run_ld = m.in_ld * m.rows_in_run;
  const std::int64_t run_bytes = std::int64_t{m.columns} * Bytes * m.rows_in_run;
  const std::int64_t starts = address_of(a.in) | m.run_ld | run_bytes | (a.batch > 1 ? m.in_stride : 0);
  const bool in_aligned = starts % 16 == 0;
  lay_out_runs<Bytes>(p, a, run_bytes, in_aligned);
  if (in_aligned && columns_aligned && p.layout != vec3_layout::wrapped) {
    p.layout = vec3_layout::aligned;
  }
  find_inside<Bytes>(m, in_aligned);

  const std::int64_t column_chunks = std::int64_t{m.parts} * element::part * Bytes / 16;
  const std::int64_t run_chunks = (run_bytes + (in_aligned ? 0 : 30)) / 16;
  m.run_chunks = kernels::make_divider(run_chunks);
  m.column_chunks = kernels::make_divider(column_chunks);
  m.run_step = static_cast<int>(threads / run_chunks);
  m.column_step = static_cast<int>(threads / column_chunks);
  m.staged_pitch = static_cast<int>(column_chunks | 1);
  const std::int64_t staged_chunks = p.layout == vec3_layout::wrapped
                                         ? std::int64_t{m.columns} * m.height / group * element::chunks
                                         : std::int64_t{m.columns} * m.staged_pitch;
  p.shared_bytes = std::max(std::int64_t{m.runs} * m.run_pitch + 64, staged_chunks * 16);
  const std::int64_t tiles_r = ceil_div(a.rows + m.lead, m.height), tiles_c = ceil_div(a.cols, m.columns);
  p.blocks = a.batch < INT32_MAX && tiles_r < INT32_MAX / a.batch && tiles_c < INT32_MAX / 2 / (tiles_r * a.batch)
                 ? tiles_r * tiles_c * a.batch
                 : 0;
  if (p.blocks == 0) return p;
  m.tiles_r = kernels::make_divider(tiles_r);
  m.tiles_c = kernels::make_divider(tiles_c);
  return p;
}

template <int Bytes>
bool launch_vec3_of(const work_queue& queue, const transpose_args& a, bool dry_run) {
  using element = vec3_element<Bytes>;
  const vec3_plan p = plan_of<Bytes>(a);
  if (p.blocks == 0 || p.shared_bytes > limits_of(queue).shared_bytes) return false;
  if (p.layout == vec3_layout::any && a.rows * 2 < element::group) return false;
  if (dry_run) return true;
  auto kernel = &kernels::transpose_vec3<Bytes, vec3_layout::any>;
  if (p.layout == vec3_layout::aligned) kernel = &kernels::transpose_vec3<Bytes, vec3_layout::aligned>;
  if (p.layout == vec3_layout::wrapped) kernel = &kernels::transpose_vec3<Bytes, vec3_layout::wrapped>;
  start_kernel(queue, grid_of(p.blocks, element::threads, p.shared_bytes), kernel, a, p.m);
  return true;
}

template <int... Bytes>
bool launch_one_of(detail::element_sizes<Bytes...>, const work_queue& queue, const transpose_args& a, bool dry_run) {
  return ((a.element_bytes == Bytes && launch_vec3_of<Bytes>(queue, a, dry_run)) || ...);
}

}  // namespace

bool launch_vec3(const work_queue& queue, const transpose_args& a, bool dry_run) {
  return launch_one_of(detail::vec3_sizes{}, queue, a, dry_run);
}

}  // namespace twill::TWILL_BACKEND
