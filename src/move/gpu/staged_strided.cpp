// Many small matrices with gaps, and many short rows (staged_strided.hpp).

#include "families.hpp"

#include "staged_strided_plan.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::pitched_rows;
using detail::transpose_args;
using detail::work_queue;

constexpr std::int64_t farthest = 1 << 16;  // bytes from a row to the next
constexpr std::int64_t longest_row = 512;   // bytes of a row that is copied

template <class Unit, class Word>
void start(const work_queue& queue, void* out, const void* in, const strided_plan& p) {
  const auto config = grid_of(p.blocks, p.threads, p.shared_bytes);
  const auto kernel = p.most_windows == 8   ? &kernels::transpose_staged_strided<Unit, Word, 8>
                      : p.most_windows == 4 ? &kernels::transpose_staged_strided<Unit, Word, 4>
                      : p.most_windows == 2 ? &kernels::transpose_staged_strided<Unit, Word, 2>
                                            : &kernels::transpose_staged_strided<Unit, Word, 1>;
  check(launch(queue, config, kernel, static_cast<unsigned char*>(out), static_cast<const unsigned char*>(in), p.m),
        "launch of transpose");
}

// False where too little of what lies between the first and the last element is wanted.
template <class Unit>
bool launch_strided(const work_queue& queue, const void* in, void* out, const strided_shape& s, bool only_several,
                    bool dry_run) {
  const device_limits limits = limits_of(queue.device->properties());
  const std::int64_t most = limits.shared_bytes / 3;
  const strided_plan p = plan_strided<Unit>(s, most, limits.multiprocessors);
  const std::int64_t payload = p.m.matrices * s.rows * s.cols * s.unit;
  if (p.shared_bytes > most || p.m.chunks * 16 > 2 * payload + 1024 || (only_several && p.most_windows < 4))
    return false;
  if (dry_run) return true;
  if (p.word == 16) {
    start<Unit, word16>(queue, out, in, p);
  } else if constexpr (sizeof(Unit) <= 4) {
    start<Unit, std::uint32_t>(queue, out, in, p);
  } else {
    start<Unit, Unit>(queue, out, in, p);
  }
  return true;
}

bool launch_strided(const work_queue& queue, const void* in, void* out, const strided_shape& s, bool only_several,
                    bool dry_run) {
  if (s.unit > 8) return false;
  return with_unit<8>(
      s.unit, [&](auto one) { return launch_strided<decltype(one)>(queue, in, out, s, only_several, dry_run); });
}

}  // namespace

bool launch_staged_strided(const work_queue& queue, const transpose_args& a, bool dry_run) {
  const std::int64_t size = a.element_bytes;
  const auto in_skew = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.in) % 16);
  const std::int64_t out_bits =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.out)) | 16 | a.out_ld * size | a.out_stride * size;
  const strided_shape s{size,     a.rows,      a.cols,       a.batch, a.in_ld,
                        a.out_ld, a.in_stride, a.out_stride, in_skew, lowest_bit(out_bits)};
  return launch_strided(queue, a.in, a.out, s, false, dry_run);
}

bool launch_strided_copy(const work_queue& queue, const pitched_rows& a) {
  const std::int64_t row = a.row_bytes;
  if (a.rows < 2 || row > longest_row || a.in_pitch < row || a.in_pitch > std::min(farthest, 16 * row)) return false;
  const auto in = reinterpret_cast<std::uintptr_t>(a.in), out = reinterpret_cast<std::uintptr_t>(a.out);
  const auto in_bytes = static_cast<std::uintptr_t>((a.rows - 1) * a.in_pitch + row);
  const auto out_bytes = static_cast<std::uintptr_t>((a.rows - 1) * a.out_pitch + row);
  if (in < out + out_bytes && out < in + in_bytes) return false;  // rows side by side: gaps are not to be read
  const auto out_bits = static_cast<std::int64_t>(out) | a.out_pitch;
  const std::int64_t unit = lowest_bit(static_cast<std::int64_t>(in) | out_bits | row | a.in_pitch | 16);
  if (a.out_pitch != row && row < 16) {
    if (a.out_pitch > 2 * row) return false;
  } else if (a.out_pitch != row) {
    // permute_rows writes chunks of 16 bytes, and what is left of a row unit by unit.
    const bool few_left = out_bits % 16 == 0 && row % 16 <= 4;
    if (unit > 2 || row > 400 || few_left) return false;
  }
  const strided_shape s{unit,
                        row / unit,
                        1,
                        a.rows,
                        1,
                        row / unit,
                        a.in_pitch / unit,
                        a.out_pitch / unit,
                        static_cast<std::int64_t>(in % 16),
                        lowest_bit(out_bits | 16)};
  return launch_strided(queue, a.in, a.out, s, true, false);
}

}  // namespace twill::TWILL_BACKEND
