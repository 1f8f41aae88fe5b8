// Matrices of 2 to 8 columns or rows (narrow.hpp).

#include "narrow.hpp"

#include <cstdint>
#include <utility>

#include "move/plan/transposes.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::narrow_sides;
using kernels::narrow_matrices;

constexpr std::int64_t least_extent = 2, most_extent = 8;
constexpr std::int64_t most_threads = 128;  // fewer than the kernels are compiled for, whose registers are bounded so

// Shared memory of a block, padding included.
constexpr std::int64_t shared_bytes(std::int64_t extent, std::int64_t threads) {
  return extent * threads * 9 / 8 * 16;
}

using narrow_kernel = void (*)(unsigned char*, const unsigned char*, narrow_matrices);

template <int Bytes, int... Extents>
narrow_kernel kernel_of(const narrow_sides& sides, std::integer_sequence<int, Extents...>) {
  const narrow_kernel tall[] = {&kernels::transpose_narrow_cols<Bytes, least_extent + Extents>...};
  const narrow_kernel wide[] = {&kernels::transpose_narrow_rows<Bytes, least_extent + Extents>...};
  return (sides.tall ? tall : wide)[sides.short_side - least_extent];
}

}  // namespace

bool launch_narrow(const launch_queue& queue, const transpose_args& a) {
  const narrow_sides sides = detail::narrow_sides_of(a);
  const std::int64_t bytes = a.element_bytes, groups = sides.long_side * bytes / 16;
  const device_limits limits = limits_of(queue);
  std::int64_t threads = most_threads;
  while (threads > 64 && (ceil_div(groups, threads) * a.batch < 2 * limits.multiprocessors ||
                          shared_bytes(sides.short_side, threads) > limits.shared_bytes)) {
    threads /= 2;
  }
  narrow_matrices m{};
  m.groups = groups;
  m.ld = (sides.tall ? a.out_ld : a.in_ld) * bytes;
  const block_grid grid{set_batch(m, a, ceil_div(groups, threads)), threads, shared_bytes(sides.short_side, threads)};
  const std::make_integer_sequence<int, most_extent - least_extent + 1> extents;
  return with_unit(bytes,
                   [&](auto one) { return start_kernel(queue, grid, kernel_of<sizeof(one)>(sides, extents), a, m); });
}

}  // namespace twill::TWILL_BACKEND
