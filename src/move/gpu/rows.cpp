// Contiguous runs of bytes that stay rows (rows.hpp).

#include "rows.hpp"

#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using kernels::line_rows;

constexpr std::int64_t longest_line = std::int64_t{1} << 30;

constexpr int in_block = kernels::rows_threads * kernels::rows_depth;  // vectors

// Of the lines that a block may meet.
std::int64_t shared_bytes(std::int64_t vectors_in_line) {
  return (in_block / vectors_in_line + 2) * 16;
}

}  // namespace

bool launch_rows(const launch_queue& queue, const permute_args& a) {
  if (a.run_bytes < 16 || a.run_bytes > longest_line) return false;
  line_rows m{};
  m.row_bytes = m.line_bytes = static_cast<int>(a.run_bytes);
  m.by_row = kernels::make_divisor(m.row_bytes);
  int first = 0;
  if (a.dims[0].out_stride == a.run_bytes && a.dims[0].extent <= longest_line / a.run_bytes) {
    first = 1;
    m.line_bytes *= static_cast<int>(a.dims[0].extent);
    m.row_stride = a.dims[0].in_stride;
  }
  std::int64_t lines = 1, bits = address_of(a.out);
  for (int i = 0; i < a.rank; ++i) {
    const permute_dim& d = a.dims[i];
    (d.in_stride < 0 ? m.in_low : m.in_high) += (d.extent - 1) * d.in_stride;
    if (i < first) continue;
    if (d.extent > INT32_MAX) return false;
    m.lines.add(d.extent, d.in_stride, d.out_stride);
    lines *= d.extent;
    bits |= d.out_stride;
  }
  m.in_high += a.run_bytes;
  const std::int64_t by_line = (m.line_bytes + (bits % 16 == 0 ? 15 : 30)) / 16;
  if (shared_bytes(by_line) > limits_of(queue).shared_bytes) return false;
  m.by_line = kernels::make_divisor(by_line);
  m.chunks = lines * by_line;
  if (lines > INT32_MAX) return false;
  const auto kernel = unit_of(a) >= 4 ? &kernels::permute_rows<std::uint32_t> : &kernels::permute_rows<std::uint8_t>;
  return start_kernel(queue, {ceil_div(m.chunks, in_block), kernels::rows_threads, shared_bytes(by_line)}, kernel, a,
                      m);
}

}  // namespace twill::TWILL_BACKEND
