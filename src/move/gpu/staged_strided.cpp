// Many small matrices with gaps, and many short rows (staged_strided.hpp).

#include "staged_strided.hpp"

#include <algorithm>
#include <type_traits>

#include "staged_padding.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

template <class Unit, class Word>
auto kernel_of(int windows) {
  return windows == 8   ? &kernels::transpose_staged_strided<Unit, Word, 8>
         : windows == 4 ? &kernels::transpose_staged_strided<Unit, Word, 4>
         : windows == 2 ? &kernels::transpose_staged_strided<Unit, Word, 2>
                        : &kernels::transpose_staged_strided<Unit, Word, 1>;
}

// Of the units that lanes read, `count` to a word, in two warps.
template <class Unit>
shared_padding padding_of_spans(const kernels::strided_matrices& m, int count) {
  constexpr int size = static_cast<int>(sizeof(Unit));
  return padding_of_words<Unit>([&](int warp, int lane) {
    const int unit = (warp * 32 + lane) * count + warp * 5 % count, within = unit % (m.rows * m.cols);
    return unit / (m.rows * m.cols) * m.matrix_step + within % m.rows * m.row_step + within / m.rows * size;
  });
}

// False where too little of what lies between the first and the last element is wanted.
template <class Unit>
bool launch_strided(const launch_queue& queue, const transpose_args& a, bool only_several) {
  constexpr auto size = static_cast<int>(sizeof(Unit));
  const device_limits limits = limits_of(queue);
  const std::int64_t most = limits.shared_bytes / 3;
  const detail::strided_shape s{a};
  const detail::strided_blocks b = detail::strided_blocks_of(s, most, limits.multiprocessors);
  kernels::strided_matrices m{};
  static_cast<detail::strided_window&>(m) = b.window;
  m.windows = b.windows;
  m.rows = static_cast<int>(s.rows);
  m.cols = static_cast<int>(s.cols);
  m.row_step = static_cast<int>(s.in_ld) * size;
  m.back = size - (m.rows - 1) * m.row_step;
  m.batch = s.batch;
  m.in_bytes = (s.batch - 1) * s.in_stride * size + s.in_span();
  m.out_ld = m.packed ? 0 : s.out_ld * size;
  m.out_stride = m.packed ? 0 : s.out_stride * size;
  // For short rows of wide units, the prefetch costs more than it saves.
  m.prefetch_ends = !m.packed && m.rows >= (size <= 2 ? 4 / size : 32);
  set_padding(m, padding_of_spans<Unit>(m, s.word() / size));
  m.span = kernels::make_divider(m.span_chunks);
  m.word = kernels::make_divider(m.run_words);
  m.column = kernels::make_divider(m.cols);
  m.row = kernels::make_divider(m.rows);
  m.matrix = kernels::make_divider(s.rows * s.cols);
  const std::int64_t bytes = m.chunks * 16, payload = m.matrices * s.rows * s.cols * size;
  const std::int64_t shared = (m.windows - 1) * detail::strided_region(b.most_windows) +
                              (bytes + (bytes >> m.pad_shift) * m.pad + 15) / 16 * 16;
  if (shared > most || bytes > 2 * payload + 1024) return false;
  if (only_several && b.most_windows < 4) return false;
  using narrow = std::conditional_t<sizeof(Unit) <= 4, std::uint32_t, Unit>;
  const auto kernel =
      s.word() == 16 ? kernel_of<Unit, word16>(b.most_windows) : kernel_of<Unit, narrow>(b.most_windows);
  return start_kernel(queue, {b.blocks, b.threads, shared}, kernel, a, m);
}

bool launch_strided(const launch_queue& queue, const transpose_args& a, bool only_several) {
  if (a.element_bytes > 8) return false;
  return with_unit<8>(a.element_bytes, [&](auto one) { return launch_strided<decltype(one)>(queue, a, only_several); });
}

}  // namespace

bool launch_staged_strided(const launch_queue& queue, const transpose_args& a) {
  return launch_strided(queue, a, false);
}

bool launch_strided_copy(const launch_queue& queue, const detail::pitched_rows& a) {
  constexpr std::int64_t farthest = 1 << 16;  // bytes from a row to the next
  constexpr std::int64_t longest_row = 512;   // bytes of a row that is copied
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
  return launch_strided(queue, {a.in, a.out, unit, row / unit, 1, a.rows, 1, 0, a.in_pitch / unit, a.out_pitch / unit},
                        true);
}

}  // namespace twill::TWILL_BACKEND
