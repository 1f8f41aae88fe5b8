// Many small matrices with gaps, and many short rows (staged_strided.hpp).

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

using detail::strided_blocks;
using detail::strided_shape;

struct strided_plan {
  kernels::strided_matrices m{};
  strided_blocks blocks;
  std::int64_t shared_bytes;
  int word;
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

template <class Unit>
strided_plan plan_strided(const strided_shape& s, std::int64_t most_shared, int multiprocessors) {
  constexpr auto size = static_cast<int>(sizeof(Unit));
  const strided_blocks b = detail::strided_blocks_of(s, most_shared, multiprocessors);
  strided_plan p{{}, b, 0, s.word()};
  kernels::strided_matrices& m = p.m;
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
  choose_span_padding<Unit>(p);
  const std::int64_t bytes = m.chunks * 16;
  p.shared_bytes = (m.windows - 1) * detail::strided_region(b.most_windows) +
                   (bytes + (bytes >> m.pad_shift) * m.pad + 15) / 16 * 16;
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
  if (s.element_bytes > 8) return false;
  const device_limits limits = limits_of(queue);
  return with_unit<8>(s.element_bytes, [&](auto one) {
    using unit = decltype(one);
    const std::int64_t most = limits.shared_bytes / 3;
    const strided_plan p = plan_strided<unit>(s, most, limits.multiprocessors);
    const std::int64_t payload = p.m.matrices * s.rows * s.cols * s.element_bytes;
    if (p.shared_bytes > most || p.m.chunks * 16 > 2 * payload + 1024) return false;
    if (only_several && p.blocks.most_windows < 4) return false;
    if (dry_run) return true;
    using narrow = std::conditional_t<sizeof(unit) <= 4, std::uint32_t, unit>;
    const auto kernel =
        p.word == 16 ? kernel_of<unit, word16>(p.blocks.most_windows) : kernel_of<unit, narrow>(p.blocks.most_windows);
    start_kernel(queue, grid_of(p.blocks.blocks, p.blocks.threads, p.shared_bytes), kernel, a, p.m);
    return true;
  });
}

}  // namespace

bool launch_staged_strided(const work_queue& queue, const transpose_args& a, bool dry_run) {
  return launch_strided(queue, a, {a}, false, dry_run);
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
  const transpose_args s{a.in, a.out, unit, row / unit, 1, a.rows, 1, 0, a.in_pitch / unit, a.out_pitch / unit};
  return launch_strided(queue, a, {s}, true, false);
}

}  // namespace twill::TWILL_BACKEND
