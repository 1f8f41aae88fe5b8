#include "strided.hpp"

#include <cmath>

#include "integers.hpp"

namespace twill::detail {
namespace {

// A window of so many matrices.
strided_window window_of(const strided_shape& s, std::int64_t matrices) {
  strided_window m{};
  const bool together = s.together(), packed = s.out_packed();
  const int word = s.word();
  const auto step = static_cast<int>(s.in_stride * s.element_bytes), bytes = static_cast<int>(s.in_span());
  m.matrices = static_cast<int>(matrices);
  m.in_window = m.matrices * step;
  m.out_window = matrices * s.out_stride * s.element_bytes;
  m.span_step = together ? 0 : step;
  m.skew_step = together ? 0 : step % 16;
  m.span_bytes = together ? m.in_window - step + bytes : bytes;
  m.span_chunks = (m.span_bytes + 15 + (m.skew_step != 0 ? 15 : static_cast<int>(address_of(s.in) % 16))) / 16;
  m.chunks = m.span_chunks * (together ? 1 : m.matrices);
  m.matrix_step = together ? step : m.span_chunks * 16;
  const std::int64_t run_bytes = s.rows * s.element_bytes;
  const std::int64_t shift = s.out_alignment() % word == 0 ? 0 : word - s.element_bytes;
  m.packed = packed;
  m.runs = static_cast<int>(packed ? 1 : matrices * s.cols);
  m.run_units = static_cast<int>(packed ? matrices * s.rows * s.cols : s.rows);
  m.run_words = static_cast<int>(((packed ? m.run_units * s.element_bytes : run_bytes + shift) + word - 1) / word);
  return m;
}

// As many windows a block as the smallest one permits, and as many matrices a window as then fit.
void choose_window(strided_blocks& b, const strided_shape& s, std::int64_t period) {
  b.window = window_of(s, period);
  b.most_windows = 8;
  while (b.most_windows > 1 && b.window.chunks > strided_block_chunks / b.most_windows) b.most_windows /= 2;
  if (b.most_windows == 1) return;
  const int most = strided_block_chunks / b.most_windows;
  for (std::int64_t times = most / b.window.chunks; times > 1; --times) {
    const strided_window larger = window_of(s, period * times);
    if (larger.chunks > most) continue;
    b.window = larger;
    return;
  }
}

}  // namespace

strided_blocks strided_blocks_of(const strided_shape& s, std::int64_t most_shared, int multiprocessors) {
  strided_blocks b{};
  const std::int64_t word = s.word();
  choose_window(b, s,
                std::max(pieces_to_align(s.in_stride * s.element_bytes, 16),
                         pieces_to_align(s.out_stride * s.element_bytes, word)));
  const strided_window& w = b.window;
  const std::int64_t all = ceil_divided(s.batch, w.matrices);
  const std::int64_t fit = std::clamp<std::int64_t>(most_shared / strided_region(b.most_windows), 1, b.most_windows);
  b.windows = static_cast<int>(std::clamp<std::int64_t>(all / (4 * multiprocessors), 1, fit));
  b.threads = std::min<std::int64_t>(strided_threads, (std::max(w.chunks, w.runs * w.run_words) + 31) / 32 * 32);
  b.blocks = ceil_divided(all, b.windows);
  return b;
}

// Gaps are loaded too. Instructions overlap with memory; index computations are shared by the windows of a block.
// The rounds of a block's threads do not overlap. Fitted to 170 batches on an H100, but for what 1-byte units store
// (docs/planner.md).
cost_of_launch cost_of_strided(const matrices& m, const device_model& device) {
  constexpr double stored[4] = {0.7, 0.32, 0.28, 0.02},
                   indexed[4] = {0.59, 0.83, 0.55, 0.93};  // of 1, 2, 4 and 8 bytes
  constexpr double launch = 3.67, round = 0.32, moved = 0.967;
  const strided_blocks b = strided_blocks_of({m.a}, device.shared_bytes / 3, device.multiprocessors);
  const strided_window& w = b.window;
  const double loaded = static_cast<double>(w.chunks * std::int64_t{16}) / static_cast<double>(w.matrices * m.bytes);
  const double issued = stored[m.place()] + indexed[m.place()] / b.windows;
  const std::int64_t slots = std::max<std::int64_t>(w.chunks, std::int64_t{w.runs} * w.run_words);
  return {launch + round * static_cast<double>(ceil_divided(slots, b.threads)), std::hypot(1, issued),
          moved * (1 + loaded) / 2};
}

}  // namespace twill::detail
