// Many small matrices with gaps, and many short rows (staged_strided.hpp): how blocks share them.

#include "staged_strided.hpp"

#include <algorithm>
#include <type_traits>

#include "families.hpp"
#include "staged_padding.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::pitched_rows;
using detail::transpose_args;
using detail::work_queue;

struct strided_plan {
  kernels::strided_matrices m{};
  std::int64_t blocks = 0, threads = 0, shared_bytes = 0;
  int word = 16;         // bytes that a thread writes at once
  int most_windows = 1;  // windows of a block, at most
};

/// Matrices in units, and how the rows of the output and the input lie in 16 bytes.
struct strided_shape {
  std::int64_t unit, rows, cols, batch, in_ld, out_ld, in_stride, out_stride;
  std::int64_t in_skew, out_alignment;

  std::int64_t in_span() const { return ((rows - 1) * in_ld + cols) * unit; }
  // Gaps between matrices are loaded with them where they are small, or where matrices are interleaved.
  bool together() const { return in_stride * unit - in_span() < 48; }
  bool out_packed() const { return (cols == 1 || out_ld == rows) && out_stride == rows * cols; }
};

template <class Unit>
void choose_span_padding(strided_plan& p) {
  constexpr int size = static_cast<int>(sizeof(Unit));
  kernels::strided_matrices& m = p.m;
  const int count = p.word / size, elements = m.rows * m.cols;
  const auto byte = [&](int warp, int lane) {
    const int unit = (warp * 32 + lane) * count + warp * 5 % count, within = unit % elements;
    return unit / elements * m.matrix_step + within % m.rows * m.row_step + within / m.rows * size;
  };
  set_padding(m, padding_of_words<Unit>(byte));
}

// The number of matrices after which `stride` bytes are a multiple of `line`, a power of two.
std::int64_t matrices_until(std::int64_t stride, std::int64_t line) {
  return line / std::min(line, stride & -stride);
}

// A window of so many matrices.
void lay_out_window(strided_plan& p, const strided_shape& s, std::int64_t matrices) {
  kernels::strided_matrices& m = p.m;
  const bool together = s.together(), packed = s.out_packed();
  const auto step = static_cast<int>(s.in_stride * s.unit), bytes = static_cast<int>(s.in_span());
  m.matrices = static_cast<int>(matrices);
  m.in_window = m.matrices * step;
  m.out_window = matrices * s.out_stride * s.unit;
  m.span_step = together ? 0 : step;
  m.skew_step = together ? 0 : step % 16;
  m.span_bytes = together ? m.in_window - step + bytes : bytes;
  m.span_chunks = (m.span_bytes + 15 + (m.skew_step != 0 ? 15 : static_cast<int>(s.in_skew))) / 16;
  m.chunks = m.span_chunks * (together ? 1 : m.matrices);
  m.matrix_step = together ? step : m.span_chunks * 16;
  const std::int64_t run_bytes = s.rows * s.unit;
  const std::int64_t shift = s.out_alignment % p.word == 0 ? 0 : p.word - s.unit;
  m.packed = packed;
  m.runs = static_cast<int>(packed ? 1 : matrices * s.cols);
  m.run_units = static_cast<int>(packed ? matrices * s.rows * s.cols : s.rows);
  m.run_words = static_cast<int>(((packed ? m.run_units * s.unit : run_bytes + shift) + p.word - 1) / p.word);
}

// As many windows a block as the smallest one permits, and as many matrices a window as then fit.
void choose_window(strided_plan& p, const strided_shape& s, std::int64_t period) {
  lay_out_window(p, s, period);
  p.most_windows = 8;
  while (p.most_windows > 1 && p.m.chunks > kernels::span_block_chunks / p.most_windows) p.most_windows /= 2;
  if (p.most_windows == 1) return;
  const int most = kernels::span_block_chunks / p.most_windows;
  for (std::int64_t times = most / p.m.chunks; times > 1; --times) {
    lay_out_window(p, s, period * times);
    if (p.m.chunks <= most) return;
  }
  lay_out_window(p, s, period);
}

