// Elements of 3, 5 to 7, 9 to 15, 20 and 24 bytes (vec3.hpp).

#include "vec3.hpp"

#include <algorithm>

#include "gpu/bank_conflicts.hpp"
#include "move/plan/vec3.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using kernels::tile_range;
using kernels::vec3_element;
using kernels::vec3_layout;
using kernels::vec3_matrices;

// How often shared memory is accessed for a warp's first words.
template <int Bytes>
int accesses_of(const vec3_matrices& m, vec3_layout layout, const transpose_args& a) {
  using element = vec3_element<Bytes>;
  constexpr std::int64_t odd = Bytes / element::alignment, inverse = odd * odd * odd;
  return bank_accesses(element::alignment == 8 ? 2 : 1, [&](std::int64_t lane) {
    if (layout == vec3_layout::wrapped) {
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
void lay_out_runs(vec3_matrices& m, vec3_layout layout, const transpose_args& a, std::int64_t run_bytes,
                  bool in_aligned) {
  std::int64_t pitch = run_bytes + (in_aligned ? 0 : 30);
  const std::int64_t step = layout != vec3_layout::wrapped ? 16 : std::max(4, vec3_element<Bytes>::alignment);
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
    const int accesses = accesses_of<Bytes>(m, layout, a);
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
bool launch_vec3_of(const launch_queue& queue, const transpose_args& a) {
  using element = vec3_element<Bytes>;
  constexpr std::int64_t group = element::group, threads = element::threads;
  vec3_matrices m{};
  set_matrices(m, a);
  m.batch = static_cast<std::uint32_t>(a.batch);
  m.packed_bytes = packed_input_bytes(a);
  const detail::vec3_tiling tile = detail::vec3_tiling_of(a);
  const vec3_layout layout = tile.wraps                            ? vec3_layout::wrapped
                             : tile.in_aligned && tile.out_aligned ? vec3_layout::aligned
                                                                   : vec3_layout::any;
  if (layout == vec3_layout::any && a.rows * 2 < group) return false;
  m.height = static_cast<int>(tile.height);
  m.parts = static_cast<int>(tile.groups * (group / element::part));
  m.columns = static_cast<int>(tile.columns);
  m.width = kernels::make_divider(tile.wraps ? a.rows : tile.columns);
  m.lead = static_cast<int>(tile.lead);
  m.rows_in_run = static_cast<int>(tile.rows_in_run);
  m.runs = (m.height + m.lead) / m.rows_in_run;
  m.run_ld = m.in_ld * m.rows_in_run;
  lay_out_runs<Bytes>(m, layout, a, tile.run_bytes, tile.in_aligned);
  find_inside<Bytes>(m, tile.in_aligned);

  const std::int64_t column_chunks = std::int64_t{m.parts} * element::part * Bytes / 16;
  const std::int64_t run_chunks = tile.run_vectors();
  m.run_chunks = kernels::make_divider(run_chunks);
  m.column_chunks = kernels::make_divider(column_chunks);
  m.run_step = static_cast<int>(threads / run_chunks);
  m.column_step = static_cast<int>(threads / column_chunks);
  m.staged_pitch = static_cast<int>(column_chunks | 1);
  const std::int64_t staged_chunks = layout == vec3_layout::wrapped
                                         ? std::int64_t{m.columns} * m.height / group * element::chunks
                                         : std::int64_t{m.columns} * m.staged_pitch;
  const std::int64_t shared = std::max(std::int64_t{m.runs} * m.run_pitch + 64, staged_chunks * 16);
  const std::int64_t tiles_r = ceil_div(a.rows + m.lead, m.height), tiles_c = ceil_div(a.cols, m.columns);
  if (shared > limits_of(queue).shared_bytes || a.batch >= INT32_MAX || tiles_r >= INT32_MAX / a.batch ||
      tiles_c >= INT32_MAX / 2 / (tiles_r * a.batch)) {
    return false;
  }
  m.tiles_r = kernels::make_divider(tiles_r);
  m.tiles_c = kernels::make_divider(tiles_c);
  auto kernel = &kernels::transpose_vec3<Bytes, vec3_layout::any>;
  if (layout == vec3_layout::aligned) kernel = &kernels::transpose_vec3<Bytes, vec3_layout::aligned>;
  if (layout == vec3_layout::wrapped) kernel = &kernels::transpose_vec3<Bytes, vec3_layout::wrapped>;
  return start_kernel(queue, {tiles_r * tiles_c * a.batch, threads, shared}, kernel, a, m);
}

template <int... Bytes>
bool launch_one_of(detail::element_sizes<Bytes...>, const launch_queue& queue, const transpose_args& a) {
  return ((a.element_bytes == Bytes && launch_vec3_of<Bytes>(queue, a)) || ...);
}

}  // namespace

bool launch_vec3(const launch_queue& queue, const transpose_args& a) {
  return launch_one_of(detail::vec3_sizes{}, queue, a);
}

}  // namespace twill::TWILL_BACKEND
