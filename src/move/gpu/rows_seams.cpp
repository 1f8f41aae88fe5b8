// Permutations that keep rows which do not consist of aligned chunks of 16 bytes (rows_seams.hpp).

#include "rows_seams.hpp"

#include <cstdlib>

#include "box.hpp"
#include "gpu/limits.hpp"
#include "launch.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::permute_args;
using detail::permute_dim;
using detail::work_queue;
using kernels::row_pieces;

constexpr std::int64_t block_bytes = kernels::pieces_threads * kernels::pieces_depth * 16;
// Shorter rows are gathered. Small units last: that takes as long as there are units.
constexpr std::int64_t least_row(std::int64_t unit) {
  return unit < 4 ? 64 : 256;
}
constexpr std::int64_t longest_line = std::int64_t{1} << 30, most = INT32_MAX / 2;

// Rows and lines, and where the input ends; false where their numbers are too large.
bool fill(row_pieces& m, const permute_args& a, std::int64_t& lines) {
  std::int64_t rows = 1;
  for (int i = 0; i < a.rank; ++i) {
    const permute_dim& d = a.dims[i];
    const bool in_line = m.line.rank == 0 && d.out_stride == rows * a.run_bytes;
    kernels::strided_dims& dims = in_line ? m.row : m.line;
    std::int64_t& count = in_line ? rows : lines;
    if (std::abs(d.in_stride) < 16 || d.extent > most / count) return false;  // nearer rows could share a first chunk
    dims.dim[dims.rank++] = {kernels::make_divisor(d.extent), d.in_stride, d.out_stride};
    const auto end = static_cast<int>((d.extent - 1) * count);
    (in_line ? d.in_stride < 0 ? m.first_row : m.last_row : d.in_stride < 0 ? m.first_line : m.last_line) += end;
    count *= d.extent;
  }
  if (rows * a.run_bytes > longest_line) return false;
  m.row_bytes = static_cast<int>(a.run_bytes);
  m.by_row = kernels::make_divisor(a.run_bytes);
  m.line_bytes = static_cast<int>(rows * a.run_bytes);
  return true;
}

template <class Unit>
bool start(const work_queue& queue, const permute_args& a, const row_pieces& m) {
  const std::int64_t shared = (block_bytes / a.run_bytes + 3) * 8;
  check(launch(queue, grid_of(m.blocks, kernels::pieces_threads, shared), &kernels::permute_pieces<Unit>,
               static_cast<unsigned char*>(a.out), static_cast<const unsigned char*>(a.in), m),
        "launch of permute");
  return true;
}

}  // namespace

bool permute_by_pieces(const work_queue& queue, const permute_args& a) {
  const std::int64_t unit = unit_of(a);
  if (unit == 16 || a.run_bytes < least_row(unit) || a.run_bytes > longest_line) return false;
  row_pieces m{};
  std::int64_t lines = 1;
  if (!fill(m, a, lines)) return false;
  const std::int64_t by_line = ceil_div(m.line_bytes + 15, block_bytes);
  if (m.line_bytes * 4 < by_line * block_bytes * 3 || lines * by_line > most) return false;  // blocks that do little
  m.by_line = kernels::make_divisor(by_line);
  m.blocks = static_cast<int>(lines * by_line);
  switch (unit) {
    case 1:
      return start<std::uint8_t>(queue, a, m);
    case 2:
      return start<std::uint16_t>(queue, a, m);
    case 4:
      return start<std::uint32_t>(queue, a, m);
    default:
      return start<std::uint64_t>(queue, a, m);
  }
}

}  // namespace twill::TWILL_BACKEND