template <class Unit>
strided_plan plan_strided(const strided_shape& s, std::int64_t most_shared, int multiprocessors) {
  constexpr auto size = static_cast<int>(sizeof(Unit));
  strided_plan p;
  kernels::strided_matrices& m = p.m;
  const bool packed = s.out_packed();
  const std::int64_t in_bytes = s.in_stride * size, out_bytes = s.out_stride * size;
  const bool chunks = packed || (s.out_alignment % 16 == 0 && s.rows * size % 16 == 0);
  p.word = chunks ? 16 : std::max(4, size);
  m.rows = static_cast<int>(s.rows);
  m.cols = static_cast<int>(s.cols);
  m.row_step = static_cast<int>(s.in_ld) * size;
  m.back = size - (m.rows - 1) * m.row_step;
  m.batch = s.batch;
  m.in_bytes = (s.batch - 1) * in_bytes + s.in_span();
  m.out_ld = packed ? 0 : s.out_ld * size;
  m.out_stride = packed ? 0 : out_bytes;
  const std::int64_t period = std::max(matrices_until(in_bytes, 16), matrices_until(out_bytes, p.word));
  // For short rows of wide units, the prefetch costs more than it saves.
  m.prefetch_ends = !packed && m.rows >= (size <= 2 ? 4 / size : 32);
  choose_window(p, s, period);
  choose_span_padding<Unit>(p);
  const int region = kernels::span_block_chunks / p.most_windows * kernels::span_chunk_bytes;
  const std::int64_t all = (s.batch + m.matrices - 1) / m.matrices;
  const std::int64_t fit = std::clamp<std::int64_t>(most_shared / region, 1, p.most_windows);
  m.windows = static_cast<int>(std::clamp<std::int64_t>(all / (4 * multiprocessors), 1, fit));
  const std::int64_t bytes = m.chunks * 16, wanted = (std::max(m.chunks, m.runs * m.run_words) + 31) / 32 * 32;
  p.threads = std::min<std::int64_t>(kernels::span_threads, wanted);
  p.blocks = (all + m.windows - 1) / m.windows;
  p.shared_bytes = (m.windows - 1) * region + (bytes + (bytes >> m.pad_shift) * m.pad + 15) / 16 * 16;
  m.span = kernels::make_divider(m.span_chunks);
  m.word = kernels::make_divider(m.run_words);
  m.column = kernels::make_divider(m.cols);
  m.row = kernels::make_divider(m.rows);
  m.matrix = kernels::make_divider(s.rows * s.cols);
  return p;
}

constexpr std::int64_t farthest = 1 << 16;  // bytes from a row to the next
constexpr std::int64_t longest_row = 512;   // bytes of a row that is copied

template <class Unit, class Word>
auto kernel_of(int windows) {
  return windows == 8   ? &kernels::transpose_staged_strided<Unit, Word, 8>
         : windows == 4 ? &kernels::transpose_staged_strided<Unit, Word, 4>
         : windows == 2 ? &kernels::transpose_staged_strided<Unit, Word, 2>
                        : &kernels::transpose_staged_strided<Unit, Word, 1>;
}

// False where too little of what lies between the first and the last element is wanted.
template <class Args>
bool launch_strided(const work_queue& queue, const Args& a, const strided_shape& s, bool only_several, bool dry_run) {
  if (s.unit > 8) return false;
  const device_limits limits = limits_of(queue);
  return with_unit<8>(s.unit, [&](auto one) {
    using unit = decltype(one);
    const std::int64_t most = limits.shared_bytes / 3;
    const strided_plan p = plan_strided<unit>(s, most, limits.multiprocessors);
    const std::int64_t payload = p.m.matrices * s.rows * s.cols * s.unit;
    if (p.shared_bytes > most || p.m.chunks * 16 > 2 * payload + 1024) return false;
    if (only_several && p.most_windows < 4) return false;
    if (dry_run) return true;
    using narrow = std::conditional_t<sizeof(unit) <= 4, std::uint32_t, unit>;
    const auto kernel =
        p.word == 16 ? kernel_of<unit, word16>(p.most_windows) : kernel_of<unit, narrow>(p.most_windows);
    start_kernel(queue, grid_of(p.blocks, p.threads, p.shared_bytes), kernel, a, p.m);
    return true;
  });
}

}  // namespace

bool launch_staged_strided(const work_queue& queue, const transpose_args& a, bool dry_run) {
  const std::int64_t size = a.element_bytes;
  const auto in_skew = address_of(a.in) % 16;
  const std::int64_t out_bits = address_of(a.out) | 16 | a.out_ld * size | a.out_stride * size;
  const strided_shape s{size,     a.rows,      a.cols,       a.batch, a.in_ld,
                        a.out_ld, a.in_stride, a.out_stride, in_skew, lowest_bit(out_bits)};
  return launch_strided(queue, a, s, false, dry_run);
}

bool launch_strided_copy(const work_queue& queue, const pitched_rows& a) {
  const std::int64_t row = a.row_bytes;
  if (a.rows < 2 || row > longest_row || a.in_pitch < row || a.in_pitch > std::min(farthest, 16 * row)) return false;
  const std::int64_t in = address_of(a.in), out = address_of(a.out);
  const std::int64_t in_bytes = (a.rows - 1) * a.in_pitch + row, out_bytes = (a.rows - 1) * a.out_pitch + row;
  if (in < out + out_bytes && out < in + in_bytes) return false;  // rows side by side: gaps are not to be read
  const std::int64_t out_bits = out | a.out_pitch;
  const std::int64_t unit = lowest_bit(in | out_bits | row | a.in_pitch | 16);
  if (a.out_pitch != row && row < 16) {
    if (a.out_pitch > 2 * row) return false;
  } else if (a.out_pitch != row) {
    // permute_rows writes chunks of 16 bytes, and what is left of a row unit by unit.
    const bool few_left = out_bits % 16 == 0 && row % 16 <= 4;
    if (unit > 2 || row > 400 || few_left) return false;
  }
  const std::int64_t count = row / unit, in_skew = in % 16;
  const strided_shape s{
      unit, count, 1, a.rows, 1, count, a.in_pitch / unit, a.out_pitch / unit, in_skew, lowest_bit(out_bits | 16)};
  return launch_strided(queue, a, s, true, false);
}

}  // namespace twill::TWILL_BACKEND
